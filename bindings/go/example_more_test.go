package gnnmg_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"gnnmg"
)

// planted is a generated graph as a data set with a split.
func planted(rt *gnnmg.Runtime) *gnnmg.Dataset {
	graph := gnnmg.Must(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 1000 }))
	data := gnnmg.Must(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	if err := data.AddRandomSplit("random"); err != nil {
		panic(err)
	}
	return data
}

// A graph and its data from arrays, and its properties.
func ExampleNewGraphFromCOO() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	sources, targets := []int64{0, 1, 2, 3, 0}, []int64{1, 2, 3, 0, 2}
	graph := gnnmg.Must(gnnmg.NewGraphFromCOO(rt, 4, sources, targets))
	if err := graph.SetNodeTensor(0, "x", gnnmg.TensorOf([]float32{1, 2, 3, 4}, 4, 1)); err != nil {
		panic(err)
	}
	into, ids, err := graph.InEdges(0, 2)
	fmt.Println(gnnmg.Must(graph.NumNodes(0)), gnnmg.Must(graph.NumEdges(0)), into, ids, err)
	// Output: 4 5 [1 0] [1 4] <nil>
}

// Open reads the files of Save.
func ExampleOpenDataset() {
	ctx := context.Background()
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	folder := gnnmg.Must(os.MkdirTemp("", "gnnmg"))
	defer os.RemoveAll(folder)
	if err := planted(rt).Save(ctx, filepath.Join(folder, "planted")); err != nil {
		panic(err)
	}
	data := gnnmg.Must(gnnmg.OpenDataset(ctx, rt, filepath.Join(folder, "planted")))
	fmt.Println(gnnmg.Must(data.Info()).NumNodes, "nodes")
	_, err := gnnmg.OpenDataset(ctx, rt, filepath.Join(folder, "other"))
	fmt.Println("found:", !errors.Is(err, gnnmg.ErrNotFound))
	// Output:
	// 1000 nodes
	// found: false
}

// A custom loop: mini-batches, gradients, updates.
func ExampleModel_Backward() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	data := planted(rt)
	sampler := gnnmg.Must(gnnmg.NewSampler(gnnmg.Must(data.Graph())))
	loader := gnnmg.Must(gnnmg.NewLoader(data, sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 200 }))
	model := gnnmg.Must(gnnmg.NewModel(rt, data))
	optimizer := gnnmg.Must(gnnmg.NewOptimizer(model))
	var losses []float64
	for range 5 {
		sum := 0.0
		for batch, err := range loader.All(context.Background()) {
			if err == nil {
				err = model.Train(batch)
			}
			if err != nil {
				panic(err)
			}
			sum += gnnmg.Must(model.Backward(gnnmg.LossAuto))
			if err := optimizer.Step(); err != nil {
				panic(err)
			}
		}
		losses = append(losses, sum)
	}
	fmt.Println(len(losses), "epochs, less than at the beginning:", losses[4] < losses[0])
	// Output: 5 epochs, less than at the beginning: true
}

// Ranks in goroutines reduce their numbers.
func ExampleComm_AllReduce() {
	ctx := context.Background()
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	var all sync.WaitGroup
	sums := make([][]float64, 3)
	for rank, comm := range gnnmg.Must(gnnmg.NewCommGroup(rt, 3)) {
		all.Add(1)
		go func() {
			defer all.Done()
			defer comm.Close()
			sums[rank] = []float64{float64(rank), 1}
			if err := comm.AllReduce(ctx, gnnmg.TensorOf(sums[rank]), gnnmg.ReduceSum); err != nil {
				panic(err)
			}
			if err := comm.Shutdown(ctx); err != nil { // all leave together
				panic(err)
			}
		}()
	}
	all.Wait()
	fmt.Println(sums)
	// Output: [[3 3] [3 3] [3 3]]
}

// Custom layers, one after the other.
func ExampleModel_AddConv() {
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	model := gnnmg.Must(gnnmg.NewModel(rt, planted(rt), func(c *gnnmg.ModelConfig) { c.Architecture = gnnmg.ArchitectureLayers }))
	for _, err := range []error{
		model.AddConv("conv1", func(c *gnnmg.ModelConfig) { c.Architecture, c.OutputDim = gnnmg.ArchitectureSAGE, 16 }),
		model.AddActivation("", gnnmg.ActivationReLU),
		model.AddConv("conv2", func(c *gnnmg.ModelConfig) { c.Architecture, c.OutputDim = gnnmg.ArchitectureGCN, 16 }),
		model.AddLinear("head", 10, true),
	} {
		if err != nil {
			panic(err)
		}
	}
	for _, key := range gnnmg.Must(model.TensorKeys()) {
		fmt.Println(key.Key)
	}
	// Output:
	// conv1.lin_l.weight
	// conv1.lin_l.bias
	// conv1.lin_r.weight
	// conv2.bias
	// conv2.lin.weight
	// head.weight
	// head.bias
}

// Training that goes on in another trainer from the newest checkpoint.
func ExampleTrainer_SetCheckpoints() {
	ctx := context.Background()
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	folder := gnnmg.Must(os.MkdirTemp("", "gnnmg"))
	defer os.RemoveAll(folder)
	data := planted(rt)
	sampler := gnnmg.Must(gnnmg.NewSampler(gnnmg.Must(data.Graph())))
	newTrainer := func(epochs int64) *gnnmg.Trainer {
		return gnnmg.Must(gnnmg.NewTrainer(gnnmg.Must(gnnmg.NewModel(rt, data)), data, sampler, nil,
			func(c *gnnmg.TrainerConfig) { c.NumEpochs = epochs }))
	}
	first := newTrainer(2)
	if err := first.SetCheckpoints(folder); err != nil {
		panic(err)
	}
	if err := first.Run(ctx, nil); err != nil {
		panic(err)
	}
	second := newTrainer(4)
	if err := second.Load(ctx, folder); err != nil {
		panic(err)
	}
	err := second.Run(ctx, func(e gnnmg.EpochInfo) error {
		fmt.Println("epoch", e.Epoch+1, "of", e.NumEpochs)
		return nil
	})
	fmt.Println(err)
	// Output:
	// epoch 3 of 4
	// epoch 4 of 4
	// <nil>
}
