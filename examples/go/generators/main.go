// Graphs to measure on: four generators, and how uneven their degrees are. A graph is a pure function
// of its settings and seed, on every machine.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

// show prints mean and largest in-degree and returns the largest over the mean.
func show(name string, graph *gnnmg.Graph) float64 {
	defer graph.Close()
	numNodes, numEdges := Get(graph.NumNodes(0)), Get(graph.NumEdges(0))
	indptr, _, _, err := graph.CSC(0)
	Check(err)
	most := int64(0)
	Check(gnnmg.View(indptr, func(start []int64) error {
		for v := range numNodes {
			most = max(most, start[v+1]-start[v])
		}
		return nil
	}))
	mean := float64(numEdges) / float64(numNodes)
	fmt.Printf("%-18s %6d nodes, in-degree %5.1f on average, %5d at most\n", name, numNodes, mean, most)
	return float64(most) / mean
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	// [planted partition]
	// Features alone do not determine the classes.
	even := show("planted partition", Get(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) {
		c.NumNodes = 20000
	})))
	// [planted partition]
	// Degrees and communities as in a graph of products.
	skewed := show("log-normal", Get(gnnmg.Generate(rt, func(c *gnnmg.LogNormalConfig) { c.NumNodes = 20000 })))
	// Heavy-tailed, as Graph500 has it.
	heavy := show("R-MAT", Get(gnnmg.Generate(rt, func(c *gnnmg.RmatConfig) { c.Scale, c.NumEdges = 14, 16<<14 })))
	// No structure at all.
	flat := show("Erdos-Renyi", Get(gnnmg.Generate(rt, func(c *gnnmg.ErdosRenyiConfig) {
		c.NumNodes, c.NumEdges = 20000, 320000
	})))
	Expect(even < 5 && flat < 5 && skewed > 10 && heavy > skewed/10)
}
