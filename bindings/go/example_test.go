package gnnmg_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gnnmg"
)

// Node classification on a generated graph, by two ranks.
func Example() {
	ctx := context.Background()
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	graph := gnnmg.Must(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 5000 }))
	data := gnnmg.Must(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	if err := data.AddRandomSplit("random"); err != nil {
		panic(err)
	}
	sampler := gnnmg.Must(gnnmg.NewSampler(graph, func(c *gnnmg.SamplerConfig) { c.Fanouts = []int64{10, 5} }))
	model := gnnmg.Must(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) { c.HiddenDim, c.Dropout = 64, 0.5 }))
	trainer := gnnmg.Must(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = 2, 256, 8
	}))
	if err := trainer.Run(ctx, nil); err != nil {
		panic(err)
	}
	test := gnnmg.Must(trainer.Evaluate(ctx, gnnmg.PartTest))
	fmt.Println("right on more than 700 of", test.Count, "nodes:", test.Correct > 700)
	// Output: right on more than 700 of 1000 nodes: true
}

// Mini-batches for another framework.
func ExampleLoader_All() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	graph := gnnmg.Must(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 1000 }))
	data := gnnmg.Must(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	sampler := gnnmg.Must(gnnmg.NewSampler(graph))
	loader := gnnmg.Must(gnnmg.NewSeedLoader(data, sampler, []int64{1, 2, 3, 4, 5}, func(c *gnnmg.LoaderConfig) {
		c.BatchSize, c.Shuffle = 2, false
	}))
	defer loader.Close()
	for batch, err := range loader.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		seeds := gnnmg.Must(gnnmg.Values[int64](gnnmg.Must(batch.Seeds())))
		features := gnnmg.Must(batch.Features())
		fmt.Println("seeds", seeds, "with features of", features.Shape()[1], "columns")
	}
	// Output:
	// seeds [1 2] with features of 64 columns
	// seeds [3 4] with features of 64 columns
	// seeds [5] with features of 64 columns
}

// A custom sampler that calls the library's sampling.
func ExampleNewCustomSampler() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	graph := gnnmg.Must(gnnmg.NewGraphFromCOO(rt, 4, []int64{0, 1, 2, 3}, []int64{1, 2, 3, 0}))
	fanouts := []int64{8, 4}
	sampler := gnnmg.Must(gnnmg.NewCustomSampler(graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			return graph.SampleNeighbors(0, targets, fanouts[layer.Layer], false, layer.Key, sink)
		}))
	batch := gnnmg.Must(sampler.Sample(context.Background(), nil, []int64{0}, gnnmg.RandomKey{Seed: 1}))
	defer batch.Close()
	fmt.Println(gnnmg.Must(gnnmg.Values[int64](gnnmg.Must(batch.NodeIDs()))))
	// Output: [0 3 2]
}

// The end of a context cancels training; the model keeps its progress.
func ExampleTrainer_Run() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	graph := gnnmg.Must(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 1000 }))
	data := gnnmg.Must(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	if err := data.AddRandomSplit("random"); err != nil {
		panic(err)
	}
	model := gnnmg.Must(gnnmg.NewModel(rt, data))
	trainer := gnnmg.Must(gnnmg.NewTrainer(model, data, gnnmg.Must(gnnmg.NewSampler(graph)), nil,
		func(c *gnnmg.TrainerConfig) { c.NumEpochs = 1_000_000 }))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err := trainer.Run(ctx, nil)
	fmt.Println(errors.Is(err, gnnmg.ErrCancelled), errors.Is(err, context.DeadlineExceeded))
	// Output: true true
}

// Arrays of Go's around which a graph is made without copying.
func ExampleGraph_ImportNodeTensor() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	graph := gnnmg.Must(gnnmg.NewGraphFromCOO(rt, 2, []int64{0, 1}, []int64{1, 0}))
	features := []float32{0.5, 1, 1.5, 2}
	if err := graph.ImportNodeTensor(0, "x", gnnmg.TensorOf(features, 2, 2)); err != nil {
		panic(err)
	}
	x := gnnmg.Must(graph.NodeTensor(0, "x"))
	defer x.Close()
	for node, row := range gnnmg.Rows[float32](x) {
		fmt.Println(node, row)
	}
	// Output:
	// 0 [0.5 1]
	// 1 [1.5 2]
}

func ExampleError() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	_, err := gnnmg.NewGraphFromCOO(rt, 4, []int64{0, 9}, []int64{1, 1})
	fmt.Println(errors.Is(err, gnnmg.ErrRange))
	var e *gnnmg.Error
	if errors.As(err, &e) {
		fmt.Println(e.Status.String(), e.Rank)
	}
	// Output:
	// true
	// ERR_RANGE -1
}
