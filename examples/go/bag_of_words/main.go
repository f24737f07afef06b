// Sparse features, as texts have them: the words of each page and how often. They stay sparse in the
// graph and in a sample, whose first aggregation is then done by hand over the sample's edges.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	pages = 6
	words = 1000
)

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	graph := Get(gnnmg.NewGraphFromCOO(rt, pages, []int64{1, 2, 3, 0, 4, 5, 5}, []int64{0, 0, 0, 1, 1, 2, 4}))
	// Page v has the entries start[v] to start[v+1]-1, each a word and how often.
	Check(graph.SetNodeCSR(0, "words", gnnmg.CSR{NumColumns: words,
		Indptr:  gnnmg.TensorOf([]int64{0, 1, 3, 5, 6, 7, 9}),
		Indices: gnnmg.TensorOf([]int32{7, 7, 42, 42, 999, 7, 0, 1, 2}),
		Values:  gnnmg.TensorOf([]float32{1, 2, 5, 1, 1, 4, 1, 1, 1})}))
	stored := Get(graph.NodeCSR(0, "words"))
	numEntries := stored.Values.Len()
	fmt.Printf("%d entries are stored of %d x %d\n", numEntries, pages, stored.NumColumns)
	stored.Close()
	data := Get(gnnmg.NewDataset(graph, "words", "", gnnmg.TaskNone, 0))

	sampler := Get(gnnmg.NewSampler(graph, func(c *gnnmg.SamplerConfig) {
		c.Fanouts, c.EdgeIDs = []int64{-1}, true // all neighbors
	}))
	seeds := []int64{0, 4}
	batch := Get(sampler.Sample(Background, data, seeds, gnnmg.RandomKey{Seed: 1}))
	defer batch.Close()

	features, edges := Get(batch.SparseFeatures()), Get(batch.Block(0)) // a row a node
	rowStart, word := Get(gnnmg.Values[int64](features.Indptr)), Get(gnnmg.Values[int32](features.Indices))
	count := Get(gnnmg.Values[float32](features.Values))
	edgeStart, source := Get(gnnmg.Values[int32](edges.Indptr)), Get(gnnmg.Values[int32](edges.Indices))
	sums := make([]float64, len(seeds))
	for target, seed := range seeds {
		ofWord7 := 0.0
		sources := source[edgeStart[target]:edgeStart[target+1]]
		for _, s := range sources {
			for i := rowStart[s]; i < rowStart[s+1]; i++ {
				sums[target] += float64(count[i])
				if word[i] == 7 {
					ofWord7 += float64(count[i])
				}
			}
		}
		fmt.Printf("pages that link to page %d: %d, with %.0f words, %.0f times word 7\n", seed, len(sources),
			sums[target], ofWord7)
	}
	Expect(numEntries == 9 && sums[0] == 2+5+1+1+4 && sums[1] == 1+1)
}
