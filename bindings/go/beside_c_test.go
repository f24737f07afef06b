package gnnmg_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"gnnmg"
	"gnnmg/internal/raw"
)

// Same values as in tests/bench/calls.c.
const (
	worldOfC = 20000  // number of nodes
	callsOfC = 200000 // calls per round
)

// A cost is wall and CPU time of this process or the one in C, in seconds.
type cost struct{ wall, cpu float64 }

// A programInC is bench_calls of the library's tests: the same benchmark in C.
type programInC struct {
	questions io.WriteCloser
	answers   *bufio.Scanner
}

func startProgramInC(b *testing.B) *programInC {
	path := os.Getenv("GNNMG_BENCH_CALLS")
	if path == "" {
		path = filepath.Join(os.Getenv("GNNMG_DIR"), "tests", "bench", "bench_calls")
	}
	if _, err := os.Stat(path); err != nil {
		b.Skipf("%v: the build folder has it with GNNMG_BENCH on; GNNMG_BENCH_CALLS names it elsewhere", err)
	}
	command := exec.Command(path, "serve")
	command.Stderr = os.Stderr
	questions, err := command.StdinPipe()
	ok(b, err)
	answers, err := command.StdoutPipe()
	ok(b, err)
	ok(b, command.Start())
	b.Cleanup(func() {
		ok(b, questions.Close()) // the end of its input is its own
		ok(b, command.Wait())
	})
	return &programInC{questions, bufio.NewScanner(answers)}
}

func (p *programInC) ask(b *testing.B, question string) (answer cost) {
	_, err := fmt.Fprintln(p.questions, question)
	ok(b, err)
	if !p.answers.Scan() {
		b.Fatal("bench_calls says nothing:", p.answers.Err())
	}
	_, err = fmt.Sscan(p.answers.Text(), &answer.wall, &answer.cpu)
	ok(b, err)
	return answer
}

// cpuTime is that of all threads, the collector's too.
func cpuTime(b *testing.B) float64 {
	var used syscall.Rusage
	ok(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// inTurns has C and Go work alternately, once each per round, and returns the costs of each round.
// The order changes each time, so that neither has an advantage.
func (p *programInC) inTurns(b *testing.B, question string, here func() error) (inC, inGo []cost) {
	p.ask(b, question) // both first calls fill caches and arenas
	ok(b, here())
	for b.Loop() {
		if len(inC)%2 == 0 {
			inC = append(inC, p.ask(b, question))
		}
		begin, before := time.Now(), cpuTime(b)
		ok(b, here())
		inGo = append(inGo, cost{time.Since(begin).Seconds(), cpuTime(b) - before})
		if len(inC) < len(inGo) {
			inC = append(inC, p.ask(b, question))
		}
	}
	b.ReportMetric(0, "ns/op") // the time of both together means nothing
	return inC, inGo
}

func median[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// medianOfRounds returns the median of between(c, here) over all rounds.
func medianOfRounds(inC, inGo []cost, between func(c, here cost) float64) float64 {
	rounds := make([]int, len(inC))
	for i := range rounds {
		rounds[i] = i
	}
	return median(rounds, func(i int) float64 { return between(inC[i], inGo[i]) })
}

// missed tells of a bar, once there are rounds enough for a verdict: go test begins with one.
func missed(b *testing.B, rounds []cost, found, bar float64, format string, arguments ...any) {
	if len(rounds) >= 7 && found > bar {
		b.Errorf(format, arguments...)
	}
}

func cpuOf(c cost) float64  { return c.cpu }
func wallOf(c cost) float64 { return c.wall }

// Measures Go's overhead over a C program, in turns: a call that reads a property, and an epoch of
// the caller's own loop. A missed limit fails the benchmark.
//
//	OMP_NUM_THREADS=1 go test -run '^$' -bench BesideC -benchtime 61x
func BenchmarkBesideC(b *testing.B) {
	raw.OnReach = nil
	p := startProgramInC(b)
	rt := made[*gnnmg.Runtime](b)(gnnmg.NewRuntime())
	graph := made[*gnnmg.Graph](b)(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = worldOfC }))
	data := made[*gnnmg.Dataset](b)(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	ok(b, data.AddRandomSplit("random"))
	sampler := made[*gnnmg.Sampler](b)(gnnmg.NewSampler(graph))
	loader := made[*gnnmg.Loader](b)(gnnmg.NewLoader(data, sampler))
	model := made[*gnnmg.Model](b)(gnnmg.NewModel(rt, data))
	optimizer := made[*gnnmg.Optimizer](b)(gnnmg.NewOptimizer(model))

	b.Run("property", func(b *testing.B) {
		inC, inGo := p.inTurns(b, "property", func() error {
			for range callsOfC {
				if n, err := graph.NumNodes(0); err != nil || n != worldOfC {
					return fmt.Errorf("%d nodes, %w", n, err)
				}
			}
			return nil
		})
		const each = 1e9 / callsOfC
		beyond := each * medianOfRounds(inC, inGo, func(c, here cost) float64 { return here.cpu - c.cpu })
		b.ReportMetric(each*median(inC, cpuOf), "C-ns")
		b.ReportMetric(each*median(inGo, cpuOf), "Go-ns")
		b.ReportMetric(beyond, "ns-beyond-C")
		missed(b, inC, beyond, 200, "a call costs %.0f ns beyond C's own, expected at most 200", beyond)
	})

	b.Run("epoch", func(b *testing.B) {
		inC, inGo := p.inTurns(b, "epoch", func() error {
			for batch, err := range loader.All(background) {
				if err != nil {
					return err
				}
				logits, err := model.Forward(batch)
				if err != nil {
					return err
				}
				if _, err := model.Backward(gnnmg.LossAuto); err != nil {
					return err
				}
				if err := optimizer.Step(); err != nil {
					return err
				}
				logits.Close()
			}
			return nil
		})
		for name, of := range map[string]func(cost) float64{"wall": wallOf, "CPU": cpuOf} {
			more := 100 * medianOfRounds(inC, inGo, func(c, here cost) float64 { return of(here)/of(c) - 1 })
			b.ReportMetric(1e3*median(inC, of), "C-ms-"+name)
			b.ReportMetric(1e3*median(inGo, of), "Go-ms-"+name)
			b.ReportMetric(more, "%-more-"+name)
			missed(b, inC, more, 2, "an epoch takes %.1f %% more %s time than in C, expected at most 2 %%", more, name)
		}
	})
}
