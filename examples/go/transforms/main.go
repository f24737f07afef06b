// Usual transforms of a graph before training: edges in both directions, no repeats, a self-loop on
// each node, rows of features that sum to 1. Every step makes a new graph that shares the unchanged
// parts.
package main

import (
	"fmt"
	"math"

	"gnnmg"
	. "gnnmg/examples/common"
)

func show(title string, graph *gnnmg.Graph) int {
	sources, targets, err := graph.COO(0)
	Check(err)
	from, to := Get(gnnmg.Copy[int64](sources)), Get(gnnmg.Copy[int64](targets))
	fmt.Printf("%s:", title)
	for e := range from {
		fmt.Printf(" %d>%d", from[e], to[e])
	}
	fmt.Println()
	return len(from)
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	// A repeated edge and a self-loop, as crawled data has them; compressed by target.
	graph := Get(gnnmg.NewGraph(rt))
	nodes := Get(graph.AddNodeType("node", 5))
	edges := Get(graph.AddEdgeType(nodes, "edge", nodes))
	Check(graph.SetCSC(edges, []int64{0, 2, 3, 5, 6, 6}, gnnmg.TensorOf([]int64{1, 1, 1, 0, 3, 4}), nil))
	counts := []float32{1, 3, 0, 0, 2, 2, 5, 0, 1, 4}
	Check(graph.SetNodeTensor(0, "x", gnnmg.TensorOf(counts, 5, 2)))
	given := show("as given", graph)

	for _, step := range []gnnmg.Transform{gnnmg.TransformRemoveSelfLoops, gnnmg.TransformToUndirected,
		gnnmg.TransformAddRemainingSelfLoops} {
		graph = Get(graph.Transformed(step, 0))
	}
	made := show("for training", graph)

	normalized := Get(graph.Normalized("x"))
	sums := true
	for v, row := range gnnmg.Rows[float32](Get(normalized.NodeTensor(0, "x"))) {
		sum := float64(row[0] + row[1])
		sums = sums && (v == 1 && sum == 0 || v != 1 && math.Abs(sum-1) < 1e-6) // a row of zeros stays
	}

	indptr, _, _, err := normalized.CSC(0)
	Check(err)
	start := Get(gnnmg.Copy[int64](indptr)) // the edges into v: start[v] to start[v+1]-1
	for v := range len(start) - 1 {
		fmt.Printf("node %d has %d incoming edges\n", v, start[v+1]-start[v])
	}
	Expect(given == 6 && made == 2*4+5 && sums)
}
