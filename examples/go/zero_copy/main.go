// A graph and its tensors around Go slices, without copying, and back. Go reclaims slices that are
// no longer needed.
package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	nodes = 4
	edges = 5
)

var out atomic.Int64 // arrays that the collector has not taken back

// wrap takes a copy of the numbers on the heap, counts it, and makes a tensor of it.
func wrap[T gnnmg.Element](numbers []T, shape ...int64) *gnnmg.Tensor {
	array := append([]T(nil), numbers...)
	out.Add(1)
	runtime.AddCleanup(&array[0], func(int) { out.Add(-1) }, 0)
	return gnnmg.TensorOf(array, shape...)
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	graph := Get(gnnmg.NewGraph(rt))
	Get(graph.AddNodeType("page", nodes))
	Get(graph.AddEdgeType(0, "links", 0))
	Get(graph.AddEdgeType(0, "cites", 0))

	// Compressed columns are shared with the graph.
	sources := []int32{1, 3, 0, 1, 2}
	Check(graph.ImportCSC(0, wrap([]int64{0, 2, 3, 4, 5}), wrap(sources), nil))
	// A list is sorted into columns, and its arrays are released at once.
	Check(graph.ImportCOO(1, wrap(sources), wrap([]int32{0, 0, 1, 2, 3})))
	Check(graph.ImportNodeTensor(0, "x", wrap([]float32{0, 1, 2, 3, 4, 5, 6, 7}, nodes, 2)))
	Check(graph.ImportEdgeTensor(0, "weight", wrap([]float32{1, 2, 3, 4, 5})))
	Check(graph.ImportNodeCSR(0, "words", gnnmg.CSR{NumColumns: 6, Indptr: wrap([]int64{0, 2, 3, 5, 7}),
		Indices: wrap([]int32{0, 5, 2, 1, 2, 3, 4}), Values: wrap([]float32{1, 1, 3, 1, 2, 1, 1})}))
	fmt.Printf("the graph holds %d arrays of this program\n", settle(7))

	features := Get(graph.NodeTensor(0, "x"))
	Check(graph.Close()) // the tensor keeps its memory alive
	shape, readOnly := features.Shape(), ""
	if features.ReadOnly() {
		readOnly = ", read-only"
	}
	rows := Get(gnnmg.Values[float32](features))
	last := rows[len(rows)-1]
	fmt.Printf("x is %d x %d%s, its last number %.0f\n", shape[0], shape[1], readOnly, last)
	good := features.Len() == 2*nodes
	Check(features.Close())

	left := settle(0)
	fmt.Printf("%d arrays have not come back\n", left)
	Expect(good && left == 0)
}

// settle lets the collector work until as many arrays are out as are expected, or patience ends.
func settle(expected int64) int64 {
	for range 100 {
		runtime.GC()
		if out.Load() == expected {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return out.Load()
}
