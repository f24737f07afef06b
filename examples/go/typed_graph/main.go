// A graph with types: people follow people and rate films. Its edges come as lists and as compressed
// columns, with tensors on nodes and edges; then it is read back as a stranger would.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

func build(rt *gnnmg.Runtime) *gnnmg.Graph {
	graph := Get(gnnmg.NewGraph(rt))
	people := Get(graph.AddNodeType("person", 4))
	films := Get(graph.AddNodeType("film", 3))
	follows := Get(graph.AddEdgeType(people, "follows", people))
	rates := Get(graph.AddEdgeType(people, "rates", films))

	Check(graph.SetCOO(follows, gnnmg.TensorOf([]int32{0, 1, 2, 3, 0}), gnnmg.TensorOf([]int32{1, 2, 3, 0, 2})))
	Check(graph.SetCSC(rates, []int64{0, 3, 5, 6}, // film 0 has the entries 0 to 2
		gnnmg.TensorOf([]int32{0, 1, 3, 1, 2, 0}),  // the raters
		gnnmg.TensorOf([]int32{0, 2, 5, 3, 4, 1}))) // the rating's row in edge tensors

	Check(graph.SetNodeTensor(people, "age", gnnmg.TensorOf([]float32{31, 45, 27, 60})))
	Check(graph.SetEdgeTensor(rates, "stars", gnnmg.TensorOf([]float32{5, 3, 4, 2, 1, 4})))
	return graph
}

func describe(graph *gnnmg.Graph) {
	for t := range Get(graph.NumNodeTypes()) {
		fmt.Printf("%s: %d nodes", Get(graph.NodeTypeName(t)), Get(graph.NumNodes(t)))
		for _, tensor := range Get(graph.NodeTensors(t)) {
			fmt.Printf(", %s", tensor.Name)
			if tensor.Sparse {
				fmt.Print(" (sparse)")
			}
		}
		fmt.Println()
	}
	for t := range Get(graph.NumEdgeTypes()) {
		edge := Get(graph.EdgeType(t))
		fmt.Printf("%s %s %s: %d edges", Get(graph.NodeTypeName(edge.Source)), edge.Name,
			Get(graph.NodeTypeName(edge.Target)), Get(graph.NumEdges(t)))
		for _, tensor := range Get(graph.EdgeTensors(t)) {
			fmt.Printf(", %s", tensor)
		}
		fmt.Println()
	}
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	graph := build(rt)
	describe(graph)

	stars := Get(gnnmg.Copy[float32](Get(graph.EdgeTensor(1, "stars")))) // rows by edge id
	people, ratings, err := graph.InEdges(1, 0)                          // row of film 0
	Check(err)
	sum := 0.0
	for i, person := range people {
		fmt.Printf("person %d gives film 0 %.0f stars\n", person, stars[ratings[i]])
		sum += float64(stars[ratings[i]])
	}
	fmt.Printf("film 0: %.2f stars from %d people\n", sum/float64(len(people)), len(people))
	Expect(len(people) == 3 && sum == 13) // 5 + 4 + 4: the ratings 0, 2 and 5
}
