package gnnmg

import (
	"runtime"

	"gnnmg/internal/raw"
)

// Transformed makes a new graph from this one; tensors that do not change are shared. The source and
// target types of the edge type must be equal; it is 0 for graphs with one.
func (g *Graph) Transformed(transform Transform, edgeType int) (*Graph, error) {
	defer runtime.KeepAlive(g)
	r, token := raw.GraphCreateTransformed(g.token(), int32(transform), narrow(edgeType))
	return adoptGraph(g.runtime(), r, token)
}

// Normalized makes a new graph in which every row of a node tensor, dense of float32 or sparse, is
// divided by its sum; rows that sum to 0 stay.
func (g *Graph) Normalized(tensorName string) (*Graph, error) {
	defer runtime.KeepAlive(g)
	n, err := name("name", tensorName)
	if err != nil {
		return nil, err
	}
	r, token := raw.GraphCreateNormalized(g.token(), n)
	return adoptGraph(g.runtime(), r, token)
}

// NewPlantedPartition generates an undirected graph of nodes in classes, with node tensors "x" of
// float32 (a class center plus noise) and "y" of int64.
func NewPlantedPartition(rt *Runtime, options ...func(*PlantedPartitionConfig)) (*Graph, error) {
	defer runtime.KeepAlive(rt)
	config, err := defaultPlantedPartitionConfig(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.GraphCreatePlantedPartition(rt.token(), config)
	return adoptGraph(rt, r, token)
}

// NewLogNormal generates a graph with log-normal in-degrees and communities, with node tensors "x"
// of float32 and "y" of int64 when asked for.
func NewLogNormal(rt *Runtime, options ...func(*LogNormalConfig)) (*Graph, error) {
	defer runtime.KeepAlive(rt)
	config, err := defaultLogNormalConfig(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.GraphCreateLogNormal(rt.token(), config)
	return adoptGraph(rt, r, token)
}

// NewRmat generates an R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004), without tensors.
func NewRmat(rt *Runtime, options ...func(*RmatConfig)) (*Graph, error) {
	defer runtime.KeepAlive(rt)
	config, err := defaultRmatConfig(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.GraphCreateRmat(rt.token(), config)
	return adoptGraph(rt, r, token)
}

// NewErdosRenyi generates a graph whose edges are drawn uniformly, self-loops and duplicates
// included, without tensors.
func NewErdosRenyi(rt *Runtime, options ...func(*ErdosRenyiConfig)) (*Graph, error) {
	defer runtime.KeepAlive(rt)
	config, err := defaultErdosRenyiConfig(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.GraphCreateErdosRenyi(rt.token(), config)
	return adoptGraph(rt, r, token)
}
