package gnnmg_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"gnnmg"
)

func TestSamplesDependOnTheirDrawAlone(t *testing.T) {
	w := newWorld(t)
	layers, err := w.sampler.NumLayers()
	ok(t, err)
	equal(t, layers, 2)
	nodes := func(draw gnnmg.RandomKey) []int64 {
		batch := made[*gnnmg.Batch](t)(w.sampler.Sample(background, w.data, []int64{3, 17}, draw))
		ids, err := batch.NodeIDs()
		ok(t, err)
		all, err := gnnmg.Copy[int64](ids)
		ok(t, err)
		return all
	}
	one := nodes(gnnmg.RandomKey{Seed: 1})
	equalSlices(t, one[:2], []int64{3, 17})
	equalSlices(t, nodes(gnnmg.RandomKey{Seed: 1}), one)
	other := nodes(gnnmg.RandomKey{Seed: 1, Epoch: 1})
	same := len(one) == len(other)
	for i := 0; same && i < len(one); i++ {
		same = one[i] == other[i]
	}
	if same {
		t.Error("two epochs have the same draws")
	}
	_, err = w.sampler.Sample(background, w.data, []int64{600}, gnnmg.RandomKey{})
	fails(t, err, gnnmg.ErrRange)
	_, err = gnnmg.NewSampler(w.graph, func(c *gnnmg.SamplerConfig) { c.Fanouts = make([]int64, 17) })
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.NewSampler(w.graph, func(c *gnnmg.SamplerConfig) {
		equalSlices(t, c.Fanouts, []int64{10, 10})
		equal(t, c.Transpose, true)
		c.EdgeType = 3
	})
	if err == nil {
		t.Error("there is no edge type 3")
	}
}

// A custom sampler that leaves the drawing to the library gives the batches of the built-in one.
func TestCustomSamplerAgrees(t *testing.T) {
	w := newWorld(t)
	fanouts := []int64{5, 3}
	plain := func(c *gnnmg.SamplerConfig) { c.Fanouts = fanouts }
	custom := made[*gnnmg.Sampler](t)(gnnmg.NewCustomSampler(w.graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			return w.graph.SampleNeighbors(0, targets, fanouts[layer.Layer], false, layer.Key, sink)
		}, plain))
	builtIn := made[*gnnmg.Sampler](t)(gnnmg.NewSampler(w.graph, plain, func(c *gnnmg.SamplerConfig) {
		c.Expansion = gnnmg.ExpansionEveryLayer
	}))
	for number := range uint64(5) {
		draw := gnnmg.RandomKey{Seed: 3, Number: number}
		a := made[*gnnmg.Batch](t)(custom.Sample(background, w.data, []int64{1, 2, 3}, draw))
		b := made[*gnnmg.Batch](t)(builtIn.Sample(background, w.data, []int64{1, 2, 3}, draw))
		ids, err := gnnmg.Values[int64](gnnmg.Must(a.NodeIDs()))
		ok(t, err)
		equalSlices(t, ids, gnnmg.Must(gnnmg.Values[int64](gnnmg.Must(b.NodeIDs()))))
	}
}

