package gnnmg

import (
	"context"
	"io"
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Dataset is a graph with features, labels and splits; or many small graphs, side by side in one:
// then labels, ids of splits and weights are those of graphs. It has any number of splits, by name
// and index. One is chosen: the first, until one is added; [Dataset.SelectSplit] makes a data set
// with another.
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
	words, err := settings(options)
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
		r, token = raw.DatasetOpen(rt.token(), p, words, timeoutMs)
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

// NewGraphsDataset makes a data set of many graphs out of one that contains them side by side:
// graphPtr has the first node of each graph, and the number of nodes at the end. The labels have
// one row per graph; nil: none.
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

// Close frees the data set; objects made from it keep the parts that they need.
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

// SaveParts divides the nodes into parts and writes a folder of them: of each part the rows of its
// nodes, as .npy files, and which node is in which part. Nodes keep their ids. [OpenDataset] opens
// the folder as the same data set. Without options it makes 2 parts by [PartsMethodCluster].
//
// The folder is new, or one that an earlier call has begun: a call with the same arguments goes on
// there, also after a crash, and the result is the same to the last byte. A complete folder of the
// same arguments stays as it is. One that was begun with other arguments or data is [ErrMismatch],
// one that another call writes [ErrBusy]. [ErrUnsupported] refuses a data set of several types or of
// many graphs, [ErrDependency] the method METIS where METIS is not installed, and [ErrNoMemory] a
// memory limit that is too low.
//
// given has the part of each node, from 0 to NumParts - 1, and takes the place of a method; nil: none.
func (d *Dataset) SaveParts(ctx context.Context, folder string, given []int32, options ...func(*PartsConfig)) error {
	defer runtime.KeepAlive(d)
	if d == nil {
		return errNil("Dataset")
	}
	words, err := settings(options)
	if err != nil {
		return err
	}
	f, err := name("folder", folder)
	if err != nil {
		return err
	}
	return d.rt.await(ctx, func(timeoutMs int64) raw.Result {
		return raw.DatasetSaveParts(d.token(), f, unsafe.SliceData(given), int64(len(given)), nil, words, timeoutMs)
	})
}

// PartsInfo returns the balance of the parts and the number of edges between them. [ErrNotFound]
// where the data set was not opened from a folder of parts.
func (d *Dataset) PartsInfo() (PartsInfo, error) {
	defer runtime.KeepAlive(d)
	return fetch[PartsInfo](func(info *raw.PartsInfo) raw.Result {
		return raw.DatasetGetPartsInfo(d.token(), info)
	})
}

// PartInfo describes one part, counted from 0; after the last one it is [io.EOF]. HitRate is that of a
// cache of cacheRows rows of other parts, those read most. [ErrNotFound] where the data set was not
// opened from a folder of parts.
func (d *Dataset) PartInfo(part int, cacheRows int64) (PartInfo, error) {
	defer runtime.KeepAlive(d)
	var r raw.Result
	info, err := fetch[PartInfo](func(info *raw.PartInfo) raw.Result {
		r = raw.DatasetGetPartInfo(d.token(), narrow(part), cacheRows, info)
		return r
	})
	if err == nil && r.Status == raw.End {
		err = io.EOF
	}
	return info, err
}

// Parts lists [Dataset.PartInfo] of each part.
func (d *Dataset) Parts(cacheRows int64) ([]PartInfo, error) {
	var all []PartInfo
	for {
		info, err := d.PartInfo(len(all), cacheRows)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
}

// Book is the part of each node, of int32 [n], read-only. [ErrNotFound] where the data set was not
// opened from a folder of parts.
func (d *Dataset) Book() (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportBook(d.token()))
}

// Info returns the task and all counts.
func (d *Dataset) Info() (DatasetInfo, error) {
	defer runtime.KeepAlive(d)
	return fetch[DatasetInfo](func(info *raw.DatasetInfo) raw.Result {
		return raw.DatasetGetInfo(d.token(), info)
	})
}

// A DatasetNames is the name of a data set and those of the node tensors with its features and
// labels, "" for none.
type DatasetNames struct{ Name, Features, Labels string }

// Names returns the names of the data set, its features and its labels.
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

// Graph is the graph; in a data set of many graphs, one that contains them side by side.
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

// GraphPtr has the first node of each graph in a data set of many, and the number of nodes, of int64.
func (d *Dataset) GraphPtr() (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportGraphPtr(d.token()))
}

// SetClassWeights sets the weight of each class, or binary target, in a loss: 0, or 1e-12 to 1e12,
// not all 0; nil: all count the same again.
func (d *Dataset) SetClassWeights(weights []float64) error {
	defer runtime.KeepAlive(d)
	if len(weights) == 0 {
		return failure(raw.DatasetSetClassWeights(d.token(), nil, 0))
	}
	return failure(raw.DatasetSetClassWeights(d.token(), unsafe.SliceData(weights), int64(len(weights))))
}

// BalanceClasses sets class weights by which every class counts the same over the training part of
// the chosen split.
func (d *Dataset) BalanceClasses() error {
	defer runtime.KeepAlive(d)
	return failure(raw.DatasetBalanceClasses(d.token()))
}

// SetSampleWeights sets the weight of each node in a loss, of float32 or float64; nil: all count
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
