// Splits of a data set: drawn at random, with a number per class, or given as lists; listed,
// selected, and read back. Trains a model on each of five random splits and prints the mean.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

const randomSplits = 5

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 3000) // has a split "random"

	// [random]
	for i := range uint64(randomSplits) {
		Check(data.AddRandomSplit("rand602020", func(c *gnnmg.SplitConfig) {
			c.TrainFraction, c.ValidationFraction, c.Seed = 0.6, 0.2, i
		}))
	}
	// [random]
	Check(data.AddRandomSplit("few labels", func(c *gnnmg.SplitConfig) {
		c.TrainPerClass, c.ValidationPerClass = 20, 30 // the sizes of Planetoid's splits
	}))
	Check(data.AddSplit("by hand", []int64{0, 1, 2, 3, 4, 5, 6, 7}, []int64{8, 9}, []int64{10, 11, 12}))

	for _, split := range Get(data.Splits()) {
		fmt.Printf("%s %d: %d, %d, %d\n", split.Name, split.Index, split.NumTrain, split.NumValidation, split.NumTest)
	}

	few := Get(data.SelectSplit("few labels", 0)) // shares the data
	nodes := Get(gnnmg.Copy[int64](Get(few.SplitIDs(gnnmg.PartTrain))))
	fmt.Printf("few labels: trained on %d nodes, the first is %d\n", len(nodes), nodes[0])

	sampler := Get(gnnmg.NewSampler(graph))
	mean := 0.0
	for i := range randomSplits {
		selected := Get(data.SelectSplit("rand602020", i))
		accuracy := TrainSmallModel(rt, selected, sampler, 4).Accuracy
		fmt.Printf("split %d: test accuracy %.4f\n", i, accuracy)
		mean += accuracy / randomSplits
	}
	fmt.Printf("mean %.4f\n", mean)
	Expect(mean > 0.5 && len(nodes) == 20*10)
}
