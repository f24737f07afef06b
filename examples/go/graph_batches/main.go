// Many small graphs: a data set made of arrays, folds in which every class has its share, and
// mini-batches of whole graphs. The graphs are rings and stars of 3 to 12 nodes, one class each.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	graphs  = 200
	largest = 12
)

func main() {
	// Side by side in one graph: nodes are numbered on from graph to graph.
	var sources, targets, classes []int64
	graphPtr := []int64{0}
	for g := range int64(graphs) {
		first, nodes, class := graphPtr[g], 3+g*7%(largest-2), g%2
		classes = append(classes, class)
		for i := int64(1); i < nodes+1-class; i++ {
			u, v := first+i%nodes, first
			if class == 0 {
				v = first + i - 1
			}
			sources, targets = append(sources, u, v), append(targets, v, u)
		}
		graphPtr = append(graphPtr, first+nodes)
	}
	nodes := graphPtr[graphs]
	ones := make([]float32, nodes)
	for i := range ones {
		ones[i] = 1
	}

	rt := OpenRuntime()
	defer CloseRuntime(rt)
	graph := Get(gnnmg.NewGraphFromCOO(rt, nodes, sources, targets))
	Check(graph.SetNodeTensor(0, "x", gnnmg.TensorOf(ones, nodes, 1)))
	// [data set]
	data := Get(gnnmg.NewGraphsDataset(graph, graphPtr, "x", gnnmg.TensorOf(classes), gnnmg.TaskMulticlass, 0))
	// [data set]
	Check(data.AddFolds("folds", func(c *gnnmg.FoldsConfig) { c.NumFolds, c.HeldOut = 5, gnnmg.PartTest }))
	data = Get(data.SelectSplit("folds", 2)) // holds the third fold out

	labels := Get(gnnmg.Copy[int64](Get(data.Labels())))
	starts := Get(gnnmg.Copy[int64](Get(data.GraphPtr())))
	var numTest, stars, testNodes int64
	for _, id := range Get(gnnmg.Copy[int64](Get(data.SplitIDs(gnnmg.PartTest)))) {
		numTest++
		stars += labels[id]
		testNodes += starts[id+1] - starts[id]
	}
	fmt.Printf("held out: %d graphs of %d nodes, %d of them stars\n", numTest, testNodes, stars)

	sampler := Get(gnnmg.NewGraphsSampler(data, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = make([]int64, 4) // layers; graphs are taken whole, whatever the fan-outs
	}))
	loader := Get(gnnmg.NewLoader(data, sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 32 })) // graphs
	defer loader.Close()
	var batches, seen, batchNodes int64
	for batch, err := range loader.All(Background) {
		Check(err)
		begin := Get(gnnmg.Values[int64](Get(batch.GraphPtr())))
		batches++
		seen += int64(len(begin) - 1)
		batchNodes += begin[len(begin)-1]
	}
	fmt.Printf("an epoch: %d mini-batches, %d graphs of %d nodes\n", batches, seen, batchNodes)
}
