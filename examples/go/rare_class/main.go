// A rare class, one node in ten: without weights a model seldom predicts it, so classes are
// weighted. Uncertain labels can have lower weights too, and a mini-batch exports the weight of
// each of its labels.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	nodes  = 4000
	epochs = 6
)

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	graph := Get(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) {
		c.NumNodes, c.IntraProbability = nodes, 0.35
	}))
	rare := make([]int64, nodes)
	for v, community := range Get(gnnmg.Copy[int64](Get(graph.NodeTensor(0, "y")))) {
		if community == 0 {
			rare[v] = 1
		}
	}
	Check(graph.SetNodeTensor(0, "rare", gnnmg.TensorOf(rare)))
	data := Get(gnnmg.NewDataset(graph, "x", "rare", gnnmg.TaskMulticlass, 2))
	Check(data.AddRandomSplit("random"))
	sampler := Get(gnnmg.NewSampler(graph))

	plain := TrainSmallModel(rt, data, sampler, epochs)
	// [balance]
	Check(data.BalanceClasses()) // balanced over the training part of the current split
	weights := Get(gnnmg.Copy[float64](Get(data.ClassWeights())))
	fmt.Printf("a node of the rare class counts %.2f, another one %.2f\n", weights[1], weights[0])
	// [balance]
	balanced := TrainSmallModel(rt, data, sampler, epochs)
	fmt.Printf("every node counts 1:  accuracy %.3f, F1 of both classes %.3f\n", plain.Accuracy, plain.F1Macro)
	fmt.Printf("every class the same: accuracy %.3f, F1 of both classes %.3f\n", balanced.Accuracy, balanced.F1Macro)

	// [weights]
	ofClass := []float64{1, 3} // milder, by hand
	Check(data.SetClassWeights(ofClass))
	trust := make([]float32, nodes) // the second half was labeled by a machine
	for v := range trust {
		trust[v] = 1
		if v >= nodes/2 {
			trust[v] = 0.5
		}
	}
	Check(data.SetSampleWeights(gnnmg.TensorOf(trust))) // copied
	// [weights]

	seeds := make([]int64, 8)
	for i := range seeds {
		seeds[i] = int64(i * 511)
	}
	batch := Get(sampler.Sample(Background, data, seeds, gnnmg.RandomKey{Seed: 1}))
	defer batch.Close()
	counts := Get(gnnmg.Values[float64](Get(batch.Weights()))) // factors for a custom loss
	own := Get(gnnmg.Copy[float64](Get(data.SampleWeights())))
	good := true
	for i, seed := range seeds {
		fmt.Printf("node %d counts %.1f\n", seed, counts[i])
		good = good && counts[i] == ofClass[rare[seed]]*own[seed]
	}
	Expect(good && balanced.F1Macro > plain.F1Macro)
}
