package gnnmg_test

import (
	"runtime"
	"testing"

	"gnnmg"
	"gnnmg/internal/raw"
)

// The cost of a call that does next to nothing.
func BenchmarkProperty(b *testing.B) {
	w := newWorld(b)
	raw.OnReach = nil
	for b.Loop() {
		if n, err := w.graph.NumNodes(0); err != nil || n != 600 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkInfo(b *testing.B) {
	w := newWorld(b)
	raw.OnReach = nil
	for b.Loop() {
		if _, err := w.data.Info(); err != nil {
			b.Fatal(err)
		}
	}
}

// A mini-batch with its tensors as slices.
func BenchmarkBatch(b *testing.B) {
	w := newWorld(b)
	raw.OnReach = nil
	loader := made[*gnnmg.Loader](b)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 64 }))
	for b.Loop() {
		for batch, err := range loader.All(background) {
			ok(b, err)
			x, err := gnnmg.Values[float32](gnnmg.Must(batch.Features()))
			ok(b, err)
			runtime.KeepAlive(x)
		}
	}
}
