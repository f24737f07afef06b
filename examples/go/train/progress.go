package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"gnnmg"
	. "gnnmg/examples/common"
)

// line is a line of parts. The first part that does not fit the width is dropped, with all after it.
type line struct {
	text  string
	width int
	full  bool
}

// lineOfTerminal is a line as wide as the terminal is now; the last column stays free, because a
// character there makes some terminals begin another line.
func lineOfTerminal() *line {
	var size [4]uint16 // rows, columns, pixels
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, os.Stderr.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 || size[1] < 2 {
		return &line{width: 79}
	}
	return &line{width: int(size[1]) - 1}
}

func (l *line) add(format string, values ...any) {
	part := fmt.Sprintf(format, values...)
	if l.full = l.full || len(l.text)+len(part) > l.width; !l.full {
		l.text += part
	}
}

// display is the place of the progress bar.
type display struct {
	bar   bool // standard error is a terminal and gets a bar
	quiet bool
}

// clear wipes the bar, so that other text can follow.
func (d display) clear() {
	if d.bar {
		fmt.Fprint(os.Stderr, "\r\033[K")
	}
}

// busy names the present work in the place of the bar, until that is wiped.
func (d display) busy(what string) {
	if d.bar {
		fits := max(lineOfTerminal().width-4, 0)
		fmt.Fprintf(os.Stderr, "\r%.*s ...\033[K", fits, what)
	}
}

// say prints a line on standard error, above the bar.
func (d display) say(text string) {
	d.clear()
	fmt.Fprintln(os.Stderr, text)
}

