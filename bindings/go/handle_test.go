package gnnmg_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"gnnmg"
)

func TestUseAfterClose(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t)
	for range 2 { // closing twice is nothing
		ok(t, trainer.Close())
		ok(t, w.model.Close())
		ok(t, w.graph.Close())
	}
	_, err := w.graph.NumNodes(0)
	fails(t, err, gnnmg.ErrHandle)
	_, err = w.graph.NodeTensors(0)
	fails(t, err, gnnmg.ErrHandle)
	_, err = w.model.Evaluate(background, w.data, gnnmg.PartTest)
	fails(t, err, gnnmg.ErrHandle)
	fails(t, trainer.Run(background, nil), gnnmg.ErrHandle)
	trainer.Cancel()
	if _, err := w.data.Info(); err != nil { // the data set keeps its graph
		t.Error(err)
	}
}

func TestNilAndZeroObjects(t *testing.T) {
	var graph *gnnmg.Graph
	_, err := graph.NumNodes(0)
	fails(t, err, gnnmg.ErrHandle)
	_, err = graph.NodeTypeName(0)
	fails(t, err, gnnmg.ErrHandle)
	ok(t, graph.Close())
	_, err = (&gnnmg.Graph{}).NumNodes(0)
	fails(t, err, gnnmg.ErrHandle)
	_, err = (&gnnmg.Graph{}).EdgeTensors(0)
	fails(t, err, gnnmg.ErrHandle)
	ok(t, (&gnnmg.Loader{}).Close())
	fails(t, (&gnnmg.Dataset{}).Save(background, "x"), gnnmg.ErrHandle)
	_, err = (&gnnmg.Model{}).Embed(background, nil)
	fails(t, err, gnnmg.ErrHandle)
	fails(t, (&gnnmg.Trainer{}).Run(background, nil), gnnmg.ErrHandle)
	_, err = (&gnnmg.Batch{}).Features()
	fails(t, err, gnnmg.ErrHandle)
	ok(t, (&gnnmg.Batch{}).Close())
	_, err = gnnmg.Values[float32](&gnnmg.Tensor{})
	ok(t, err) // no elements
	_, err = gnnmg.NewTrainer(nil, nil, nil, nil)
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.OpenDataset(background, nil, "x")
	fails(t, err, gnnmg.ErrHandle)
	w := newWorld(t) // only optional arguments may be nil
	_, err = gnnmg.NewModel(w.rt, &gnnmg.Dataset{})
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.NewTrainer(w.model, w.data, w.sampler, &gnnmg.Comm{})
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.NewSeedLoader(&gnnmg.Dataset{}, w.sampler, []int64{1})
	fails(t, err, gnnmg.ErrHandle)
	fails(t, (*gnnmg.Comm)(nil).Barrier(background), gnnmg.ErrHandle)
	fails(t, (*gnnmg.Trainer)(nil).Run(background, nil), gnnmg.ErrHandle)
	_, err = (*gnnmg.Loader)(nil).Next(background)
	fails(t, err, gnnmg.ErrHandle)
}

// The collector frees unclosed objects, children and parents in any order.
func TestTheCollectorGivesBack(t *testing.T) {
	before := gnnmg.Live()
	func() {
		rt := gnnmg.Must(gnnmg.NewRuntime())
		graph := gnnmg.Must(gnnmg.Generate(rt, func(c *gnnmg.ErdosRenyiConfig) { c.NumNodes, c.NumEdges = 50, 100 }))
		gnnmg.Must(gnnmg.NewSampler(graph))
		gnnmg.Must(graph.Transformed(gnnmg.TransformCoalesce, 0))
		if gnnmg.Live() < before+4 {
			t.Error("handles are not counted")
		}
	}()
	for range 1000 {
		runtime.GC()
		if gnnmg.Live() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d handles are left", gnnmg.Live()-before)
}

// Calls on objects that another goroutine closes are done or refused, under the race detector too.
func TestCloseBesideCalls(t *testing.T) {
	w := newWorld(t)
	for range 50 {
		graph := gnnmg.Must(w.data.Graph())
		var all sync.WaitGroup
		for range 3 {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					names, err := graph.NodeTensors(0)
					if err != nil {
						fails(t, err, gnnmg.ErrHandle)
						return
					}
					equal(t, names[0].Name, "x")
				}
			}()
		}
		runtime.Gosched()
		ok(t, graph.Close())
		all.Wait()
	}
}

// The collector runs all the time while batches are read whose loader nobody else holds.
func TestCollectionDuringIteration(t *testing.T) {
	w := newWorld(t)
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	seen := 0
	for range 3 {
		for batch, err := range gnnmg.Must(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) {
			c.BatchSize = 32
		})).All(background) {
			ok(t, err)
			rows, err := batch.Features()
			ok(t, err)
			ids, err := gnnmg.Values[int64](gnnmg.Must(batch.NodeIDs()))
			ok(t, err)
			for i, row := range gnnmg.Rows[float32](rows) {
				x, err := gnnmg.Values[float32](gnnmg.Must(w.graph.NodeTensor(0, "x")))
				ok(t, err)
				_ = x // the tensor is gone; nothing reads its rows here
				if len(row) != 8 || ids[i] < 0 || ids[i] >= 600 {
					t.Fatalf("row %d of node %d is %v", i, ids[i], row)
				}
				if i > 20 {
					break
				}
			}
			seen++
		}
	}
	close(done)
	all.Wait()
	if seen < 3*10 {
		t.Errorf("%d batches were seen", seen)
	}
}

func TestTheRuntimeMayGoFirst(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t)
	ok(t, w.rt.Close())
	ok(t, trainer.Run(background, nil))
	if _, err := gnnmg.NewGraph(w.rt); !errors.Is(err, gnnmg.ErrHandle) {
		t.Errorf("got %v", err)
	}
}
