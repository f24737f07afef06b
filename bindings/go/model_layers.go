package gnnmg

import (
	"runtime"

	"gnnmg/internal/raw"
)

// The Add methods are for a model of [ArchitectureLayers], whose layers are added one by one until it is used
// for the first time; after that they are [ErrBusy]. A layer that does not go with the one before it
// is refused with [ErrInvalidArgument], and nothing is added.

// AddConv adds a convolution. Its name, which is another for each layer, comes in front of the keys
// of its tensors, as in "conv1". Of the settings those count that concern one layer of an
// architecture; OutputDim is the width of its rows, heads beside each other included.
func (m *Model) AddConv(layerName string, options ...func(*ModelConfig)) error {
	defer runtime.KeepAlive(m)
	words, err := settings(options)
	if err != nil {
		return err
	}
	n, err := name("name", layerName)
	if err != nil {
		return err
	}
	return failure(raw.ModelAddConv(m.token(), n, nil, words))
}

// AddLinear adds a linear layer, row by row.
func (m *Model) AddLinear(layerName string, outputDim int64, bias bool) error {
	defer runtime.KeepAlive(m)
	n, err := name("name", layerName)
	if err != nil {
		return err
	}
	return failure(raw.ModelAddLinear(m.token(), n, outputDim, flag(bias)))
}

// AddNorm adds a norm; "" is the name of one without parameters and running statistics.
func (m *Model) AddNorm(layerName string, norm Norm, options ...func(*NormConfig)) error {
	defer runtime.KeepAlive(m)
	words, err := settings(options)
	if err != nil {
		return err
	}
	n, err := nameOrNone("name", layerName)
	if err != nil {
		return err
	}
	return failure(raw.ModelAddNorm(m.token(), n, int32(norm), words))
}

// AddActivation adds a function of every entry; the name is for one that is learned, else "".
func (m *Model) AddActivation(layerName string, activation Activation) error {
	defer runtime.KeepAlive(m)
	n, err := nameOrNone("name", layerName)
	if err != nil {
		return err
	}
	return failure(raw.ModelAddActivation(m.token(), n, int32(activation)))
}

// AddDropout adds dropout of entries in training: that share of them becomes 0.
func (m *Model) AddDropout(rate float64) error {
	defer runtime.KeepAlive(m)
	return failure(raw.ModelAddDropout(m.token(), rate))
}

// AddReadout adds a readout: its output rows are the graphs of a mini-batch, and no convolution can
// follow. A model has at most one. "" is the name of one without parameters. The size is steps of
// [ReadoutSet2Set], rows of [ReadoutSort]; 0: 3 and 30.
func (m *Model) AddReadout(layerName string, readout Readout, size int) error {
	defer runtime.KeepAlive(m)
	n, err := nameOrNone("name", layerName)
	if err != nil {
		return err
	}
	return failure(raw.ModelAddReadout(m.token(), n, int32(readout), narrow(size)))
}
