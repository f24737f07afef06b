// Several yes-or-no questions about each node, some without an answer, and the metrics of such a task
// on every part of the split. Training ends early, and keeps the epoch with the best ROC-AUC.
package main

import (
	"fmt"
	"math"

	"gnnmg"
	. "gnnmg/examples/common"
)

const nodes = 2500

func yes(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	graph := Get(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = nodes }))

	// Is the class below 5? even? 7? One node in five has no answer to the last.
	var answers []float32
	for v, class := range Get(gnnmg.Copy[int64](Get(graph.NodeTensor(0, "y")))) {
		seven := yes(class == 7)
		if v%5 == 3 {
			seven = float32(math.NaN())
		}
		answers = append(answers, yes(class < 5), yes(class%2 == 0), seven)
	}
	Check(graph.SetNodeTensor(0, "answers", gnnmg.TensorOf(answers, nodes, 3)))
	data := Get(gnnmg.NewDataset(graph, "x", "answers", gnnmg.TaskBinary, 0))
	Check(data.AddRandomSplit("random"))

	const numEpochs = 40
	trainer := Get(gnnmg.NewTrainer(SmallModel(rt, data), data, Get(gnnmg.NewSampler(graph)), nil,
		func(c *gnnmg.TrainerConfig) {
			c.NumEpochs, c.BatchSize, c.BestBy = numEpochs, 256, gnnmg.MetricROCAUC
			c.EarlyStopPatience = 2 // validations without getting better
		}))
	epochs := int64(0)
	Check(trainer.Run(Background, func(e gnnmg.EpochInfo) error { // the best weights stay
		epochs = e.Epoch + 1
		best := map[bool]string{true: " *"}[e.Best]
		fmt.Printf("epoch %2d  loss %.4f  validation ROC-AUC %.4f%s\n", e.Epoch+1, e.TrainLoss, e.Validation.ROCAUC, best)
		return nil
	}))

	var metrics gnnmg.Metrics
	for i, name := range []string{"train", "validation", "test"} {
		metrics = Get(trainer.Evaluate(Background, gnnmg.PartTrain+gnnmg.Part(i)))
		fmt.Printf("%-10s  %d answers, accuracy %.4f, ROC-AUC %.4f, average precision %.4f, F1 %.4f\n", name,
			metrics.Count, metrics.Accuracy, metrics.ROCAUC, metrics.AveragePrecision, metrics.F1Macro)
	}
	Expect(metrics.ROCAUC > 0.75 && epochs < numEpochs)
}