// Blocks contain exactly the edges that a sampler adds; it may keep the targets that it gets.
func TestSinkTakesEdges(t *testing.T) {
	w := newWorld(t)
	g := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 4, ringSources, ringTargets))
	var kept [][]int64
	var stale *gnnmg.Sink
	sampler := made[*gnnmg.Sampler](t)(gnnmg.NewCustomSampler(g,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			kept, stale = append(kept, targets), sink
			for _, v := range targets {
				sources, ids, err := g.InEdges(0, v)
				if err != nil {
					return err
				}
				into := []int64{v}
				if err := sink.AddEdges(sources, into, ids); err != nil {
					return err
				}
			}
			fails(t, sink.AddEdges([]int64{1}, nil, nil), gnnmg.ErrInvalidArgument)
			return nil
		}, func(c *gnnmg.SamplerConfig) { c.EdgeIDs = true }))
	batch := made[*gnnmg.Batch](t)(sampler.Sample(background, nil, []int64{2}, gnnmg.RandomKey{}))
	ids, err := gnnmg.Values[int64](gnnmg.Must(batch.NodeIDs()))
	ok(t, err)
	equalSlices(t, ids, []int64{2, 1, 0})
	block, err := batch.Block(0)
	ok(t, err)
	equalSlices(t, gnnmg.Must(gnnmg.Values[int64](block.EdgeIDs)), []int64{1, 0})
	equal(t, len(kept), 2)
	equalSlices(t, kept[1], []int64{2, 1})
	fails(t, stale.AddEdges([]int64{1}, []int64{2}, nil), gnnmg.ErrHandle)
	fails(t, g.SampleNeighbors(0, []int64{1}, 1, false, 1, stale), gnnmg.ErrHandle)
	fails(t, g.SampleNeighbors(0, []int64{1}, 1, false, 1, nil), gnnmg.ErrHandle)
	fails(t, (*gnnmg.Sink)(nil).AddEdges(nil, nil, nil), gnnmg.ErrHandle)
	_, err = gnnmg.NewCustomSampler(g, nil)
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.NewCustomSampler(nil, func(gnnmg.LayerInfo, []int64, *gnnmg.Sink) error { return nil })
	fails(t, err, gnnmg.ErrHandle)
}

var errMine = errors.New("an error of my own")

// The error of the waiting call contains a callback's error, panic or exit.
func TestCallbacksThatFail(t *testing.T) {
	w := newWorld(t)
	wrong := []int64{9999}
	for name, function := range map[string]gnnmg.LayerFunc{
		"error":  func(gnnmg.LayerInfo, []int64, *gnnmg.Sink) error { return errMine },
		"panic":  func(gnnmg.LayerInfo, []int64, *gnnmg.Sink) error { panic("mine") },
		"goexit": func(gnnmg.LayerInfo, []int64, *gnnmg.Sink) error { runtime.Goexit(); return nil },
		"range": func(_ gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			return sink.AddEdges(wrong, targets[:1], nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error) {
				t.Helper()
				fails(t, err, gnnmg.ErrCallback)
				var panicked *gnnmg.PanicError
				if errors.Is(err, errMine) != (name == "error") || errors.As(err, &panicked) != (name == "panic") {
					t.Errorf("got %v", err)
				}
				if panicked != nil && (panicked.Value != "mine" || len(panicked.Stack) == 0) {
					t.Errorf("got %v", panicked)
				}
			}
			sampler := made[*gnnmg.Sampler](t)(gnnmg.NewCustomSampler(w.graph, function))
			_, err := sampler.Sample(background, w.data, []int64{1}, gnnmg.RandomKey{})
			check(err)
			loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, sampler))
			_, err = loader.Next(background)
			check(err)
			ok(t, loader.Start(0, 0))
			_, err = loader.Next(background)
			check(err)
			trainer := made[*gnnmg.Trainer](t)(gnnmg.NewTrainer(w.model, w.data, sampler, nil))
			check(trainer.Run(background, nil))
		})
	}
}

// A trainer of two ranks with a custom sampler, on goroutines that are lent.
func TestCustomSamplerInTraining(t *testing.T) {
	w := newWorld(t)
	var calls atomic.Int64
	sampler := made[*gnnmg.Sampler](t)(gnnmg.NewCustomSampler(w.graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			calls.Add(1)
			if calls.Load()%7 == 0 {
				runtime.GC()
			}
			return w.graph.SampleNeighbors(0, targets, 4, false, layer.Key, sink)
		}))
	trainer := made[*gnnmg.Trainer](t)(gnnmg.NewTrainer(w.model, w.data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.NumEpochs, c.BatchSize = 2, 20, 64
	}))
	ctx, cancel := context.WithCancel(background)
	lent := make(chan error, 2)
	for range 2 {
		go func() { lent <- w.rt.Lend(ctx) }()
	}
	ok(t, trainer.Run(background, nil))
	cancel()
	ok(t, <-lent)
	ok(t, <-lent)
	metrics, err := trainer.Evaluate(background, gnnmg.PartTest)
	ok(t, err)
	if metrics.Accuracy < 0.45 || calls.Load() < 20*6*2 {
		t.Errorf("accuracy %v after %d calls", metrics.Accuracy, calls.Load())
	}
}
