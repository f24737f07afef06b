// Package common has common parts of the examples: error handling with the library's messages, and
// data.
package common

import (
	"context"
	"fmt"
	"os"

	"gnnmg"
)

// Background is for calls that wait as long as the library's deadlines say.
var Background = context.Background()

// opened is the runtime of OpenRuntime until it is closed.
var opened *gnnmg.Runtime

// OpenRuntime is a runtime whose warnings the program prints on standard error: before it gives up,
// and in CloseRuntime. A program has one of them at a time.
func OpenRuntime() *gnnmg.Runtime {
	opened = Get(gnnmg.NewRuntime())
	return opened
}

// PrintWarnings prints the library's warnings.
func PrintWarnings(rt *gnnmg.Runtime) {
	for message, err := range rt.Messages() {
		if err != nil {
			return
		}
		if message.Level >= gnnmg.LogWarning {
			fmt.Fprintln(os.Stderr, "warning:", message.Text)
		}
	}
}

// CloseRuntime prints warnings and closes the runtime.
func CloseRuntime(rt *gnnmg.Runtime) {
	PrintWarnings(rt)
	opened = nil
	rt.Close()
}

func giveUp() {
	if opened != nil {
		PrintWarnings(opened)
	}
	os.Exit(1)
}

// Check ends the program with a line on standard error when a call has failed.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		giveUp()
	}
}

// Get is Check for calls that yield something: Get(gnnmg.NewRuntime()).
func Get[T any](value T, err error) T {
	Check(err)
	return value
}

// Expect ends the program with 1 if a result is not as expected.
func Expect(good bool) {
	if !good {
		giveUp()
	}
}

// PlantedData is a generated graph of that many nodes with features, labels and a random split.
func PlantedData(rt *gnnmg.Runtime, numNodes int64) (*gnnmg.Dataset, *gnnmg.Graph) {
	data := Get(gnnmg.GenerateDataset(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = numNodes }))
	return data, Get(data.Graph())
}

// SmallModel is GraphSAGE of two layers, 32 wide, for `data`.
func SmallModel(rt *gnnmg.Runtime, data *gnnmg.Dataset) *gnnmg.Model {
	return Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 32 }))
}

// TrainSmallModel trains a small model on the data set's current split and returns its accuracy on
// the test part.
func TrainSmallModel(rt *gnnmg.Runtime, data *gnnmg.Dataset, sampler *gnnmg.Sampler, numEpochs int64) gnnmg.Metrics {
	trainer := Get(gnnmg.NewTrainer(SmallModel(rt, data), data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize, c.KeepBest = numEpochs, 256, false
	}))
	defer trainer.Close()
	Check(trainer.Run(Background, nil))
	return Get(trainer.Evaluate(Background, gnnmg.PartTest))
}
