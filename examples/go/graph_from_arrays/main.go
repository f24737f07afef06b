// A graph from arrays: two rings of eight nodes whose features contain little information about the
// ring, and a model that learns the ring of a node. Prints the accuracy on nodes that were not in
// the training part.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	ring  = 8
	nodes = 2 * ring
)

func main() {
	var sources, targets, labels []int64
	var features []float32
	for v := range int64(nodes) {
		// Each node is joined to the next one of its ring, in both directions.
		next := v/ring*ring + (v+1)%ring
		sources, targets = append(sources, v, next), append(targets, next, v)
		label := v / ring
		labels = append(labels, label)
		// A node looks wrong itself half of the time; its neighbors give it away.
		looks := float32(0)
		if label == 1 && v%2 == 0 {
			looks = 1
		}
		features = append(features, float32((v+label)%2), looks)
	}

	rt := OpenRuntime()
	defer CloseRuntime(rt)
	// [graph from edges]
	graph := Get(gnnmg.NewGraphFromCOO(rt, nodes, sources, targets))
	Check(graph.SetNodeTensor(0, "x", gnnmg.TensorOf(features, nodes, 2)))
	Check(graph.SetNodeTensor(0, "y", gnnmg.TensorOf(labels)))
	// [graph from edges]

	// [data set]
	data := Get(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 2))
	Check(data.AddSplit("mine", []int64{0, 1, 8, 9}, []int64{2, 10}, []int64{3, 4, 5, 6, 7, 11, 12, 13}))
	// [data set]

	sampler := Get(gnnmg.NewSampler(graph, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = []int64{-1, -1} // all neighbors
	}))
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 16 }))
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) { c.NumEpochs = 60 }))
	Check(trainer.Run(Background, nil))

	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("%d of %d nodes are in the ring that the model says\n", metrics.Correct, metrics.Count)
	Expect(metrics.Correct == metrics.Count)
}
