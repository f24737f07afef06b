package gnnmg

import (
	"context"
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Dataset is a graph with features, labels and splits; or many small graphs, which stand side by
// side in one: then labels, ids of splits and weights are of graphs. It has any number of splits, by
// name and index; the one that is set serves what is made from the data set afterwards.
type Dataset struct {
	handle
	rt *Runtime
}

func adoptDataset(rt *Runtime, r raw.Result, token uintptr) (*Dataset, error) {
	if err := failure(r); err != nil {
		return nil, err
	}
	d := &Dataset{rt: rt}
	return adopt(d, &d.handle, token, raw.DatasetFree), nil
}

// OpenDataset opens a folder or file in any supported format.
func OpenDataset(ctx context.Context, rt *Runtime, path string, options ...func(*DatasetConfig)) (*Dataset, error) {
	defer runtime.KeepAlive(rt)
	if rt == nil {
		return nil, errNil("Runtime")
	}
	config, err := defaultDatasetConfig(options)
	if err != nil {
		return nil, err
	}
	p, err := name("path", path)
	if err != nil {
		return nil, err
	}
	var r raw.Result
	var token uintptr
	err = rt.await(ctx, func(timeoutMs int64) raw.Result {
		r, token = raw.DatasetOpen(rt.token(), p, config, timeoutMs)
		return r
	})
	if err != nil {
		return nil, err
	}
	return adoptDataset(rt, r, token)
}

// NewDataset makes a data set around a graph with one node type, which can no longer be changed. It
// has no split yet. Features and labels name node tensors, "" for none. With [TaskNone] integers are
// classes and floats regression; with 0 classes there are as many as the largest label + 1.
func NewDataset(g *Graph, features, labels string, task Task, numClasses int64) (*Dataset, error) {
	defer runtime.KeepAlive(g)
	f, err := nameOrNone("features", features)
	if err != nil {
		return nil, err
	}
	l, err := nameOrNone("labels", labels)
	if err != nil {
		return nil, err
	}
	r, token := raw.DatasetCreate(g.token(), f, l, int32(task), numClasses)
	return adoptDataset(g.runtime(), r, token)
}

// NewGraphsDataset makes a data set of many graphs out of one in which they stand side by side:
// graphPtr tells where the nodes of each begin, and behind its last graph the number of nodes. The
// labels have a row a graph; nil: none.
func NewGraphsDataset(g *Graph, graphPtr []int64, features string, labels *Tensor, task Task, numClasses int64) (*Dataset, error) {
	defer runtime.KeepAlive(g)
	f, err := nameOrNone("features", features)
	if err != nil {
		return nil, err
	}
	if len(graphPtr) == 0 {
		return nil, refuse(ErrInvalidArgument, "graphPtr is empty, expected an entry a graph and one more")
	}
	var l uintptr
	if labels != nil {
		address, done, err := labels.lend()
		if err != nil {
			return nil, err
		}
		defer done()
		l = address
	}
	r, token := raw.DatasetCreateGraphs(g.token(), &graphPtr[0], int64(len(graphPtr)-1), f, l, int32(task), numClasses)
	return adoptDataset(g.runtime(), r, token)
}

// Close gives the data set back; what was made from it keeps what it needs.
func (d *Dataset) Close() error {
	if d == nil {
		return nil
	}
	return d.end()
}

// Save writes the data set as a folder, which must not exist yet, whole or not at all.
func (d *Dataset) Save(ctx context.Context, path string) error {
	defer runtime.KeepAlive(d)
	if d == nil {
		return errNil("Dataset")
	}
	p, err := name("path", path)
	if err != nil {
		return err
	}
	return d.rt.await(ctx, func(timeoutMs int64) raw.Result { return raw.DatasetSave(d.token(), p, timeoutMs) })
}

// Info tells the task and how many of everything there are.
func (d *Dataset) Info() (DatasetInfo, error) {
	defer runtime.KeepAlive(d)
	return fetch[DatasetInfo](func(info *raw.DatasetInfo) raw.Result {
		return raw.DatasetGetInfo(d.token(), info)
	})
}

// A DatasetNames is the name of a data set and those of the node tensors with its features and
// labels, "" for none.
type DatasetNames struct{ Name, Features, Labels string }

// Names tells what the data set, its features and its labels are called.
func (d *Dataset) Names() (names DatasetNames, err error) {
	defer runtime.KeepAlive(d)
	if d == nil {
		return names, errNil("Dataset")
	}
	d.reading(func() {
		r, dataset, features, labels := raw.DatasetGetNames(d.token())
		names, err = DatasetNames{dataset, features, labels}, failure(r)
	})
	return names, err
}

// Graph is its graph; that in which all stand side by side, where it has many.
func (d *Dataset) Graph() (*Graph, error) {
	defer runtime.KeepAlive(d)
	r, token := raw.DatasetGetGraph(d.token(), 0)
	return adoptGraph(d.runtime(), r, token)
}

// Labels is the labels: classes of int64, -1 for none, or float32 [n, targets], NaN for none.
func (d *Dataset) Labels() (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportLabels(d.token()))
}

// GraphPtr tells where the nodes of each graph begin in a data set of many, of int64.
func (d *Dataset) GraphPtr() (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportGraphPtr(d.token()))
}

// SetClassWeights says how much each class, or binary target, counts in a loss: 0, or 1e-12 to 1e12,
// not all 0; nil: all count the same again.
func (d *Dataset) SetClassWeights(weights []float64) error {
	defer runtime.KeepAlive(d)
	if len(weights) == 0 {
		return failure(raw.DatasetSetClassWeights(d.token(), nil, 0))
	}
	return failure(raw.DatasetSetClassWeights(d.token(), unsafe.SliceData(weights), int64(len(weights))))
}

// BalanceClasses sets class weights by which every class counts the same over the training part of
// the split that is set.
func (d *Dataset) BalanceClasses() error {
	defer runtime.KeepAlive(d)
	return failure(raw.DatasetBalanceClasses(d.token()))
}

// SetSampleWeights says how much each node counts in a loss, of float32 or float64; nil: all count
// the same again.
func (d *Dataset) SetSampleWeights(weights *Tensor) error {
	defer runtime.KeepAlive(d)
	if weights == nil {
		return failure(raw.DatasetSetSampleWeights(d.token(), 0))
	}
	address, done, err := weights.lend()
	if err != nil {
		return err
	}
	defer done()
	return failure(raw.DatasetSetSampleWeights(d.token(), address))
}

// ClassWeights is the class weights, of float64.
func (d *Dataset) ClassWeights() (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportClassWeights(d.token()))
}

// SampleWeights is the nodes' weights, of float64.
func (d *Dataset) SampleWeights() (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportSampleWeights(d.token()))
}
