package gnnmg

import (
	"runtime"
	"strconv"
	"sync"

	"gnnmg/internal/raw"
)

// A Batch is one mini-batch: a list of nodes, seeds first, or, for seeds that are graphs, the nodes
// of one graph after another; their features, the seeds' labels, and one block of edges a layer.
//
// Its tensors are read-only and lie in the library's memory. They belong to the batch: asked for
// again they are the same, and Close closes them.
type Batch struct {
	handle
	mu      sync.Mutex
	tensors map[string][]*Tensor // nil once it is closed
}

func adoptBatch(r raw.Result, token uintptr) (*Batch, error) {
	if err := failure(r); err != nil {
		return nil, err
	}
	b := &Batch{tensors: map[string][]*Tensor{}}
	return adopt(b, &b.handle, token, raw.BatchFree), nil
}

// Close frees the batch and its tensors.
func (b *Batch) Close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	tensors := b.tensors
	b.tensors = nil
	b.mu.Unlock()
	for _, all := range tensors {
		for _, t := range all {
			_ = t.Close() // cannot fail
		}
	}
	return b.end()
}

// Info returns sizes, the position in the epoch, and the batch's share of the step's loss.
func (b *Batch) Info() (BatchInfo, error) {
	defer runtime.KeepAlive(b)
	return fetch[BatchInfo](func(info *raw.BatchInfo) raw.Result { return raw.BatchGetInfo(b.token(), info) })
}

// BlockInfo returns the sizes of one block; layer 0 reads the features, the last yields the seeds.
func (b *Batch) BlockInfo(layer int) (BlockInfo, error) {
	defer runtime.KeepAlive(b)
	return fetch[BlockInfo](func(info *raw.BlockInfo) raw.Result {
		return raw.BatchGetBlockInfo(b.token(), narrow(layer), 0, info)
	})
}

// own asks for tensors once and keeps them.
func (b *Batch) own(key string, export func() ([]*Tensor, error)) ([]*Tensor, error) {
	if b == nil {
		return make([]*Tensor, 3), errNil("Batch")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if kept, ok := b.tensors[key]; ok {
		return kept, nil
	}
	tensors, err := export()
	if err == nil && b.tensors != nil {
		b.tensors[key] = tensors
	}
	return tensors, err
}

func (b *Batch) ownOne(key string, export func(batch uintptr) (raw.Result, uintptr)) (*Tensor, error) {
	defer runtime.KeepAlive(b)
	t, err := b.own(key, func() ([]*Tensor, error) {
		r, address := export(b.token())
		return adoptTensors(r, address)
	})
	return t[0], err
}

// Seeds is the seeds, of int64.
func (b *Batch) Seeds() (*Tensor, error) { return b.ownOne("seeds", raw.BatchExportSeeds) }

// GraphPtr has the first node of each seed that is a graph, and the number of nodes, of int64.
func (b *Batch) GraphPtr() (*Tensor, error) { return b.ownOne("graph ptr", raw.BatchExportGraphPtr) }

// NodeIDs is the nodes: the seeds, then those of each hop in order of first appearance, of int64.
func (b *Batch) NodeIDs() (*Tensor, error) {
	return b.ownOne("node ids", func(batch uintptr) (raw.Result, uintptr) { return raw.BatchExportNodeIDs(batch, 0) })
}

// Features is the nodes' features, one row per node, in the data set's type.
func (b *Batch) Features() (*Tensor, error) {
	return b.ownOne("features", func(batch uintptr) (raw.Result, uintptr) { return raw.BatchExportFeatures(batch, 0) })
}

// Labels is the seeds' labels: classes of int64, or float32 [seeds, targets].
func (b *Batch) Labels() (*Tensor, error) { return b.ownOne("labels", raw.BatchExportLabels) }

// Weights is the weight of each of the seeds' labels in a loss, of float64.
func (b *Batch) Weights() (*Tensor, error) { return b.ownOne("weights", raw.BatchExportWeights) }

// SparseFeatures is the nodes' sparse features.
func (b *Batch) SparseFeatures() (CSR, error) {
	defer runtime.KeepAlive(b)
	t, err := b.own("sparse features", func() ([]*Tensor, error) {
		r, indptr, indices, values := raw.BatchExportSparseFeatures(b.token(), 0)
		return adoptTensors(r, indptr, indices, values)
	})
	if err != nil {
		return CSR{}, err
	}
	info, err := b.Info()
	return CSR{info.FeatureDim, t[0], t[1], t[2]}, err
}

// A Block is the edges of one layer: the sources of target t are Indices[Indptr[t]:Indptr[t+1]], as
// positions in the list of nodes, both of int32. EdgeIDs, of int64, is nil when the sampler keeps
// none.
type Block struct{ Indptr, Indices, EdgeIDs *Tensor }

// Block is the edges of one layer.
func (b *Batch) Block(layer int) (Block, error) {
	defer runtime.KeepAlive(b)
	t, err := b.own("block "+strconv.Itoa(layer), func() ([]*Tensor, error) {
		r, indptr, indices, edgeIDs := raw.BatchExportBlock(b.token(), narrow(layer), 0, true)
		return adoptTensors(r, indptr, indices, edgeIDs)
	})
	return Block{t[0], t[1], t[2]}, err
}
