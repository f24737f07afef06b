// The model's result for every node, with full neighborhoods: by the model alone, by all ranks of a
// trainer, and straight into files for NumPy. Then which nodes are most alike.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	nodes   = 3000
	classes = 10
	queries = 200
)

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i] * b[i])
		aa += float64(a[i] * a[i])
		bb += float64(b[i] * b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, nodes)
	model := Get(gnnmg.NewModel(rt, data))
	trainer := Get(gnnmg.NewTrainer(model, data, Get(gnnmg.NewSampler(graph)), nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.NumEpochs, c.BatchSize = 2, 5, 256
	}))
	Check(trainer.Run(Background, nil))

	// [trainer]
	byRanks := Get(gnnmg.Copy[float32](Get(trainer.Embed(Background)))) // each rank computes its share
	Check(trainer.EmbedToFile(Background, "by_ranks.npy"))
	// [trainer]
	Check(trainer.Close())
	// [model]
	rows := Get(gnnmg.Copy[float32](Get(model.Embed(Background, data)))) // works for any model, trained here or loaded
	Check(model.EmbedToFile(Background, data, "rows.npy"))               // never all in memory
	// [model]

	difference := 0.0
	for i := range rows {
		difference = max(difference, math.Abs(float64(rows[i])-float64(byRanks[i])))
	}
	fmt.Printf("largest difference between the two: %.2g\n", difference)
	rowsSize, byRanksSize := Get(os.Stat("rows.npy")).Size(), Get(os.Stat("by_ranks.npy")).Size()
	fmt.Printf("rows.npy has %d bytes, by_ranks.npy %d\n", rowsSize, byRanksSize)

	labels := Get(gnnmg.Copy[int64](Get(graph.NodeTensor(0, "y"))))
	row := func(v int) []float32 { return rows[v*classes : (v+1)*classes] }
	alike := 0
	for v := range queries {
		nearest, most := -1, -2.0
		for u := range nodes {
			if u == v {
				continue
			}
			if like := cosine(row(v), row(u)); like > most {
				nearest, most = u, like
			}
		}
		if labels[nearest] == labels[v] {
			alike++
		}
	}
	fmt.Printf("%d of %d nodes are most like a node of their own class\n", alike, queries)

	noTime, cancel := context.WithTimeout(Background, 0)
	defer cancel()
	_, err := model.Embed(noTime, data)
	fmt.Printf("in no time: %v\n", err)

	const bytes = nodes * classes * 4 // and a header
	Expect(difference < 1e-4 && alike > queries/3 && errors.Is(err, gnnmg.ErrCancelled) && rowsSize > bytes &&
		byRanksSize > bytes)
}
