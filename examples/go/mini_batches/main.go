// Mini-batches for another framework: seeds, nodes, features, labels and the edges of each layer
// are exported as slices without copying. Counts the contents of an epoch.
package main

import (
	"errors"
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

// lookInto is the place of the framework's code; it returns the number of edges of all layers.
func lookInto(batch *gnnmg.Batch) (numEdges int64) {
	info := Get(batch.Info())
	// [batch]
	ids := Get(gnnmg.Values[int64](Get(batch.NodeIDs())))     // the seeds, then their neighbors
	rows := Get(gnnmg.Values[float32](Get(batch.Features()))) // a row for each of these
	classes := Get(gnnmg.Values[int64](Get(batch.Labels())))  // the seeds' labels
	// [batch]
	fmt.Printf("batch %d of step %d: %d seeds, %d nodes; node %d is of class %d, x[0] %.3f\n", info.Number,
		info.Step, info.NumSeeds, info.NumNodes, ids[0], classes[0], rows[0])
	for layer := range info.NumLayers {
		block := Get(batch.BlockInfo(layer))
		fmt.Printf("  layer %d: %d sources, %d targets, %d edges\n", layer, block.NumSources, block.NumTargets,
			block.NumEdges)
		numEdges += block.NumEdges
	}
	return numEdges
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 3000)
	sampler := Get(gnnmg.NewSampler(graph))
	numLayers := Get(sampler.NumLayers()) // the number that a model needs

	seeds := make([]int64, 600) // any nodes; gnnmg.NewLoader takes those of the split
	for i := range seeds {
		seeds[i] = int64(5 * i)
	}
	loader := Get(gnnmg.NewSeedLoader(data, sampler, seeds, func(c *gnnmg.LoaderConfig) {
		c.BatchSize, c.NumThreads = 256, 2 // threads that make mini-batches ahead
	}))
	defer loader.Close()
	plan := Get(loader.Info())
	fmt.Printf("epoch %d: %d mini-batches in %d steps, %d layers\n", plan.Epoch, plan.NumBatches, plan.NumSteps, numLayers)

	var batches, again int
	var edges int64
	for batch, err := range loader.All(Background) {
		Check(err)
		edges += lookInto(batch)
		batches++
	}

	Check(loader.Start(0, 1)) // epoch 0 once more, from its second step
	for _, err := range loader.All(Background) {
		Check(err)
		again++
	}
	loader.Cancel() // allowed on any goroutine: ends the loader
	_, err := loader.Next(Background)
	var e *gnnmg.Error
	if errors.As(err, &e) {
		fmt.Printf("after the cancel: %s\n", e.Status.String())
	}
	Expect(batches == 3 && again == 2 && edges > 0 && errors.Is(err, gnnmg.ErrCancelled))
}
