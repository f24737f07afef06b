// A training that changes its framework: it begins with PyTorch Geometric's layers and Adam,
// continues with a trainer of DGL's layers on two ranks, and returns. Weights and the optimizer's
// state go through files as torch.save() writes them, so that either end may be in Python.
package main

import (
	"fmt"
	"math"

	"gnnmg"
	. "gnnmg/examples/common"
)

const steps = 5

type world struct {
	rt      *gnnmg.Runtime
	data    *gnnmg.Dataset
	sampler *gnnmg.Sampler
}

func (w *world) model(framework gnnmg.Framework) *gnnmg.Model {
	return Get(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) {
		c.Framework, c.HiddenDim, c.DType = framework, 32, gnnmg.DTypeF64
	}))
}

// trainer uses all nodes in each step, so that the sampling does not matter.
func (w *world) trainer(model *gnnmg.Model, ranks int) *gnnmg.Trainer {
	return Get(gnnmg.NewTrainer(model, w.data, w.sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = ranks, int64(2000/ranks), 100
	}))
}

func train(trainer *gnnmg.Trainer, name string) {
	loss := 0.0
	for range steps {
		loss = Get(trainer.Step(Background))
	}
	fmt.Printf("%s: loss %.4f\n", name, loss)
}

func largestDifference(a, b *gnnmg.Model) float64 {
	left, right := Get(gnnmg.Copy[float64](Get(a.Parameters()))), Get(gnnmg.Copy[float64](Get(b.Parameters())))
	largest := 0.0
	for i := range left {
		largest = max(largest, math.Abs(left[i]-right[i]))
	}
	return largest
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 2000)
	all := func(c *gnnmg.SamplerConfig) { c.Fanouts = []int64{-1, -1} }
	w := world{rt, data, Get(gnnmg.NewSampler(graph, all))}

	model := w.model(gnnmg.FrameworkPyG)
	trainer := w.trainer(model, 1)
	train(trainer, "begun")
	Check(model.Save(Background, "model.pth"))
	Check(Get(trainer.Optimizer()).Save(Background, "optimizer.pth"))

	// [move in]
	moved := w.model(gnnmg.FrameworkDGL)
	other := w.trainer(moved, 2)
	ofPyG := func(c *gnnmg.ModelFileConfig) { c.OtherFramework = true } // the files have PyG's layers
	Check(moved.Load(Background, "model.pth", ofPyG))
	Check(Get(other.Optimizer()).Load(Background, "optimizer.pth", ofPyG))
	// [move in]
	train(trainer, "stayed")
	train(other, "moved")

	Check(moved.Save(Background, "model.pth", ofPyG))
	Check(Get(other.Optimizer()).Save(Background, "optimizer.pth", ofPyG))
	back := w.model(gnnmg.FrameworkPyG)
	third := w.trainer(back, 1)
	Check(back.Load(Background, "model.pth"))
	Check(Get(third.Optimizer()).Load(Background, "optimizer.pth"))
	train(trainer, "stayed")
	train(third, "back")
	same := largestDifference(model, back) < 1e-9
	fmt.Println(map[bool]string{true: "the same weights", false: "other weights"}[same])
	Expect(same)
}
