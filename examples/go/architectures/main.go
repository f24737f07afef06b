// The kinds of models side by side on one data set: GraphSAGE, GCN, GAT, GATv2 and GIN, with the same
// sampler, split and seed. Prints parameters, accuracy and the seconds of an epoch.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

func main() {
	kinds := []struct {
		name         string
		architecture gnnmg.Architecture
		heads        int // models with attention only
	}{{"GraphSAGE", gnnmg.ArchitectureSAGE, 1}, {"GCN", gnnmg.ArchitectureGCN, 1}, {"GAT", gnnmg.ArchitectureGAT, 4},
		{"GATv2", gnnmg.ArchitectureGATv2, 4}, {"GIN", gnnmg.ArchitectureGIN, 1}}
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 4000)
	sampler := Get(gnnmg.NewSampler(graph))

	learned := 0
	for _, kind := range kinds {
		// [architecture]
		model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
			c.Architecture, c.HiddenDim, c.Heads = kind.architecture, 32, kind.heads // heads divide the width
		}))
		// [architecture]
		info := Get(model.Info())
		trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
			c.NumEpochs, c.BatchSize = 5, 256
		}))
		seconds := 0.0
		Check(trainer.Run(Background, func(e gnnmg.EpochInfo) error {
			seconds += e.Times.Total / float64(e.NumEpochs)
			return nil
		}))
		metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
		fmt.Printf("%-9s %6d parameters, test accuracy %.4f, %.2f s an epoch\n", kind.name, info.NumParameters,
			metrics.Accuracy, seconds)
		if metrics.Accuracy > 0.3 { // one in ten would be by chance
			learned++
		}
		trainer.Close()
		model.Close()
	}
	Expect(learned == len(kinds))
}
