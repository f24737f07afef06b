// A training that may be interrupted: stopped in the middle of an epoch, saved, and continued by
// another trainer, which gets the same weights, bit for bit, as an uninterrupted one.
package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gnnmg"
	. "gnnmg/examples/common"
)

type world struct {
	rt      *gnnmg.Runtime
	data    *gnnmg.Dataset
	sampler *gnnmg.Sampler
}

func (w *world) trainer() *gnnmg.Trainer {
	model := Get(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) { c.HiddenDim, c.Dropout = 32, 0.5 }))
	defer model.Close() // the trainer keeps it
	return Get(gnnmg.NewTrainer(model, w.data, w.sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.NumEpochs, c.BatchSize = 2, 4, 128
	}))
}

// weights is all weights of a trainer's model.
func weights(trainer *gnnmg.Trainer) []float32 {
	model := Get(trainer.Model())
	defer model.Close() // this handle to it, not the model
	return Get(gnnmg.Copy[float32](Get(model.Parameters())))
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 4000)
	w := world{rt, data, Get(gnnmg.NewSampler(graph))}

	straight := w.trainer()
	Check(straight.Run(Background, nil))

	// The same in pieces: one epoch and three steps, one step at a time ...
	first := w.trainer()
	// [checkpoints]
	Check(first.SetCheckpoints("run", func(c *gnnmg.CheckpointConfig) { c.EverySteps, c.Keep = 5, 2 }))
	// [checkpoints]
	Check(first.SetRecord(gnnmg.RecordJSONLines, "run.jsonl"))
	for {
		loss, err := first.Step(Background)
		if errors.Is(err, io.EOF) {
			break
		}
		Check(err)
		at := Get(first.Progress())
		fmt.Printf("epoch %d step %d of %d: loss %.4f\n", at.Epoch, at.Step, at.NumSteps, loss)
		if at.Epoch == 1 && at.Step == 3 { // whenever the program likes
			break
		}
	}
	Check(first.Save(Background, "pause")) // a folder, whole or not at all
	Check(first.Close())

	// ... and the rest in another trainer, as in a process that was started later.
	second := w.trainer()
	// [load]
	Check(second.Load(Background, "pause")) // or "run": the newest one that is whole
	// [load]
	// [stop]
	Check(second.Start(nil))
	second.Stop() // a Ctrl-C handler would do this: all ranks end after one step
	Check(second.Wait(Background))
	Check(second.Run(Background, nil)) // continues the training
	// [stop]

	wanted, found := weights(straight), weights(second)
	same := slices.Equal(wanted, found)
	fmt.Printf("%d weights, %s\n", len(wanted), map[bool]string{true: "the same bits", false: "which differ"}[same])
	Expect(same)
}
