// Fine-tuning: a model of ten classes is trained and saved; a second one, for other data of five
// classes, takes over all weights but those of its new head. Its first layer is frozen, its loss is
// the program's own, and a callback sets the learning rate.
package main

import (
	"fmt"
	"math"
	"slices"

	"gnnmg"
	. "gnnmg/examples/common"
)

const epochs = 6

// pretrain trains a model of ten classes, and saves its weights.
func pretrain(rt *gnnmg.Runtime) {
	data, graph := PlantedData(rt, 4000)
	model := SmallModel(rt, data)
	trainer := Get(gnnmg.NewTrainer(model, data, Get(gnnmg.NewSampler(graph)), nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize = epochs, 256
		c.Optimizer, c.LabelSmoothing = gnnmg.OptimizerRmsprop, 0.1
	}))
	defer trainer.Close()
	Check(trainer.Run(Background, nil))
	Check(model.Save(Background, "pretrained.pth"))
}

// newData is other data, of five classes.
func newData(rt *gnnmg.Runtime) (*gnnmg.Dataset, *gnnmg.Graph) {
	graph := Get(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) {
		c.NumNodes, c.NumClasses, c.NumFeatures, c.Seed = 2000, 5, 64, 1
	}))
	data := Get(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 5))
	Check(data.AddRandomSplit("random"))
	return data, graph
}

// [loss]
// focal is the focal loss with gamma 1, -(1 - p) log p: easy nodes count less.
func focal(batch *gnnmg.LossBatch[float32]) error {
	share := make([]float64, batch.Columns)
	for i, label := range batch.Classes {
		if label < 0 {
			continue
		}
		row, sum := i*batch.Columns, 0.0
		for c := range share {
			share[c] = math.Exp(float64(batch.Logits[row+c]))
			sum += share[c]
		}
		p, weight := share[label]/sum, batch.Weights[i]
		batch.Loss -= weight * (1 - p) * math.Log(p)
		for c := range share {
			wanted := 0.0
			if int64(c) == label {
				wanted = 1
			}
			batch.Gradient[row+c] = float32(weight * (1 - p - p*math.Log(p)) * (share[c]/sum - wanted))
		}
	}
	return nil
}

// [loss]

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	pretrain(rt)
	data, graph := newData(rt)
	model := SmallModel(rt, data)
	// [load]
	// The log lists the tensors of the head, whose shapes differ.
	Check(model.Load(Background, "pretrained.pth", func(c *gnnmg.ModelFileConfig) { c.Partial = true }))
	// [load]
	// [freeze]
	Check(model.SetTrainable("convs.0.*", false))
	// [freeze]
	first := Get(model.Tensor("convs.0.lin_l.weight"))
	before := slices.Clone(Get(gnnmg.Values[float32](first)))

	trainer := Get(gnnmg.NewTrainer(model, data, Get(gnnmg.NewSampler(graph)), nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize, c.KeepBest = epochs, 256, false
		c.Device = gnnmg.DeviceCPU // a loss of the program's own
	}))
	defer trainer.Close()
	// [set loss]
	Check(gnnmg.SetLoss(trainer, focal))
	// [set loss]
	// [rate]
	Check(trainer.Run(Background, func(e gnnmg.EpochInfo) error {
		fmt.Printf("epoch %d  rate %.4f  loss %.4f\n", e.Epoch+1, e.LearningRate, e.TrainLoss)
		if e.Epoch+1 == epochs/2 {
			return trainer.SetLearningRate(0.001)
		}
		return nil
	}))
	// [rate]
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	same := 0
	if slices.Equal(before, Get(gnnmg.Values[float32](first))) {
		same = 1
	}
	fmt.Printf("test accuracy %.4f, first layer unchanged: %d\n", metrics.Accuracy, same)
	Expect(same == 1 && metrics.Accuracy > 0.5)
}
