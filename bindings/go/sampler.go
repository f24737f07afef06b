package gnnmg

import (
	"context"
	"runtime"
	"slices"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Sampler draws neighborhoods. The draws for a node depend only on seed, epoch, mini-batch, hop
// and node, so they are the same for any number of goroutines and ranks.
type Sampler struct {
	handle
	callback *callback // set for a custom sampler, else nil
}

func adoptSampler(r raw.Result, token uintptr, c *callback) (*Sampler, error) {
	if err := failure(r); err != nil {
		return nil, err
	}
	s := &Sampler{callback: c}
	return adopt(s, &s.handle, token, raw.SamplerFree), nil
}

// NewSampler makes a neighbor sampler. The graph can no longer be changed.
func NewSampler(g *Graph, options ...func(*SamplerConfig)) (*Sampler, error) {
	defer runtime.KeepAlive(g)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.SamplerCreate(g.token(), nil, words)
	return adoptSampler(r, token, nil)
}

// NewGraphsSampler makes a sampler whose seeds are the graphs of a data set of many: a mini-batch is
// them with all their nodes and edges. Of the settings the number of Fanouts, EdgeIDs and Transpose
// count.
func NewGraphsSampler(d *Dataset, options ...func(*SamplerConfig)) (*Sampler, error) {
	defer runtime.KeepAlive(d)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.SamplerCreateGraphs(d.token(), nil, words)
	return adoptSampler(r, token, nil)
}

// A LayerFunc is a custom sampler: it adds edges into the targets, each given once, to the sink.
// Layers are asked for from the seeds outwards; the targets of a layer are all nodes found so far.
// It may run on several goroutines at once. An error or a panic ends the work that asked, with an
// error in which [errors.Is] and [errors.As] find it.
type LayerFunc func(layer LayerInfo, targets []int64, sink *Sink) error

// NewCustomSampler makes a sampler out of a function, for a graph with one node and one edge type.
// It runs while a call waits: those of trainers and loaders, [Sampler.Sample], [Runtime.Lend]. Of
// the settings the number of Fanouts, which is that of the layers, EdgeIDs and Transpose count.
func NewCustomSampler(g *Graph, function LayerFunc, options ...func(*SamplerConfig)) (*Sampler, error) {
	defer runtime.KeepAlive(g)
	if function == nil {
		return nil, refuse(ErrInvalidArgument, "the function is nil")
	}
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	c := &callback{}
	r, token := raw.SamplerCreateCustom(g.token(), words, func(info *raw.LayerInfo, targets []int64, sink uintptr) int32 {
		var layer LayerInfo
		layer.from(info)
		own := slices.Clone(targets) // the function may keep it
		return c.run(func() error { return function(layer, own, &Sink{sink}) })
	})
	return adoptSampler(r, token, c)
}

// Close frees the sampler; loaders and trainers keep the parts that they need.
func (s *Sampler) Close() error {
	if s == nil {
		return nil
	}
	return s.end()
}

// NumLayers is the number of layers that a sample has.
func (s *Sampler) NumLayers() (int, error) {
	defer runtime.KeepAlive(s)
	r, n := raw.SamplerNumLayers(s.token())
	return int(n), failure(r)
}

// A RandomKey, together with the nodes, determines the random draws of a sample.
type RandomKey struct{ Seed, Epoch, Number uint64 }

// Sample samples the neighborhood of given seeds on the calling goroutine. Features and labels are
// those of the data set; nil: none. Sampling never waits for other calls; `ctx` is checked before
// it begins.
func (s *Sampler) Sample(ctx context.Context, d *Dataset, seeds []int64, key RandomKey) (*Batch, error) {
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(d)
	var r raw.Result
	var token uintptr
	_, err := await(ctx, func() {}, func(timeoutMs int64) raw.Result {
		r, token = raw.SamplerSample(s.token(), d.token(), unsafe.SliceData(seeds), int64(len(seeds)),
			nil, key.Seed, key.Epoch, key.Number, timeoutMs)
		return r
	})
	if err != nil {
		return nil, s.blame(err)
	}
	return adoptBatch(r, token)
}

// blame adds the error of a custom sampler's function.
func (s *Sampler) blame(err error) error {
	if s == nil {
		return err
	}
	return s.callback.blame(err)
}

// A Sink is where a custom sampler puts its edges. It is stale once the function has returned.
type Sink struct{ token uintptr }

// AddEdges adds edges: sources, targets (each among the targets of the layer, in any order) and the
// ids of the edges, nil when they are not known. Ids are checked when the function has returned.
func (s *Sink) AddEdges(sources, targets, edgeIDs []int64) error {
	if s == nil {
		return errNil("Sink")
	}
	if len(sources) != len(targets) || edgeIDs != nil && len(edgeIDs) != len(sources) {
		return refuse(ErrInvalidArgument, "there are %d sources, %d targets and %d edge ids",
			len(sources), len(targets), len(edgeIDs))
	}
	return failure(raw.SinkAddEdges(s.token, unsafe.SliceData(sources), unsafe.SliceData(targets),
		unsafe.SliceData(edgeIDs), int64(len(sources))))
}
