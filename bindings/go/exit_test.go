package gnnmg_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"gnnmg"
)

// exitDuringTraining runs in the test binary that TestExitDuringTraining starts: training on one
// goroutine, a custom sampler in the middle of a callback, and the end of the process.
func exitDuringTraining() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	graph := gnnmg.Must(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 1000 }))
	data := gnnmg.Must(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	if err := data.AddRandomSplit("random"); err != nil {
		panic(err)
	}
	calls := make(chan struct{}, 1<<20)
	sampler := gnnmg.Must(gnnmg.NewCustomSampler(graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			calls <- struct{}{}
			return graph.SampleNeighbors(0, targets, 4, false, layer.Key, sink)
		}))
	trainer := gnnmg.Must(gnnmg.NewTrainer(gnnmg.Must(gnnmg.NewModel(rt, data)), data, sampler, nil,
		func(c *gnnmg.TrainerConfig) { c.NumEpochs, c.NumRanks, c.BatchSize = 1_000_000, 2, 64 }))
	go func() { _ = trainer.Run(context.Background(), nil) }()
	for range 50 {
		<-calls
	}
	os.Exit(7)
}

func TestExitDuringTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	self, err := os.Executable()
	ok(t, err)
	for range 3 {
		ctx, cancel := context.WithTimeout(background, time.Minute)
		defer cancel()
		program := exec.CommandContext(ctx, self)
		program.Env = append(os.Environ(), "GNNMG_TEST_EXIT=1")
		out, err := program.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
