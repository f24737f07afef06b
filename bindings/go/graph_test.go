package gnnmg_test

import (
	"testing"

	"gnnmg"
)

// A ring of four nodes with edges v -> v+1.
var (
	ringSources = []int64{0, 1, 2, 3}
	ringTargets = []int64{1, 2, 3, 0}
)

func TestGraphFromLists(t *testing.T) {
	w := newWorld(t)
	graph := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 4, ringSources, ringTargets))
	narrow := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 4, []int32{0, 1, 2, 3}, []int32{1, 2, 3, 0}))
	columns := made[*gnnmg.Graph](t)(gnnmg.NewGraph(w.rt))
	nodes, err := columns.AddNodeType("node", 4)
	ok(t, err)
	edges, err := columns.AddEdgeType(nodes, "edge", nodes)
	ok(t, err)
	ok(t, columns.SetCSC(edges, []int64{0, 1, 2, 3, 4}, gnnmg.TensorOf([]int32{3, 0, 1, 2}), nil))
	for _, g := range []*gnnmg.Graph{graph, narrow, columns} {
		n, err := g.NumNodes(0)
		ok(t, err)
		equal(t, n, 4)
		if n, err = g.NumEdges(0); err != nil || n != 4 {
			t.Errorf("%d edges, %v", n, err)
		}
		sources, _, err := g.InEdges(0, 2)
		ok(t, err)
		equalSlices(t, sources, []int64{1})
		types, err := g.NumNodeTypes()
		ok(t, err)
		equal(t, types, 1)
		if types, err = g.NumEdgeTypes(); err != nil || types != 1 {
			t.Errorf("%d edge types, %v", types, err)
		}
	}
	sources, targets, err := graph.COO(0)
	equalSlices(t, values[int64](t)(sources, err), ringSources)
	equalSlices(t, values[int64](t)(targets, err), ringTargets)
	indptr, indices, edgeIDs, err := graph.CSC(0)
	equalSlices(t, values[int64](t)(indptr, err), []int64{0, 1, 2, 3, 4})
	equalSlices(t, values[int32](t)(indices, err), []int32{3, 0, 1, 2})
	if edgeIDs == nil {
		t.Fatal("the entries are not in the order of the edges, and there are no ids")
	}
	equalSlices(t, values[int32](t)(edgeIDs, err), []int32{3, 0, 1, 2})

	_, err = gnnmg.NewGraphFromCOO(w.rt, 4, []int64{0, 9}, []int64{1, 1})
	fails(t, err, gnnmg.ErrRange)
	_, err = gnnmg.NewGraphFromCOO(w.rt, 4, []int64{0}, []int64{1, 1})
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, _, err = graph.InEdges(0, 4)
	fails(t, err, gnnmg.ErrNotFound)
	_, err = graph.NumNodes(1 << 32) // the lower half of the number is 0
	fails(t, err, gnnmg.ErrNotFound)
}

func TestInEdgesOfABusyNode(t *testing.T) {
	w := newWorld(t)
	sources, targets := make([]int64, 100), make([]int64, 100)
	for i := range sources {
		sources[i] = int64(i)
	}
	graph := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 100, sources, targets))
	in, ids, err := graph.InEdges(0, 0)
	ok(t, err)
	equalSlices(t, in, sources)
	equalSlices(t, ids, sources)
}

func TestTypedGraph(t *testing.T) {
	w := newWorld(t)
	g := made[*gnnmg.Graph](t)(gnnmg.NewGraph(w.rt))
	users, err := g.AddNodeType("user", 2)
	ok(t, err)
	items, err := g.AddNodeType("item", 3)
	ok(t, err)
	equal(t, items, 1)
	buys, err := g.AddEdgeType(users, "buys", items)
	ok(t, err)
	likes, err := g.AddEdgeType(users, "likes", items)
	ok(t, err)
	ok(t, g.SetCOO(buys, gnnmg.TensorOf([]int32{0, 1, 1}), gnnmg.TensorOf([]int32{0, 1, 2})))
	ok(t, g.SetCSC(likes, []int64{0, 1, 1, 2}, gnnmg.TensorOf([]int64{1, 0}), gnnmg.TensorOf([]int64{1, 0})))
	ok(t, g.SetNodeTensor(items, "price", gnnmg.TensorOf([]float32{1, 2, 3})))
	ok(t, g.SetEdgeTensor(likes, "when", gnnmg.TensorOf([]float64{10, 20, 11, 21}, 2, 2)))

	name, err := g.NodeTypeName(items)
	ok(t, err)
	equal(t, name, "item")
	edge, err := g.EdgeType(likes)
	ok(t, err)
	equal(t, edge, gnnmg.EdgeType{Source: users, Name: "likes", Target: items})
	nodeTensors, err := g.NodeTensors(items)
	ok(t, err)
	equalSlices(t, nodeTensors, []gnnmg.TensorName{{Name: "price"}})
	edgeTensors, err := g.EdgeTensors(likes)
	ok(t, err)
	equalSlices(t, edgeTensors, []string{"when"})
	equalSlices(t, values[float64](t)(g.EdgeTensor(likes, "when")), []float64{10, 20, 11, 21})
	sources, ids, err := g.InEdges(likes, 2)
	ok(t, err)
	equalSlices(t, sources, []int64{0})
	equalSlices(t, ids, []int64{0})

	fails(t, g.SetCOO(buys, gnnmg.TensorOf([]int32{0}), gnnmg.TensorOf([]int64{0})), gnnmg.ErrInvalidArgument)
	fails(t, g.SetCOO(buys, gnnmg.TensorOf([]int32{0}), gnnmg.TensorOf([]int32{0, 0})), gnnmg.ErrInvalidArgument)
	fails(t, g.SetCOO(buys, gnnmg.TensorOf([]int32{0}, 1, 1), gnnmg.TensorOf([]int32{0}, 1, 1)), gnnmg.ErrInvalidArgument)
	fails(t, g.SetCOO(buys, nil, nil), gnnmg.ErrHandle)
	fails(t, g.SetCOO(buys, gnnmg.TensorOf([]float32{0}), gnnmg.TensorOf([]float32{0})), gnnmg.ErrInvalidArgument)
	fails(t, g.SetCSC(likes, []int64{0, 1}, gnnmg.TensorOf([]int64{1}), nil), gnnmg.ErrInvalidArgument)
	fails(t, g.SetCSC(9, []int64{0}, gnnmg.TensorOf([]int64{1}), nil), gnnmg.ErrNotFound)
	fails(t, g.SetNodeTensor(items, "price", gnnmg.TensorOf([]float32{1, 2})), gnnmg.ErrInvalidArgument)
	fails(t, g.SetNodeTensor(items, "price", gnnmg.TensorOf([]float32{1, 2}, 3)), gnnmg.ErrInvalidArgument)
	_, err = g.AddNodeType("user", 2)
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = g.AddEdgeType(7, "x", 0)
	if err == nil {
		t.Error("an edge type starts from no node type")
	}
}

