package gnnmg

import (
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Graph is node types, edge types, the edges of each, and named tensors on both. Edges run from a
// source to a target, and a node's neighborhood is its incoming edges. A graph is built by its Add,
// Set and Import methods; once it has been given to another object it never changes again, and
// those methods are errors.
//
// Node types and edge types are named by their index, 0 for graphs with one.
type Graph struct {
	handle
	rt *Runtime
}

// An Index is a type for ids of nodes and edges.
type Index interface{ int64 | int32 }

func adoptGraph(rt *Runtime, r raw.Result, token uintptr) (*Graph, error) {
	if err := failure(r); err != nil {
		return nil, err
	}
	g := &Graph{rt: rt}
	return adopt(g, &g.handle, token, raw.GraphFree), nil
}

// Close frees the graph; objects made from it keep the parts that they need.
func (g *Graph) Close() error {
	if g == nil {
		return nil
	}
	return g.end()
}

// NewGraph makes a graph without any type, to be built up.
func NewGraph(rt *Runtime) (*Graph, error) {
	defer runtime.KeepAlive(rt)
	r, token := raw.GraphCreate(rt.token())
	return adoptGraph(rt, r, token)
}

// NewGraphFromCOO makes a graph with one node type "node" and one edge type "edge" from a list of
// edges, which is copied. Tensors may be added afterwards.
func NewGraphFromCOO[T Index](rt *Runtime, numNodes int64, sources, targets []T) (*Graph, error) {
	defer runtime.KeepAlive(rt)
	if len(sources) != len(targets) {
		return nil, refuse(ErrInvalidArgument, "there are %d sources and %d targets", len(sources), len(targets))
	}
	r, token := raw.GraphCreateFromCOO(rt.token(), numNodes, unsafe.Pointer(unsafe.SliceData(sources)),
		unsafe.Pointer(unsafe.SliceData(targets)), int32(dtypeOf[T]()), int64(len(sources)))
	return adoptGraph(rt, r, token)
}

// AddNodeType adds a node type and returns its index.
func (g *Graph) AddNodeType(typeName string, numNodes int64) (int, error) {
	defer runtime.KeepAlive(g)
	n, err := name("name", typeName)
	if err != nil {
		return 0, err
	}
	r, index := raw.GraphAddNodeType(g.token(), n, numNodes)
	return int(index), failure(r)
}

// AddEdgeType adds an edge type between two node types, without edges yet, and returns its index.
func (g *Graph) AddEdgeType(sourceType int, typeName string, targetType int) (int, error) {
	defer runtime.KeepAlive(g)
	n, err := name("name", typeName)
	if err != nil {
		return 0, err
	}
	r, index := raw.GraphAddEdgeType(g.token(), narrow(sourceType), n, narrow(targetType))
	return int(index), failure(r)
}

// SetCOO sets the edges of a type from a list, which is copied; edge e of the list gets the id e.
// Both tensors are of int64 or both of int32.
func (g *Graph) SetCOO(edgeType int, sources, targets *Tensor) error {
	defer runtime.KeepAlive(g)
	return copied([]*Tensor{sources, targets}, func(t []uintptr) raw.Result {
		return raw.GraphImportCOO(g.token(), narrow(edgeType), t[0], t[1])
	})
}

// SetCSC sets the edges of a type from compressed sparse columns, which are copied. With edgeIDs, a
// permutation, entry e is edge edgeIDs[e]; nil: entry e is edge e.
func (g *Graph) SetCSC(edgeType int, indptr []int64, indices, edgeIDs *Tensor) error {
	defer runtime.KeepAlive(g)
	return copied([]*Tensor{TensorOf(indptr), indices, edgeIDs}, func(t []uintptr) raw.Result {
		return raw.GraphImportCSC(g.token(), narrow(edgeType), t[0], t[1], t[2])
	})
}

// SetNodeTensor sets a named tensor on the nodes of a type, which is copied, in place of one of that
// name if there is one. Data sets call features "x" and labels "y" unless told otherwise.
func (g *Graph) SetNodeTensor(nodeType int, tensorName string, values *Tensor) error {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return err
	}
	return copied([]*Tensor{values}, func(t []uintptr) raw.Result {
		return raw.GraphImportNodeTensor(g.token(), narrow(nodeType), n, t[0])
	})
}

// SetEdgeTensor sets a named tensor on the edges of a type, rows by edge id, which is copied. The
// edges must be set.
func (g *Graph) SetEdgeTensor(edgeType int, tensorName string, values *Tensor) error {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return err
	}
	return copied([]*Tensor{values}, func(t []uintptr) raw.Result {
		return raw.GraphImportEdgeTensor(g.token(), narrow(edgeType), n, t[0])
	})
}

// SetNodeCSR sets a sparse tensor on the nodes of a type, which is copied: row r holds the entries
// indptr[r] to indptr[r+1]-1. It stays sparse all the way into the first layer of a model.
func (g *Graph) SetNodeCSR(nodeType int, tensorName string, csr CSR) error {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return err
	}
	return copied([]*Tensor{csr.Indptr, csr.Indices, csr.Values}, func(t []uintptr) raw.Result {
		return raw.GraphImportNodeCSR(g.token(), narrow(nodeType), n, csr.NumColumns, t[0], t[1], t[2])
	})
}

// A CSR is a sparse matrix: row r has the columns Indices[Indptr[r]:Indptr[r+1]], of int32, with the
// values at the same places, of float32. Indptr is of int64.
type CSR struct {
	NumColumns              int64
	Indptr, Indices, Values *Tensor
}

// Close closes its three tensors.
func (c CSR) Close() error {
	_, _, _ = c.Indptr.Close(), c.Indices.Close(), c.Values.Close() // cannot fail
	return nil
}
