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

// A generated is the settings of a generator: [PlantedConfig], [LogNormalConfig], [RmatConfig] or
// [ErdosRenyiConfig].
type generated interface {
	PlantedConfig | LogNormalConfig | RmatConfig | ErdosRenyiConfig
}

// Generate generates a graph; the type of the settings says by which generator:
//
//	graph, err := gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 2000 })
//	graph, err := gnnmg.Generate[gnnmg.RmatConfig](rt)
//
// Equal settings give equal graphs.
func Generate[C generated, P configOf[C]](rt *Runtime, options ...func(*C)) (*Graph, error) {
	return generate[C, Graph, P](rt, options, adoptGraph, raw.GraphGenerate)
}

// GenerateDataset generates a data set with features, labels and a random split, for which the
// generator's Seed is used too: [Generate], [NewDataset] and [Dataset.AddRandomSplit] in one call.
func GenerateDataset[C PlantedConfig | LogNormalConfig, P configOf[C]](rt *Runtime, options ...func(*C)) (*Dataset, error) {
	return generate[C, Dataset, P](rt, options, adoptDataset, raw.DatasetGenerate)
}

func generate[C, O any, P configOf[C]](rt *Runtime, options []func(*C), wrap func(*Runtime, raw.Result, uintptr) (*O, error),
	call func(context uintptr, generator, settings *byte) (raw.Result, uintptr)) (*O, error) {
	defer runtime.KeepAlive(rt)
	words, err := settings[C, P](options)
	if err != nil {
		return nil, err
	}
	generator, err := name("generator", P(nil).subject())
	if err != nil {
		return nil, err
	}
	r, token := call(rt.token(), generator, words)
	return wrap(rt, r, token)
}
