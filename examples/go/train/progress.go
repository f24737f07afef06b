package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"gnnmg"
)

// progress is the display for the user: a bar on a terminal, one line per epoch in a pipe; and the
// times of a training, summed over its epochs.
type progress struct {
	bar, quiet bool
	metric     gnnmg.Metric // that chooses the best epoch

	sum     gnnmg.EpochInfo // sums over all epochs; NumEpochs counts them
	slowest map[int]int64   // number of epochs in which a rank was the slowest
	curve   []point
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// called is the word for a metric.
func called(metric gnnmg.Metric) string {
	switch metric {
	case gnnmg.MetricRMSE:
		return "RMSE"
	case gnnmg.MetricROCAUC:
		return "auc"
	}
	return string(metric)
}

func validationOf(e gnnmg.EpochInfo, metric gnnmg.Metric) float64 {
	switch metric {
	case gnnmg.MetricLoss:
		return e.ValidationLoss
	case gnnmg.MetricROCAUC:
		return e.ValidationROCAUC
	case gnnmg.MetricRMSE:
		return e.ValidationRMSE
	default:
		return e.ValidationAccuracy
	}
}

// epoch is called after each one.
func (p *progress) epoch(e gnnmg.EpochInfo) error {
	p.sum.NumEpochs++
	p.sum.Seconds += e.Seconds
	p.sum.EvaluationSeconds += e.EvaluationSeconds
	p.sum.WaitSeconds += e.WaitSeconds
	p.sum.ComputeSeconds += e.ComputeSeconds
	p.sum.ReduceSeconds += e.ReduceSeconds
	p.sum.PeerWaitSeconds += e.PeerWaitSeconds
	p.sum.OptimizerSeconds += e.OptimizerSeconds
	p.sum.SampleSeconds += e.SampleSeconds
	p.sum.GatherSeconds += e.GatherSeconds
	p.sum.MeanBusySeconds += e.MeanBusySeconds
	p.sum.MostBusySeconds += e.MostBusySeconds
	p.slowest[e.SlowestRank]++
	if e.Evaluated {
		p.curve = append(p.curve, point{e.Epoch, validationOf(e, p.metric)})
	}
	if p.quiet || p.bar {
		return nil
	}
	fmt.Printf("epoch %3d/%d  loss %.4f", e.Epoch+1, e.NumEpochs, e.TrainLoss)
	if e.Evaluated {
		best := map[bool]string{true: " *", false: "  "}[e.Best]
		fmt.Printf("  validation %s %.4f%s", called(p.metric), validationOf(e, p.metric), best)
	}
	fmt.Printf("  %.2f s  %.0f seeds/s\n", e.Seconds+e.EvaluationSeconds, e.SeedsPerSecond)
	return nil
}

// watch draws the bar until the function that it returns is called.
func (p *progress) watch(trainer *gnnmg.Trainer) (end func()) {
	if !p.bar {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				fmt.Fprint(os.Stderr, "\r\033[K") // so that other text can follow
				return
			case <-ticker.C:
				if info, err := trainer.Progress(); err == nil {
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
	done := int(share * width)
	fmt.Fprintf(os.Stderr, "\r[%s%s] %3.0f%%  epoch %d/%d  loss %.4f", strings.Repeat("=", done),
		strings.Repeat(".", width-done), 100*share, min(info.Epoch+1, info.NumEpochs), info.NumEpochs, info.Loss)
	if info.HasValidation {
		fmt.Fprintf(os.Stderr, "  %s %.4f (best %.4f, epoch %d)", called(p.metric), info.Validation,
			info.BestValidation, info.BestEpoch+1)
	}
	if info.Evaluating {
		fmt.Fprint(os.Stderr, "  validating")
	} else {
		fmt.Fprintf(os.Stderr, "  %.0f seeds/s", info.SeedsPerSecond)
	}
	if share > 0.01 && share < 1 {
		left := int(info.ElapsedSeconds * (1 - share) / share)
		fmt.Fprintf(os.Stderr, "  %d:%02d left", left/60, left%60)
	}
	fmt.Fprint(os.Stderr, "\033[K")
}

// table prints the times.
func (p *progress) table(elapsed time.Duration) {
	t, epochs := &p.sum, float64(max(p.sum.NumEpochs, 1))
	percent := t.Seconds / 100
	if percent == 0 {
		percent = 1
	}
	rest := t.Seconds - t.WaitSeconds - t.ComputeSeconds - t.ReduceSeconds - t.OptimizerSeconds
	fmt.Printf("time    %.1f s: %d epochs of %.3f s, validation %.3f s each\n", elapsed.Seconds(), t.NumEpochs,
		t.Seconds/epochs, t.EvaluationSeconds/epochs)
	fmt.Printf("        of an epoch on rank 0: waiting for mini-batches %.0f %%, forward and backward %.0f %%,\n"+
		"        all-reduce %.1f %%, waiting for slower ranks %.1f %%, update %.0f %%, other %.0f %%\n",
		t.WaitSeconds/percent, t.ComputeSeconds/percent, (t.ReduceSeconds-t.PeerWaitSeconds)/percent,
		t.PeerWaitSeconds/percent, t.OptimizerSeconds/percent, rest/percent)
	fmt.Printf("        beside it on rank 0's loader: sampling %.2f s, gathering %.2f s in all\n", t.SampleSeconds,
		t.GatherSeconds)
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
		percent := r.Seconds / 100
		if percent == 0 {
			percent = 1
		}
		on := "CPU"
		if r.Device >= 0 {
			on = fmt.Sprintf("GPU %d", r.Device)
		}
		fmt.Printf("        %4d  %-6s %7.2f  %7.1f  %6.1f  %5.1f  %6.1f  %6.1f  %7.1f  (%6.1f  %6.1f)", r.Rank, on, r.Seconds,
			r.ComputeSeconds/percent, (r.ReduceSeconds-r.PeerWaitSeconds)/percent, r.PeerWaitSeconds/percent,
			r.OptimizerSeconds/percent, r.IdleSeconds/percent, r.WaitSeconds/percent, r.SampleSeconds/percent,
			r.GatherSeconds/percent)
		if r.Device >= 0 {
			fmt.Printf("  %7.1f", float64(r.BusBytes)*1e-6)
		}
		if r.NumRows > 0 {
			fmt.Printf("  %.0f %%", 100*float64(r.NumRowsThere)/float64(r.NumRows))
		}
		fmt.Println()
	}
}
