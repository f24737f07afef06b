// A custom model, layer by layer under the names of its modules in Python: a linear encoder, two
// convolutions of different kinds with a norm between, a linear head. It is trained, saved as a
// state dict, and loaded into an equal stack. A second one ends in a readout.
package main

import (
	"errors"
	"fmt"
	"strings"

	"gnnmg"
	. "gnnmg/examples/common"
)

func newStack(rt *gnnmg.Runtime, data *gnnmg.Dataset, seed uint64) *gnnmg.Model {
	// [layers]
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.Seed = gnnmg.ArchitectureLayers, seed // InputDim is the data set's
	}))
	Check(model.AddLinear("encoder", 48, true))
	Check(model.AddActivation("", gnnmg.ActivationReLU))
	Check(model.AddConv("conv1", func(c *gnnmg.ModelConfig) {
		c.Architecture, c.OutputDim, c.Heads = gnnmg.ArchitectureGATv2, 32, 4 // four heads of eight columns, concatenated
	}))
	Check(model.AddNorm("bn1", gnnmg.NormBatch, func(c *gnnmg.NormConfig) { c.Epsilon = 1e-3 }))
	Check(model.AddActivation("act1", gnnmg.ActivationPReLU))
	Check(model.AddDropout(0.2))
	Check(model.AddConv("conv2", func(c *gnnmg.ModelConfig) { c.Architecture, c.OutputDim = gnnmg.ArchitectureSAGE, 32 }))
	Check(model.AddActivation("", gnnmg.ActivationELU))
	Check(model.AddLinear("head", 10, true))
	// [layers]
	return model
}

// newGraphStack has a head for graphs, of which only the shape is looked at here.
func newGraphStack(rt *gnnmg.Runtime) *gnnmg.Model {
	model := Get(gnnmg.NewModel(rt, nil, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.InputDim = gnnmg.ArchitectureLayers, 7
	}))
	Check(model.AddConv("conv", func(c *gnnmg.ModelConfig) { c.Architecture, c.OutputDim = gnnmg.ArchitectureGIN, 16 }))
	Check(model.AddReadout("pool", gnnmg.ReadoutSet2Set, 3)) // 32 columns
	Check(model.AddLinear("head", 2, true))
	return model
}

func testAccuracy(model *gnnmg.Model, data *gnnmg.Dataset) float64 {
	return Get(model.Evaluate(Background, data, gnnmg.PartTest)).Accuracy
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 2000)
	sampler := Get(gnnmg.NewSampler(graph)) // two hops, as the stack has convolutions

	model := newStack(rt, data, 1)
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize = 8, 256
	}))
	Check(trainer.Run(Background, nil))
	Check(model.Save(Background, "stack.pth"))
	var keys []string
	for _, key := range Get(model.TensorKeys()) {
		keys = append(keys, key.Key)
	}
	fmt.Printf("keys: %s\n", strings.Join(keys, ", "))

	other := newStack(rt, data, 2)
	Check(other.Load(Background, "stack.pth"))
	trained, read := testAccuracy(model, data), testAccuracy(other, data)
	fmt.Printf("test accuracy %.4f, of the one that was read %.4f\n", trained, read)

	graphs := newGraphStack(rt)
	info := Get(graphs.Info())
	fmt.Printf("of graphs: %d convolution, %d results\n", info.NumLayers, info.OutputDim)
	// A layer that does not match is named, and nothing is added.
	var late *gnnmg.Error
	if errors.As(graphs.AddConv("late", func(c *gnnmg.ModelConfig) { c.OutputDim = 8 }), &late) {
		fmt.Println(late.Text)
	}
	Expect(trained == read && late != nil)
}
