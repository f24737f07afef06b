// Classes of the entities of a knowledge graph, which has no features: R-GCN, whose first layer has a
// row of weights for each entity in every relation's matrix.
//
//	knowledge_graph [<folder with triples.npy, labels.npy and split_NAME.npy>]
//
// Without a folder it uses people, their papers, topics, and acquaintances; a class is a
// person's department.
package main

import (
	"fmt"
	"math"
	"os"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	people      = 300
	papers      = 1500
	topics      = 30
	departments = 3
	entities    = people + papers + topics
)

const (
	wrote = iota
	about
	knows
	relations
)

func generated(rt *gnnmg.Runtime) *gnnmg.Dataset {
	random := uint64(1)
	draw := func(below int64) int64 {
		random = random*6364136223846793005 + 1442695040888963407
		return int64(random>>33) % below
	}
	labels := make([]int64, entities)
	for i := range labels {
		if labels[i] = -1; i < people {
			labels[i] = draw(departments)
		}
	}
	var heads, kinds, tails []int64
	add := func(head, kind, tail int64) {
		heads, kinds, tails = append(heads, head), append(kinds, kind), append(tails, tail)
	}
	for paper := range int64(papers) {
		author := draw(people)
		field := labels[author] // a topic that the department works on, mostly
		if draw(10) >= 7 {
			field = draw(departments)
		}
		topic := departments*draw(topics/departments) + field
		add(author, wrote, people+paper)
		add(people+paper, about, people+papers+topic)
	}
	for person := range int64(people) {
		add(person, knows, draw(people))
	}
	// Adds the reverse of each triple as a separate relation, like the reader of folders.
	for e := range len(heads) {
		add(tails[e], relations+kinds[e], heads[e])
	}

	graph := Get(gnnmg.NewGraphFromCOO(rt, entities, heads, tails))
	defer graph.Close()
	Check(graph.SetNodeTensor(0, "y", gnnmg.TensorOf(labels)))
	Check(graph.SetEdgeTensor(0, "edge_type", gnnmg.TensorOf(kinds)))
	data := Get(gnnmg.NewDataset(graph, "", "y", gnnmg.TaskMulticlass, departments))
	ids := make([]int64, people)
	for i := range ids {
		ids[i] = int64(i)
	}
	Check(data.AddSplit("people", ids[:200], nil, ids[200:]))
	return data
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	var data *gnnmg.Dataset
	if len(os.Args) > 1 {
		data = Get(gnnmg.OpenDataset(Background, rt, os.Args[1]))
	} else {
		data = generated(rt)
	}

	// [model]
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.Architecture = gnnmg.ArchitectureRGCN
		c.Input = gnnmg.InputNodes // other architectures take InputEmbedding
		c.NumLayers, c.HiddenDim = 2, 16
	}))
	// [model]
	facts := Get(model.Info())
	fmt.Printf("%d entities, %d parameters\n", facts.InputDim, facts.NumParameters)

	sampler := Get(gnnmg.NewSampler(Get(data.Graph()), func(c *gnnmg.SamplerConfig) {
		c.Fanouts = []int64{-1, -1}
	}))
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.LearningRate = 50, 0.03
		c.BatchSize = math.MaxInt64 // all nodes in one mini-batch
		c.WeightDecay = 5e-3        // else the people's own rows learn their labels by heart
	}))
	Check(trainer.Run(Background, nil))
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f (%d of %d)\n", metrics.Accuracy, metrics.Correct, metrics.Count)
}
