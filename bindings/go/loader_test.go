package gnnmg_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"gnnmg"
)

func TestAnEpochHasEachSeedOnce(t *testing.T) {
	w := newWorld(t)
	loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 100 }))
	info, err := loader.Info()
	ok(t, err)
	equal(t, info.NumSeeds, 360)
	equal(t, info.NumBatches, 4)
	for range 2 {
		var seen []int64
		for batch, err := range loader.All(background) {
			ok(t, err)
			seeds, err := gnnmg.Values[int64](gnnmg.Must(batch.Seeds()))
			ok(t, err)
			seen = append(seen, seeds...)
		}
		slices.Sort(seen)
		equalSlices(t, seen, values[int64](t)(w.data.SplitIDs(gnnmg.PartTrain)))
	}
}

func TestBatch(t *testing.T) {
	w := newWorld(t)
	loader := made[*gnnmg.Loader](t)(gnnmg.NewSeedLoader(w.data, w.sampler, []int64{7, 8, 9}, func(c *gnnmg.LoaderConfig) {
		c.BatchSize, c.Shuffle, c.NumThreads = 2, false, 0
	}))
	batch := made[*gnnmg.Batch](t)(loader.Next(background))
	info, err := batch.Info()
	ok(t, err)
	equal(t, info.NumSeeds, 2)
	equal(t, info.NumLayers, 2)
	equal(t, info.FeatureDim, 8)
	equal(t, info.LastOfStep, true)
	equal(t, info.SparseFeatures, false)
	ids, err := gnnmg.Values[int64](gnnmg.Must(batch.NodeIDs()))
	ok(t, err)
	equal(t, int64(len(ids)), info.NumNodes)
	equalSlices(t, ids[:2], []int64{7, 8})

	all := values[float32](t)(w.graph.NodeTensor(0, "x"))
	features, err := batch.Features()
	ok(t, err)
	equalSlices(t, features.Shape(), []int64{info.NumNodes, 8})
	equal(t, features.ReadOnly(), true)
	for i, row := range gnnmg.Rows[float32](features) {
		equalSlices(t, row, all[8*ids[i]:8*ids[i]+8])
	}
	again, err := batch.Features()
	ok(t, err)
	equal(t, again, features) // the same tensor
	labels := values[int64](t)(w.data.Labels())
	equalSlices(t, gnnmg.Must(gnnmg.Values[int64](gnnmg.Must(batch.Labels()))), []int64{labels[7], labels[8]})
	equalSlices(t, gnnmg.Must(gnnmg.Values[float64](gnnmg.Must(batch.Weights()))), []float64{1, 1})

	for layer := range info.NumLayers {
		sizes, err := batch.BlockInfo(layer)
		ok(t, err)
		block, err := batch.Block(layer)
		ok(t, err)
		indptr, err := gnnmg.Values[int32](block.Indptr)
		ok(t, err)
		equal(t, int64(len(indptr)), sizes.NumTargets+1)
		equal(t, int64(block.Indices.Len()), sizes.NumEdges)
		if block.EdgeIDs != nil {
			t.Error("the sampler keeps no edge ids")
		}
	}
	_, err = batch.Block(2)
	fails(t, err, gnnmg.ErrNotFound)
	_, err = batch.SparseFeatures()
	fails(t, err, gnnmg.ErrUnsupported)
	_, err = batch.GraphPtr()
	fails(t, err, gnnmg.ErrNotFound)

	ok(t, batch.Close())
	_, err = batch.Seeds()
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.Values[float32](features)
	fails(t, err, gnnmg.ErrHandle)
	_, err = (*gnnmg.Batch)(nil).Block(0)
	fails(t, err, gnnmg.ErrHandle)
}

