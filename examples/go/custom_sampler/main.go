// A custom sampler: the function chooses a node's fan-out by its layer and the library draws. Two
// ranks train with it.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 5000)

	// [callback]
	fanouts := []int64{8, 4}
	sampler := Get(gnnmg.NewCustomSampler(graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			// sink.AddEdges would add edges of any other choice.
			return graph.SampleNeighbors(0, targets, fanouts[layer.Layer], false, layer.Key, sink)
		}))
	// [callback]
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 64 }))
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = 2, 256, 5
	}))
	// The function runs while this call waits; rt.Lend lends further goroutines.
	Check(trainer.Run(Background, nil))

	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f\n", metrics.Accuracy)
	Expect(metrics.Accuracy > 0.5)
}
