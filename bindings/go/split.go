package gnnmg

import (
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A NamedSplit is one of the splits of a data set.
type NamedSplit struct {
	Name string
	SplitInfo
}

// Splits lists the splits of all names.
func (d *Dataset) Splits() (all []NamedSplit, err error) {
	defer runtime.KeepAlive(d)
	if d == nil {
		return nil, errNil("Dataset")
	}
	d.reading(func() {
		for i := int64(0); ; i++ {
			var info raw.SplitInfo
			r, splitName := raw.DatasetGetSplitInfo(d.token(), i, sized(&info))
			if err = failure(r); r.Status != raw.OK {
				return
			}
			split := NamedSplit{Name: splitName}
			split.SplitInfo.from(&info)
			all = append(all, split)
		}
	})
	return all, err
}

// SelectSplit makes a data set of the same data with another split chosen; "" is the name of the
// first. Both share graph, features and labels; splits and weights that one gets later do not change
// the other.
func (d *Dataset) SelectSplit(splitName string, index int) (*Dataset, error) {
	defer runtime.KeepAlive(d)
	if d == nil {
		return nil, errNil("Dataset")
	}
	n, err := nameOrNone("name", splitName)
	if err != nil {
		return nil, err
	}
	r, token := raw.DatasetSelectSplit(d.token(), n, narrow(index))
	return adoptDataset(d.rt, r, token)
}

// AddSplit adds a split of ids in any order, each in one list at most, and chooses it.
func (d *Dataset) AddSplit(splitName string, train, validation, test []int64) error {
	defer runtime.KeepAlive(d)
	n, err := name("name", splitName)
	if err != nil {
		return err
	}
	return failure(raw.DatasetAddSplit(d.token(), n, unsafe.SliceData(train), int64(len(train)),
		unsafe.SliceData(validation), int64(len(validation)), unsafe.SliceData(test), int64(len(test))))
}

// AddRandomSplit draws a split of the labeled nodes, adds it and chooses it.
func (d *Dataset) AddRandomSplit(splitName string, options ...func(*SplitConfig)) error {
	defer runtime.KeepAlive(d)
	words, err := settings(options)
	if err != nil {
		return err
	}
	n, err := name("name", splitName)
	if err != nil {
		return err
	}
	return failure(raw.DatasetAddRandomSplit(d.token(), n, words))
}

// AddFolds cuts the labeled nodes or graphs into folds and adds a split for each: the k-th holds
// fold k out and trains on the others. The first of them is chosen.
func (d *Dataset) AddFolds(splitName string, options ...func(*FoldsConfig)) error {
	defer runtime.KeepAlive(d)
	words, err := settings(options)
	if err != nil {
		return err
	}
	n, err := name("name", splitName)
	if err != nil {
		return err
	}
	return failure(raw.DatasetAddFolds(d.token(), n, words))
}

// SplitIDs is the ids of a part of the chosen split, ascending, of int64.
func (d *Dataset) SplitIDs(part Part) (*Tensor, error) {
	defer runtime.KeepAlive(d)
	return adoptTensor(raw.DatasetExportSplit(d.token(), int32(part)))
}