func TestSparseNodeTensor(t *testing.T) {
	w := newWorld(t)
	g := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 4, ringSources, ringTargets))
	words := gnnmg.CSR{NumColumns: 6, Indptr: gnnmg.TensorOf([]int64{0, 2, 2, 3, 3}),
		Indices: gnnmg.TensorOf([]int32{0, 5, 2}), Values: gnnmg.TensorOf([]float32{1, 3, 2})}
	ok(t, g.SetNodeCSR(0, "words", words))
	names, err := g.NodeTensors(0)
	ok(t, err)
	equalSlices(t, names, []gnnmg.TensorName{{Name: "words", Sparse: true}})
	out, err := g.NodeCSR(0, "words")
	ok(t, err)
	equal(t, out.NumColumns, 6)
	equalSlices(t, values[float32](t)(out.Values, nil), []float32{1, 3, 2})
	ok(t, out.Close())
	even := made[*gnnmg.Graph](t)(g.Normalized("words"))
	out, err = even.NodeCSR(0, "words")
	ok(t, err)
	equalSlices(t, values[float32](t)(out.Values, nil), []float32{0.25, 0.75, 1})
	ok(t, out.Close())

	_, err = g.NodeTensor(0, "words")
	fails(t, err, gnnmg.ErrUnsupported)
	_, err = g.NodeCSR(0, "none")
	fails(t, err, gnnmg.ErrNotFound)
	words.Values = gnnmg.TensorOf([]float32{1})
	if err := g.SetNodeCSR(0, "words", words); err == nil {
		t.Error("three indices have one value")
	}
	fails(t, g.SetNodeCSR(0, "words", gnnmg.CSR{}), gnnmg.ErrHandle)
}

func TestTransforms(t *testing.T) {
	w := newWorld(t)
	g := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 4, ringSources, ringTargets))
	for transform, edges := range map[gnnmg.Transform]int64{gnnmg.TransformAddReverseEdges: 8,
		gnnmg.TransformAddSelfLoops: 8, gnnmg.TransformRemoveEdges: 0} {
		other := made[*gnnmg.Graph](t)(g.Transformed(transform, 0))
		n, err := other.NumEdges(0)
		ok(t, err)
		if n != edges {
			t.Errorf("%v leaves %d edges, expected %d", transform, n, edges)
		}
	}
	fails(t, g.SetNodeTensor(0, "x", gnnmg.TensorOf([]float32{1, 2, 3, 4})), gnnmg.ErrInvalidArgument) // a graph in use never changes
	_, err := g.Transformed(gnnmg.Transform(99), 0)
	fails(t, err, gnnmg.ErrInvalidArgument)
	equal(t, gnnmg.Transform(99).String(), "Transform(99)")
	equal(t, gnnmg.TransformCoalesce.String(), "TransformCoalesce")
}

func TestGenerators(t *testing.T) {
	w := newWorld(t)
	rmat := made[*gnnmg.Graph](t)(gnnmg.Generate(w.rt, func(c *gnnmg.RmatConfig) { c.Scale, c.NumEdges = 6, 200 }))
	random := made[*gnnmg.Graph](t)(gnnmg.Generate(w.rt, func(c *gnnmg.ErdosRenyiConfig) {
		c.NumNodes, c.NumEdges = 64, 200
	}))
	for _, g := range []*gnnmg.Graph{rmat, random} {
		nodes, err := g.NumNodes(0)
		ok(t, err)
		edges, err := g.NumEdges(0)
		ok(t, err)
		if nodes != 64 || edges != 200 {
			t.Errorf("%d nodes and %d edges", nodes, edges)
		}
	}
	data := made[*gnnmg.Dataset](t)(gnnmg.GenerateDataset(w.rt, func(c *gnnmg.PlantedConfig) {
		c.NumNodes, c.NumClasses = 100, 5
	}))
	splits, err := data.Splits()
	ok(t, err)
	equal(t, len(splits), 1)
	equal(t, splits[0].NumTrain, 60)
	_, err = gnnmg.GenerateDataset(w.rt, func(c *gnnmg.LogNormalConfig) { c.NumNodes = -1 })
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.Generate(w.rt, func(c *gnnmg.RmatConfig) { c.Scale = -1 })
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.Generate(w.rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = -1 })
	fails(t, err, gnnmg.ErrInvalidArgument)
}