func TestSparseFeaturesOfABatch(t *testing.T) {
	w := newWorld(t)
	g := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 4, ringSources, ringTargets))
	ok(t, g.SetNodeCSR(0, "x", gnnmg.CSR{NumColumns: 6, Indptr: gnnmg.TensorOf([]int64{0, 2, 2, 3, 3}),
		Indices: gnnmg.TensorOf([]int32{0, 5, 2}), Values: gnnmg.TensorOf([]float32{1, 3, 2})}))
	data := made[*gnnmg.Dataset](t)(gnnmg.NewDataset(g, "x", "", gnnmg.TaskNone, 0))
	sampler := made[*gnnmg.Sampler](t)(gnnmg.NewSampler(g))
	batch := made[*gnnmg.Batch](t)(sampler.Sample(background, data, []int64{2, 0}, gnnmg.RandomKey{}))
	csr, err := batch.SparseFeatures()
	ok(t, err)
	equal(t, csr.NumColumns, 6)
	equalSlices(t, gnnmg.Must(gnnmg.Values[int32](csr.Indices))[:3], []int32{2, 0, 5})
	_, err = batch.Labels()
	fails(t, err, gnnmg.ErrNotFound)
}

func TestStartCancelAndEnd(t *testing.T) {
	w := newWorld(t)
	loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 100 }))
	ok(t, loader.Start(3, 3))
	info, err := loader.Info()
	ok(t, err)
	equal(t, info.Epoch, 3)
	for range 2 {
		ok(t, loader.Start(3, 3)) // the last step of the epoch
		batch, err := loader.Next(background)
		ok(t, err)
		ok(t, batch.Close())
		if _, err = loader.Next(background); err != io.EOF {
			t.Errorf("got %v", err)
		}
	}
	loader.Cancel()
	_, err = loader.Next(background)
	fails(t, err, gnnmg.ErrCancelled)
	ok(t, loader.Start(0, 0))
	for batch, err := range loader.All(background) {
		ok(t, err)
		equal(t, gnnmg.Must(batch.Info()).Epoch, 0)
		break // the batch is closed, the loader stays in the middle of the epoch
	}
	left := 0
	for _, err := range loader.All(background) {
		ok(t, err)
		left++
	}
	equal(t, left, 3)
	fails(t, loader.Start(0, 100), gnnmg.ErrInvalidArgument)
	_, err = gnnmg.NewSeedLoader(w.data, w.sampler, []int64{-1})
	fails(t, err, gnnmg.ErrRange)
	_, err = gnnmg.NewLoader(w.data, nil)
	fails(t, err, gnnmg.ErrHandle)
}

// A context that ends while a sampler keeps the loader waiting ends the wait.
func TestContextEndsAWait(t *testing.T) {
	w := newWorld(t)
	blocked := make(chan struct{})
	slow := made[*gnnmg.Sampler](t)(gnnmg.NewCustomSampler(w.graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			<-blocked
			return w.graph.SampleNeighbors(0, targets, 2, false, layer.Key, sink)
		}))
	loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, slow))
	ctx, cancel := context.WithTimeout(background, 30*time.Millisecond)
	defer cancel()
	go func() {
		<-ctx.Done()
		time.Sleep(200 * time.Millisecond)
		close(blocked) // a callback that runs cannot be ended from outside
	}()
	_, err := loader.Next(ctx)
	fails(t, err, gnnmg.ErrCancelled)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	var errs []error
	for _, err := range loader.All(background) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], gnnmg.ErrCancelled) {
		t.Errorf("a canceled loader gives %v", errs)
	}
	ok(t, loader.Start(0, 0))
	batch, err := loader.Next(background)
	ok(t, err)
	ok(t, batch.Close())
}

func TestTwoGoroutinesOnALoader(t *testing.T) {
	w := newWorld(t)
	loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 4 }))
	counts := make(chan int)
	for range 2 {
		go func() {
			n := 0
			for {
				batch, err := loader.Next(background)
				if errors.Is(err, gnnmg.ErrBusy) {
					continue
				}
				if err != nil {
					// Both results of the other goroutine's Close: no handle, or a canceled wait.
					if err != io.EOF && !errors.Is(err, gnnmg.ErrHandle) && !errors.Is(err, gnnmg.ErrCancelled) {
						t.Error(err)
					}
					loader.Close() // so that the other one ends too
					counts <- n
					return
				}
				batch.Close()
				n++
			}
		}()
	}
	if n := <-counts + <-counts; n < 90 {
		t.Errorf("%d batches", n)
	}
}
