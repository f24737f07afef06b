package gnnmg_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"gnnmg"
)

func TestTensorOfASlice(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6}
	tensor := gnnmg.TensorOf(data, 3, 2)
	equal(t, tensor.DType(), gnnmg.DTypeF32)
	equalSlices(t, tensor.Shape(), []int64{3, 2})
	equal(t, tensor.Len(), 6)
	equal(t, tensor.ReadOnly(), false)
	got, err := gnnmg.Values[float32](tensor)
	ok(t, err)
	if &got[0] != &data[0] {
		t.Error("the slice was copied")
	}
	for i, row := range gnnmg.Rows[float32](tensor) {
		equalSlices(t, row, data[2*i:2*i+2])
	}
	_, err = gnnmg.Values[int64](tensor)
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.Values[int64](nil)
	fails(t, err, gnnmg.ErrHandle)
	ok(t, tensor.Close())
	for _, shape := range [][]int64{{4, 2}, {-3, -2}, {1 << 62, 1 << 62}, {6, 0}} {
		_, err = gnnmg.Values[float32](gnnmg.TensorOf(data, shape...))
		fails(t, err, gnnmg.ErrInvalidArgument)
	}
	if _, err := gnnmg.Values[bool](gnnmg.TensorOf([]bool{}, 0, 1<<62)); err != nil {
		t.Error(err)
	}
}

// Every type of elements goes into a graph and comes out the same.
func TestElementTypes(t *testing.T) {
	w := newWorld(t)
	g := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 2, []int64{0}, []int64{1}))
	roundTrip(t, g, []float32{1.5, -2})
	roundTrip(t, g, []float64{1.5, -2})
	roundTrip(t, g, []gnnmg.Float16{0x3c00, 0})
	roundTrip(t, g, []gnnmg.BFloat16{0x3f80, 0})
	roundTrip(t, g, []int64{1 << 40, -1})
	roundTrip(t, g, []int32{7, -1})
	roundTrip(t, g, []uint8{255, 0})
	roundTrip(t, g, []bool{true, false})
}

func roundTrip[T gnnmg.Element](t *testing.T, g *gnnmg.Graph, data []T) {
	t.Helper()
	ok(t, g.SetNodeTensor(0, "copied", gnnmg.TensorOf(data)))
	equalSlices(t, values[T](t)(g.NodeTensor(0, "copied")), data)
	ok(t, g.ImportNodeTensor(0, "shared", gnnmg.TensorOf(data)))
	shared, err := g.NodeTensor(0, "shared")
	ok(t, err)
	equal(t, shared.ReadOnly(), true)
	got, err := gnnmg.Values[T](shared)
	ok(t, err)
	if &got[0] != &data[0] {
		t.Errorf("%T was copied on its way through a graph", data)
	}
	ok(t, shared.Close())
}

// Memory of Go's that a graph shares stays where it is until the graph has gone.
func TestImports(t *testing.T) {
	w := newWorld(t)
	func() {
		g := gnnmg.Must(gnnmg.NewGraph(w.rt))
		gnnmg.Must(g.AddNodeType("page", 4))
		gnnmg.Must(g.AddEdgeType(0, "links", 0))
		gnnmg.Must(g.AddEdgeType(0, "cites", 0))
		ok(t, g.ImportCSC(0, gnnmg.TensorOf([]int64{0, 1, 2, 3, 4}), gnnmg.TensorOf([]int32{3, 0, 1, 2}), nil))
		ok(t, g.ImportCOO(1, gnnmg.TensorOf(ringSources), gnnmg.TensorOf(ringTargets)))
		ok(t, g.ImportEdgeTensor(0, "weight", gnnmg.TensorOf([]float32{1, 2, 3, 4})))
		ok(t, g.ImportNodeCSR(0, "words", gnnmg.CSR{NumColumns: 3, Indptr: gnnmg.TensorOf([]int64{0, 1, 1, 1, 2}),
			Indices: gnnmg.TensorOf([]int32{0, 2}), Values: gnnmg.TensorOf([]float32{5, 6})}))
		for range 3 {
			runtime.GC()
		}
		equalSlices(t, values[float32](t)(g.EdgeTensor(0, "weight")), []float32{1, 2, 3, 4})
		csr, err := g.NodeCSR(0, "words")
		ok(t, err)
		equalSlices(t, values[int32](t)(csr.Indices, nil), []int32{0, 2})
		ok(t, csr.Close())

		// The caller keeps a refused tensor.
		wrong := gnnmg.TensorOf([]float32{1, 2, 3})
		fails(t, g.ImportEdgeTensor(0, "weight", wrong), gnnmg.ErrInvalidArgument)
		equalSlices(t, values[float32](t)(wrong, nil), []float32{1, 2, 3})
		fails(t, g.ImportCSC(0, gnnmg.TensorOf([]int64{0, 1, 2, 3, 4}), gnnmg.TensorOf([]int32{9, 0, 1, 2}), nil), gnnmg.ErrRange)
		fails(t, g.ImportCOO(1, gnnmg.TensorOf(ringSources, 9), nil), gnnmg.ErrInvalidArgument)
		fails(t, g.ImportNodeTensor(0, "x", nil), gnnmg.ErrHandle)
	}()
}

