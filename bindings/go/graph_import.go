package gnnmg

import (
	"runtime"

	"gnnmg/internal/raw"
)

// The Import methods are Set methods that avoid the copy if possible: on success the tensors belong
// to the graph, and their memory must not change any more. Slices of Go's stay pinned until the
// graph is gone.

// ImportCOO sets the edges of a type from a list, which is freed at once.
func (g *Graph) ImportCOO(edgeType int, sources, targets *Tensor) error {
	defer runtime.KeepAlive(g)
	return give([]*Tensor{sources, targets}, func(t []uintptr) raw.Result {
		return raw.GraphImportCOO(g.token(), narrow(edgeType), t[0], t[1])
	})
}

// ImportCSC sets the edges of a type from compressed sparse columns, which the graph shares where it
// can: indptr of int64, indices of int32 (shared) or int64 (shared only if 31 bits do not do),
// edgeIDs of either, or nil: entry e is edge e.
func (g *Graph) ImportCSC(edgeType int, indptr, indices, edgeIDs *Tensor) error {
	defer runtime.KeepAlive(g)
	return give([]*Tensor{indptr, indices, edgeIDs}, func(t []uintptr) raw.Result {
		return raw.GraphImportCSC(g.token(), narrow(edgeType), t[0], t[1], t[2])
	})
}

// ImportNodeTensor sets a named tensor on the nodes of a type.
func (g *Graph) ImportNodeTensor(nodeType int, tensorName string, values *Tensor) error {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return err
	}
	return give([]*Tensor{values}, func(t []uintptr) raw.Result {
		return raw.GraphImportNodeTensor(g.token(), narrow(nodeType), n, t[0])
	})
}

// ImportEdgeTensor sets a named tensor on the edges of a type, rows by edge id.
func (g *Graph) ImportEdgeTensor(edgeType int, tensorName string, values *Tensor) error {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return err
	}
	return give([]*Tensor{values}, func(t []uintptr) raw.Result {
		return raw.GraphImportEdgeTensor(g.token(), narrow(edgeType), n, t[0])
	})
}

// ImportNodeCSR sets a sparse tensor on the nodes of a type.
func (g *Graph) ImportNodeCSR(nodeType int, tensorName string, csr CSR) error {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return err
	}
	return give([]*Tensor{csr.Indptr, csr.Indices, csr.Values}, func(t []uintptr) raw.Result {
		return raw.GraphImportNodeCSR(g.token(), narrow(nodeType), n, csr.NumColumns, t[0], t[1], t[2])
	})
}
