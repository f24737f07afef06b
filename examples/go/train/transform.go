package main

import (
	"errors"

	"gnnmg"
	. "gnnmg/examples/common"
)

// changed is the data set with its graph changed as the options say, and its splits and weights around the new graph.
func changed(data *gnnmg.Dataset, o *options) *gnnmg.Dataset {
	graph, names, info := Get(data.Graph()), Get(data.Names()), Get(data.Info())
	if o.normalizeRows {
		graph = Get(graph.Normalized(names.Features))
	}
	if o.noEdges {
		graph = Get(graph.Transformed(gnnmg.TransformRemoveEdges, 0))
	}
	var result *gnnmg.Dataset
	if starts := ifAny(data.GraphPtr()); starts != nil { // data sets of many graphs
		result = Get(gnnmg.NewGraphsDataset(graph, ids(starts), names.Features, Get(data.Labels()), info.Task, info.NumClasses))
	} else {
		result = Get(gnnmg.NewDataset(graph, names.Features, names.Labels, info.Task, info.NumClasses))
	}
	for _, split := range Get(data.Splits()) {
		selected := Get(data.SelectSplit(split.Name, split.Index))
		Check(result.AddSplit(split.Name, ids(Get(selected.SplitIDs(gnnmg.PartTrain))),
			ids(Get(selected.SplitIDs(gnnmg.PartValidation))), ids(Get(selected.SplitIDs(gnnmg.PartTest)))))
	}
	if weights := ifAny(data.ClassWeights()); weights != nil {
		Check(gnnmg.View(weights, result.SetClassWeights))
	}
	if weights := ifAny(data.SampleWeights()); weights != nil {
		Check(result.SetSampleWeights(weights))
	}
	return result
}

// ifAny returns an optional part of a data set, or nil.
func ifAny(tensor *gnnmg.Tensor, err error) *gnnmg.Tensor {
	if errors.Is(err, gnnmg.ErrNotFound) {
		return nil
	}
	return Get(tensor, err)
}

func ids(tensor *gnnmg.Tensor) []int64 {
	defer tensor.Close()
	return Get(gnnmg.Copy[int64](tensor))
}
