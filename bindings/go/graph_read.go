package gnnmg

import (
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// An EdgeType is the name of an edge type and the node types that its edges join.
type EdgeType struct {
	Source int
	Name   string
	Target int
}

// A TensorName is the name of a tensor on nodes.
type TensorName struct {
	Name   string
	Sparse bool
}

// NumNodeTypes is the number of node types.
func (g *Graph) NumNodeTypes() (int, error) {
	r, n := raw.GraphNumNodeTypes(g.token())
	runtime.KeepAlive(g)
	return int(n), failure(r)
}

// NumEdgeTypes is the number of edge types.
func (g *Graph) NumEdgeTypes() (int, error) {
	r, n := raw.GraphNumEdgeTypes(g.token())
	runtime.KeepAlive(g)
	return int(n), failure(r)
}

// NumNodes is the number of nodes of a type.
func (g *Graph) NumNodes(nodeType int) (int64, error) {
	r, n := raw.GraphNumNodes(g.token(), narrow(nodeType))
	runtime.KeepAlive(g)
	return n, failure(r)
}

// NumEdges is the number of edges of a type.
func (g *Graph) NumEdges(edgeType int) (int64, error) {
	r, n := raw.GraphNumEdges(g.token(), narrow(edgeType))
	runtime.KeepAlive(g)
	return n, failure(r)
}

// NodeTypeName is the name of a node type.
func (g *Graph) NodeTypeName(nodeType int) (typeName string, err error) {
	defer runtime.KeepAlive(g)
	if g == nil {
		return "", errNil("Graph")
	}
	g.reading(func() {
		var r raw.Result
		r, typeName = raw.GraphNodeTypeName(g.token(), narrow(nodeType))
		err = failure(r)
	})
	return typeName, err
}

// EdgeType is the name and the ends of an edge type.
func (g *Graph) EdgeType(edgeType int) (e EdgeType, err error) {
	defer runtime.KeepAlive(g)
	if g == nil {
		return EdgeType{}, errNil("Graph")
	}
	g.reading(func() {
		r, source, typeName, target := raw.GraphEdgeTypeName(g.token(), narrow(edgeType))
		e, err = EdgeType{int(source), typeName, int(target)}, failure(r)
	})
	return e, err
}

// NodeTensors lists the tensors on a node type.
func (g *Graph) NodeTensors(nodeType int) (all []TensorName, err error) {
	defer runtime.KeepAlive(g)
	if g == nil {
		return nil, errNil("Graph")
	}
	g.reading(func() {
		for i := int64(0); ; i++ {
			r, tensorName, sparse := raw.GraphNodeTensorName(g.token(), narrow(nodeType), i)
			if err = failure(r); r.Status != raw.OK {
				return
			}
			all = append(all, TensorName{tensorName, sparse != 0})
		}
	})
	return all, err
}

// EdgeTensors lists the tensors on an edge type.
func (g *Graph) EdgeTensors(edgeType int) (all []string, err error) {
	defer runtime.KeepAlive(g)
	if g == nil {
		return nil, errNil("Graph")
	}
	g.reading(func() {
		for i := int64(0); ; i++ {
			r, tensorName := raw.GraphEdgeTensorName(g.token(), narrow(edgeType), i)
			if err = failure(r); r.Status != raw.OK {
				return
			}
			all = append(all, tensorName)
		}
	})
	return all, err
}

// NodeTensor is a dense tensor on nodes, without copying.
func (g *Graph) NodeTensor(nodeType int, tensorName string) (*Tensor, error) {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return nil, err
	}
	return adoptTensor(raw.GraphExportNodeTensor(g.token(), narrow(nodeType), n))
}

// EdgeTensor is a tensor on edges, rows by edge id, without copying.
func (g *Graph) EdgeTensor(edgeType int, tensorName string) (*Tensor, error) {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return nil, err
	}
	return adoptTensor(raw.GraphExportEdgeTensor(g.token(), narrow(edgeType), n))
}

// NodeCSR is a sparse tensor on nodes, without copying.
func (g *Graph) NodeCSR(nodeType int, tensorName string) (CSR, error) {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return CSR{}, err
	}
	r, columns, indptr, indices, values := raw.GraphExportNodeCSR(g.token(), narrow(nodeType), n)
	t, err := adoptTensors(r, indptr, indices, values)
	return CSR{columns, t[0], t[1], t[2]}, err
}

// COO is the edges of a type as a list of int64 in the order of their ids, a copy.
func (g *Graph) COO(edgeType int) (sources, targets *Tensor, err error) {
	defer runtime.KeepAlive(g)
	r, from, to := raw.GraphExportCOO(g.token(), narrow(edgeType))
	t, err := adoptTensors(r, from, to)
	return t[0], t[1], err
}

// CSC is the edges of a type as they are kept: the sources of target v's edges are
// indices[indptr[v]:indptr[v+1]]. Indptr is of int64, the others of int32 or int64; edgeIDs is nil
// when entry e is edge e.
func (g *Graph) CSC(edgeType int) (indptr, indices, edgeIDs *Tensor, err error) {
	defer runtime.KeepAlive(g)
	r, p, i, e := raw.GraphExportCSC(g.token(), narrow(edgeType))
	t, err := adoptTensors(r, p, i, e)
	return t[0], t[1], t[2], err
}

// InEdges is the incoming edges of one node, in their stored order.
func (g *Graph) InEdges(edgeType int, target int64) (sources, edgeIDs []int64, err error) {
	defer runtime.KeepAlive(g)
	capacity := int64(32)
	for {
		sources, edgeIDs = make([]int64, capacity), make([]int64, capacity)
		r, needed := raw.GraphGetInEdges(g.token(), narrow(edgeType), target, &sources[0], &edgeIDs[0], capacity)
		if err := failure(r); err != nil {
			return nil, nil, err
		}
		if needed <= capacity {
			return sources[:needed], edgeIDs[:needed], nil
		}
		capacity = needed
	}
}

// SampleNeighbors draws in-neighbors of each target into the sink of a custom sampler's callback:
// the same ones in the same order as the built-in sampler draws with this key.
func (g *Graph) SampleNeighbors(edgeType int, targets []int64, fanout int64, replace bool, key uint64, sink *Sink) error {
	defer runtime.KeepAlive(g)
	if sink == nil {
		return errNil("Sink")
	}
	return failure(raw.GraphSampleNeighbors(g.token(), narrow(edgeType), unsafe.SliceData(targets),
		int64(len(targets)), fanout, flag(replace), key, sink.token))
}

func errNil(what string) error { return refuse(ErrHandle, "the %s is nil", what) }