// A tensor of one graph, given to another, belongs to that one.
func TestGivingATensorOn(t *testing.T) {
	w := newWorld(t)
	x, err := w.graph.NodeTensor(0, "x")
	ok(t, err)
	address := &gnnmg.Must(gnnmg.Values[float32](x))[0]
	small := made[*gnnmg.Graph](t)(gnnmg.NewGraph(w.rt))
	gnnmg.Must(small.AddNodeType("node", 5))
	fails(t, small.ImportNodeTensor(0, "x", x), gnnmg.ErrInvalidArgument) // wrong number of nodes: 600
	if _, err := gnnmg.Values[float32](x); err != nil {
		t.Errorf("what was refused is gone: %v", err)
	}
	other := made[*gnnmg.Graph](t)(gnnmg.NewGraph(w.rt))
	gnnmg.Must(other.AddNodeType("node", 600))
	ok(t, other.ImportNodeTensor(0, "x", x))
	_, err = gnnmg.Values[float32](x)
	fails(t, err, gnnmg.ErrHandle)
	fails(t, other.ImportNodeTensor(0, "again", x), gnnmg.ErrHandle)
	ok(t, x.Close())
	again, err := other.NodeTensor(0, "x")
	ok(t, err)
	if &gnnmg.Must(gnnmg.Values[float32](again))[0] != address {
		t.Error("it was copied")
	}
	ok(t, again.Close())
}

// Another library, here this package itself, gets the same memory and gives it back.
func TestDLPack(t *testing.T) {
	w := newWorld(t)
	data := []float32{1, 2, 3, 4, 5, 6}
	x, err := w.graph.NodeTensor(0, "x")
	ok(t, err)
	for _, tensor := range []*gnnmg.Tensor{gnnmg.TensorOf(data, 3, 2), x} {
		before := gnnmg.Must(gnnmg.Values[float32](tensor))
		dlpack, err := tensor.DLPack()
		ok(t, err)
		ok(t, tensor.Close())
		runtime.GC()
		back, err := gnnmg.FromDLPack(dlpack)
		ok(t, err)
		equalSlices(t, back.Shape(), tensor.Shape())
		equal(t, back.ReadOnly(), tensor.ReadOnly())
		if &gnnmg.Must(gnnmg.Values[float32](back))[0] != &before[0] {
			t.Error("it was copied")
		}
		ok(t, back.Close())
	}
	_, err = x.DLPack()
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.TensorOf(data, 7).DLPack()
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.FromDLPack(nil)
	fails(t, err, gnnmg.ErrInvalidArgument)
}

// A Close during a View takes effect after it.
func TestCloseDuringAView(t *testing.T) {
	w := newWorld(t)
	x, err := w.graph.NodeTensor(0, "x")
	ok(t, err)
	inside := errors.New("from inside")
	err = gnnmg.View(x, func(all []float32) error {
		ok(t, x.Close())
		runtime.GC()
		other := made[*gnnmg.Graph](t)(gnnmg.NewGraph(w.rt))
		fails(t, other.ImportNodeTensor(0, "x", x), gnnmg.ErrHandle)
		equal(t, len(all), 600*8)
		sum := float32(0)
		for _, v := range all {
			sum += v
		}
		if sum == 0 {
			t.Error("the features add up to 0")
		}
		return inside
	})
	equal(t, err, inside)
	fails(t, gnnmg.View(x, func([]float32) error { return nil }), gnnmg.ErrHandle)
	for range gnnmg.Rows[float32](x) {
		t.Error("a closed tensor has rows")
	}
}

// Slices of a graph's features are the graph's own memory, also when its handle has gone.
func TestTensorsOutliveTheirGraph(t *testing.T) {
	w := newWorld(t)
	g := gnnmg.Must(gnnmg.NewGraphFromCOO(w.rt, 2, []int64{0}, []int64{1}))
	ok(t, g.SetNodeTensor(0, "x", gnnmg.TensorOf([]float32{3, 4})))
	x, err := g.NodeTensor(0, "x")
	ok(t, err)
	ok(t, g.Close())
	time.Sleep(10 * time.Millisecond)
	equalSlices(t, values[float32](t)(x, nil), []float32{3, 4})
}