// progress is the display of a training: one line per epoch, and on a terminal a bar below them, which
// is as wide as the terminal at most; and the times, summed over the epochs.
type progress struct {
	display
	metric gnnmg.Metric // that chooses the best epoch

	sum     gnnmg.EpochInfo // sums over all epochs; NumEpochs counts them
	slowest map[int]int64   // number of epochs in which a rank was the slowest
	curve   []point
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// measure is a metric: its name, which way is better, and where it is.
type measure struct {
	name    string
	smaller bool
	of      func(m gnnmg.Metrics) float64
}

var measures = map[gnnmg.Metric]measure{
	gnnmg.MetricAccuracy:         {"accuracy", false, func(m gnnmg.Metrics) float64 { return m.Accuracy }},
	gnnmg.MetricLoss:             {"loss", true, func(m gnnmg.Metrics) float64 { return m.Loss }},
	gnnmg.MetricROCAUC:           {"ROC-AUC", false, func(m gnnmg.Metrics) float64 { return m.ROCAUC }},
	gnnmg.MetricF1Macro:          {"macro F1", false, func(m gnnmg.Metrics) float64 { return m.F1Macro }},
	gnnmg.MetricF1Micro:          {"micro F1", false, func(m gnnmg.Metrics) float64 { return m.F1Micro }},
	gnnmg.MetricAveragePrecision: {"average precision", false, func(m gnnmg.Metrics) float64 { return m.AveragePrecision }},
	gnnmg.MetricRMSE:             {"RMSE", true, func(m gnnmg.Metrics) float64 { return m.RMSE }},
	gnnmg.MetricMAE:              {"MAE", true, func(m gnnmg.Metrics) float64 { return m.MAE }},
}

// epoch is called after each one.
func (p *progress) epoch(e gnnmg.EpochInfo) error {
	p.sum.NumEpochs++
	p.sum.Times.Total += e.Times.Total
	p.sum.EvaluationSeconds += e.EvaluationSeconds
	p.sum.Times.Wait += e.Times.Wait
	p.sum.Times.Compute += e.Times.Compute
	p.sum.Times.Reduce += e.Times.Reduce
	p.sum.Times.PeerWait += e.Times.PeerWait
	p.sum.Times.Optimizer += e.Times.Optimizer
	p.sum.Times.Sample += e.Times.Sample
	p.sum.Times.Gather += e.Times.Gather
	p.sum.MeanBusySeconds += e.MeanBusySeconds
	p.sum.MostBusySeconds += e.MostBusySeconds
	p.slowest[e.SlowestRank]++
	if e.Validation != nil {
		p.curve = append(p.curve, point{e.Epoch, measures[p.metric].of(*e.Validation)})
	}
	if p.quiet {
		return nil
	}
	l, clear := &line{width: math.MaxInt}, ""
	if p.bar {
		l, clear = lineOfTerminal(), "\r\033[K"
	}
	l.add("epoch %3d/%d  loss %.4f", e.Epoch+1, e.NumEpochs, e.TrainLoss)
	if e.Validation != nil {
		best := map[bool]string{true: " *", false: "  "}[e.Best]
		l.add("  validation %s %.4f%s", measures[p.metric].name, measures[p.metric].of(*e.Validation), best)
	}
	l.add("  %.2f s", e.Times.Total+e.EvaluationSeconds)
	l.add("  %.0f seeds/s", e.SeedsPerSecond)
	fmt.Printf("%s%s\n", clear, l.text) // one write, since the bar, whose place the line takes, is drawn meanwhile
	return nil
}

// watch draws the bar, and stops the training when the user interrupts, until the function that it
// returns is called.
func (p *progress) watch(once context.Context, trainer *gnnmg.Trainer) (end func()) {
	stop, stopped, interrupted := make(chan struct{}), make(chan struct{}), once.Done()
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				p.clear()
				return
			case <-interrupted:
				interrupted = nil
				p.say("stopping after this step; again: at once")
				trainer.Stop()
			case <-ticker.C:
				if info, err := trainer.Progress(); p.bar && err == nil {
					p.draw(info)
				}
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

func (p *progress) draw(info gnnmg.ProgressInfo) {
	const width = 24
	share := float64(info.Epoch)
	if info.NumSteps > 0 {
		share += float64(info.Step) / float64(info.NumSteps)
	}
	share = min(share/float64(max(info.NumEpochs, 1)), 1)
	done := int(math.Ceil(share * width))
	l := lineOfTerminal() // the most important parts first
	l.add("[%s%s] %3.0f%%", strings.Repeat("=", done), strings.Repeat(".", width-done), 100*share)
	l.add("  epoch %d/%d", min(info.Epoch+1, info.NumEpochs), info.NumEpochs)
	begun := info.SeedsPerSecond > 0
	if begun {
		l.add("  loss %.4f", info.Loss)
	}
	if share > 0.01 && share < 1 {
		left := int(info.ElapsedSeconds * (1 - share) / share)
		l.add("  %d:%02d left", left/60, left%60)
	}
	if info.Evaluating {
		l.add("  validating")
	}
	if info.HasValidation {
		l.add("  validation %s %.4f", measures[p.metric].name, info.Validation)
	}
	if info.Accuracy > 0 {
		l.add("  training accuracy %.4f", info.Accuracy)
	}
	if info.HasValidation {
		l.add("  best %.4f in epoch %d", info.BestValidation, info.BestEpoch+1)
	}
	if begun {
		l.add("  %.0f seeds/s", info.SeedsPerSecond)
	}
	l.addTimes(info)
	fmt.Fprintf(os.Stderr, "\r%s\033[K", l.text)
}

// addTimes adds the times of the epoch, on this process's first rank.
func (l *line) addTimes(info gnnmg.ProgressInfo) {
	percent := info.Times.Total / 100
	if percent <= 0 {
		return
	}
	l.add("  wait %.0f compute %.0f all-reduce %.0f peers %.0f update %.0f %%", info.Times.Wait/percent,
		info.Times.Compute/percent, (info.Times.Reduce-info.Times.PeerWait)/percent, info.Times.PeerWait/percent,
		info.Times.Optimizer/percent)
	if info.Times.Sample+info.Times.Gather > 0 {
		l.add(" (beside: sample %.0f gather %.0f %%)", info.Times.Sample/percent, info.Times.Gather/percent)
	}
}

// table prints the times.
func (p *progress) table(elapsed time.Duration) {
	if p.sum.NumEpochs == 0 { // interrupted in the first, or --epochs 0
		fmt.Printf("time    %.1f s\n", elapsed.Seconds())
		return
	}
	t, epochs := &p.sum, float64(p.sum.NumEpochs)
	percent := t.Times.Total / 100
	if percent == 0 {
		percent = 1
	}
	rest := t.Times.Total - t.Times.Wait - t.Times.Compute - t.Times.Reduce - t.Times.Optimizer
	fmt.Printf("time    %.1f s: %d epochs of %.3f s, validation %.3f s each\n", elapsed.Seconds(), t.NumEpochs,
		t.Times.Total/epochs, t.EvaluationSeconds/epochs)
	fmt.Printf("        of an epoch on rank 0: waiting for mini-batches %.0f %%, forward and backward %.0f %%,\n"+
		"        all-reduce %.1f %%, waiting for slower ranks %.1f %%, update %.0f %%, other %.0f %%\n",
		t.Times.Wait/percent, t.Times.Compute/percent, (t.Times.Reduce-t.Times.PeerWait)/percent,
		t.Times.PeerWait/percent, t.Times.Optimizer/percent, rest/percent)
	fmt.Printf("        beside it on rank 0's loader: sampling %.2f s, gathering %.2f s in all\n", t.Times.Sample,
		t.Times.Gather)
	if t.MostBusySeconds <= t.MeanBusySeconds { // one rank
		return
	}
	slowest := 0
	for rank, times := range p.slowest {
		if times > p.slowest[slowest] || times == p.slowest[slowest] && rank < slowest {
			slowest = rank
		}
	}
	fmt.Printf("        slowest rank: %d, in %d of %d epochs; the slowest is busy %.1f %% longer than the mean\n",
		slowest, p.slowest[slowest], t.NumEpochs, 100*(t.MostBusySeconds/t.MeanBusySeconds-1))
}

// printRanks prints the times of each rank of this process in the last epoch.
func printRanks(ranks []gnnmg.RankInfo) {
	fmt.Printf("ranks   in %% of epoch %d\n", ranks[0].Epoch+1)
	fmt.Println("        rank  on     seconds  compute  reduce  peers  update    idle  waiting" +
		"  (sample  gather)   bus MB  hits")
	for _, r := range ranks {
		percent := r.Times.Total / 100
		if percent == 0 {
			percent = 1
		}
		on := "CPU"
		if r.Device >= 0 {
			on = fmt.Sprintf("GPU %d", r.Device)
		}
		fmt.Printf("        %4d  %-6s %7.2f  %7.1f  %6.1f  %5.1f  %6.1f  %6.1f  %7.1f  (%6.1f  %6.1f)", r.Rank, on, r.Times.Total,
			r.Times.Compute/percent, (r.Times.Reduce-r.Times.PeerWait)/percent, r.Times.PeerWait/percent,
			r.Times.Optimizer/percent, r.IdleSeconds/percent, r.Times.Wait/percent, r.Times.Sample/percent,
			r.Times.Gather/percent)
		if r.Device >= 0 {
			fmt.Printf("  %7.1f", float64(r.BusBytes)*1e-6)
		}
		if r.NumRows > 0 {
			fmt.Printf("  %.0f %%", 100*float64(r.NumRowsThere)/float64(r.NumRows))
		}
		fmt.Println()
	}
}

// printClasses prints a table of classes, or of the targets of a binary task, from a confusion matrix.
func printClasses(confusion *gnnmg.Tensor) {
	shape, matrix := confusion.Shape(), Get(gnnmg.Values[int64](confusion))
	targets, n := len(shape) == 3, shape[1]
	fmt.Printf("%s     rows  precision  recall      F1\n", map[bool]string{true: "target", false: "class "}[targets])
	for c := range shape[0] {
		of, index := matrix, c
		if targets {
			of, index = matrix[4*c:], 1
		}
		var rows, predicted int64
		for i := range n {
			rows += of[index*n+i]
			predicted += of[i*n+index]
		}
		correct := float64(of[index*n+index])
		fmt.Printf("%6d  %7d  %9.4f  %6.4f  %6.4f\n", c, rows, correct/float64(max(predicted, 1)),
			correct/float64(max(rows, 1)), 2*correct/float64(max(rows+predicted, 1)))
	}
}
