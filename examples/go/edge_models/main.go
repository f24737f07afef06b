// Models that read edge data, compared with one that does not: GINE, R-GCN, a graph transformer and
// PNA. A node's class depends on which type of edges brings more input, so a model needs the types
// to predict it.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	nodes  = 1000
	degree = 7
	edges  = nodes * degree
)

func newData(rt *gnnmg.Runtime) (*gnnmg.Dataset, *gnnmg.Graph) {
	random := uint64(1)
	next := func() uint64 {
		random = random*6364136223846793005 + 1442695040888963407
		return random
	}
	features, classes := make([]float32, nodes), make([]int64, nodes)
	for i := range features {
		features[i] = float32(0.5 + float64(next()>>40)/(1<<24)) // uniform in 0.5 to 1.5
	}
	sources, targets, kinds := make([]int64, edges), make([]int64, edges), make([]int64, edges)
	rows := make([]float32, 2*edges)
	for e := range edges {
		value := next()
		sources[e], targets[e], kinds[e] = int64((value>>33)%nodes), int64(e/degree), int64(value>>32&1)
		rows[2*e+int(kinds[e])] = 1
	}
	for i := range classes {
		sum := 0.0
		for e := i * degree; e < (i+1)*degree; e++ {
			sum += float64(features[sources[e]]) * float64(2*kinds[e]-1)
		}
		if sum > 0 {
			classes[i] = 1
		}
	}
	// [edge tensors]
	graph := Get(gnnmg.NewGraphFromCOO(rt, nodes, sources, targets))
	Check(graph.SetNodeTensor(0, "x", gnnmg.TensorOf(features, nodes, 1)))
	Check(graph.SetNodeTensor(0, "y", gnnmg.TensorOf(classes)))
	Check(graph.SetEdgeTensor(0, "edge_attr", gnnmg.TensorOf(rows, edges, 2)))
	Check(graph.SetEdgeTensor(0, "edge_type", gnnmg.TensorOf(kinds)))
	// [edge tensors]
	data := Get(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 2))
	Check(data.AddRandomSplit("random"))
	return data, graph
}

// train trains a model of one layer and returns its test accuracy.
func train(rt *gnnmg.Runtime, data *gnnmg.Dataset, sampler *gnnmg.Sampler, architecture gnnmg.Architecture) float64 {
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.NumLayers, c.HiddenDim = architecture, 1, 32
		if architecture == gnnmg.ArchitectureSAGE || architecture == gnnmg.ArchitectureRGCN {
			c.Aggregation = gnnmg.AggregationSum // GINE's is the sum already
		}
		c.Jumping = gnnmg.JumpingLast // a linear layer after the convolution
		if architecture != gnnmg.ArchitectureRGCN && architecture != gnnmg.ArchitectureSAGE {
			c.EdgeDim = -1 // the edges' number of columns; R-GCN counts their types
		}
	}))
	defer model.Close()
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.EvaluateEvery, c.BatchSize, c.LearningRate = 15, 15, 64, 0.01
	}))
	defer trainer.Close()
	Check(trainer.Run(Background, nil))
	return Get(trainer.Evaluate(Background, gnnmg.PartTest)).Accuracy
}

func main() {
	kinds := []struct {
		name         string
		architecture gnnmg.Architecture
	}{{"GraphSAGE", gnnmg.ArchitectureSAGE}, {"GINE", gnnmg.ArchitectureGINE}, {"R-GCN", gnnmg.ArchitectureRGCN},
		{"transformer", gnnmg.ArchitectureTransformer}, {"PNA", gnnmg.ArchitecturePNA}}
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := newData(rt)
	sampler := Get(gnnmg.NewSampler(graph, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = []int64{-1} // one hop, all neighbors
	}))
	seeing := 0
	for _, kind := range kinds {
		accuracy := train(rt, data, sampler, kind.architecture)
		fmt.Printf("%-11s test accuracy %.4f\n", kind.name, accuracy)
		if accuracy > 0.75 {
			seeing++
		}
	}
	fmt.Printf("%d of %d models see the edges\n", seeing, len(kinds))
	Expect(seeing == len(kinds)-1)
}
