// Node classification from a folder or file, or, without an argument, on a generated graph:
//
//	node_classification [<path>]
package main

import (
	"context"
	"fmt"
	"os"

	"gnnmg"
	. "gnnmg/examples/common"
)

func main() {
	ctx := context.Background()
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data := open(ctx, rt)
	graph := gnnmg.Must(data.Graph())
	// [sampler]
	sampler := gnnmg.Must(gnnmg.NewSampler(graph, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = []int64{10, 5} // next to the seeds first
	}))
	// [sampler]
	// [model]
	model := gnnmg.Must(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.HiddenDim, c.Dropout = gnnmg.ArchitectureSAGE, 64, 0.5 // widths from the data
	}))
	// [model]
	// [train]
	trainer := gnnmg.Must(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = 2, 256, 8 // replicas that share each step
	}))
	check(trainer.Run(ctx, func(e gnnmg.EpochInfo) error {
		best := map[bool]string{true: " *"}[e.Best]
		fmt.Printf("epoch %2d  loss %.4f  validation accuracy %.4f%s\n", e.Epoch+1, e.TrainLoss,
			e.Validation.Accuracy, best)
		return nil // an error would end training
	}))
	// [train]
	// [evaluate]
	test := gnnmg.Must(trainer.Evaluate(ctx, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f (%d of %d)\n", test.Accuracy, test.Correct, test.Count)
	// [evaluate]
	check(model.Save(ctx, "sage.safetensors"))
}

func open(ctx context.Context, rt *gnnmg.Runtime) *gnnmg.Dataset {
	if len(os.Args) > 1 {
		// [open]
		data := gnnmg.Must(gnnmg.OpenDataset(ctx, rt, os.Args[1]))
		// [open]
		return data
	}
	return gnnmg.Must(gnnmg.GenerateDataset(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 5000 }))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
