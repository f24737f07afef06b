package gnnmg_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"gnnmg"
)

// Ends every call with a context at random moments: it succeeds, or it is canceled because the
// context has ended; the objects work afterwards.
func TestContextsEndAtRandomMoments(t *testing.T) {
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	trainer := w.trainer(t, forever)
	loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 8 }))
	optimizer := made[*gnnmg.Optimizer](t)(gnnmg.NewOptimizer(w.model))
	folder, files := t.TempDir(), 0
	fresh := func(ending string) string { files++; return filepath.Join(folder, strconv.Itoa(files)+ending) }
	closed := func(object io.Closer, err error) error {
		if err == nil {
			return object.Close()
		}
		return err
	}
	saved := fresh("")
	ok(t, w.data.Save(background, saved))
	parts := fresh("")
	ok(t, w.data.SaveParts(background, parts, nil, func(c *gnnmg.PartsConfig) { c.Fanouts = nil }))
	weights := fresh(".safetensors")
	ok(t, w.model.Save(background, weights))

	for name, call := range map[string]func(ctx context.Context) error{
		"Loader.Next": func(ctx context.Context) error {
			ok(t, loader.Start(0, 0))
			for batch, err := range loader.All(ctx) {
				if err != nil {
					return err
				}
				ok(t, batch.Close())
			}
			return nil
		},
		"Sampler.Sample": func(ctx context.Context) error {
			batch, err := w.sampler.Sample(ctx, w.data, []int64{1, 2, 3}, gnnmg.RandomKey{})
			return closed(batch, err)
		},
		"Trainer.Run":      func(ctx context.Context) error { return trainer.Run(ctx, nil) },
		"Trainer.Step":     func(ctx context.Context) error { _, err := trainer.Step(ctx); return err },
		"Trainer.Evaluate": func(ctx context.Context) error { _, err := trainer.Evaluate(ctx, gnnmg.PartTest); return err },
		"Trainer.Embed": func(ctx context.Context) error {
			rows, err := trainer.Embed(ctx)
			return closed(rows, err)
		},
		"Trainer.EmbedToFile": func(ctx context.Context) error { return trainer.EmbedToFile(ctx, fresh(".npy")) },
		"Trainer.Save":        func(ctx context.Context) error { return trainer.Save(ctx, fresh("")) },
		"Model.Evaluate":      func(ctx context.Context) error { _, err := w.model.Evaluate(ctx, w.data, gnnmg.PartTest); return err },
		"Model.Embed": func(ctx context.Context) error {
			rows, err := w.model.Embed(ctx, w.data)
			return closed(rows, err)
		},
		"Model.EmbedToFile": func(ctx context.Context) error { return w.model.EmbedToFile(ctx, w.data, fresh(".npy")) },
		"Model.Save":        func(ctx context.Context) error { return w.model.Save(ctx, fresh(".safetensors")) },
		"Model.Load":        func(ctx context.Context) error { return w.model.Load(ctx, weights) },
		"Optimizer.Save":    func(ctx context.Context) error { return optimizer.Save(ctx, fresh(".pth")) },
		"OpenDataset": func(ctx context.Context) error {
			data, err := gnnmg.OpenDataset(ctx, w.rt, saved)
			return closed(data, err)
		},
		"Dataset.Save":      func(ctx context.Context) error { return w.data.Save(ctx, fresh("")) },
		"Dataset.SaveParts": func(ctx context.Context) error { return w.data.SaveParts(ctx, fresh(""), nil) },
		"OpenParts": func(ctx context.Context) error {
			data, err := gnnmg.OpenParts(ctx, w.rt, nil, parts)
			return closed(data, err)
		},
		"NewServer": func(ctx context.Context) error {
			server, err := gnnmg.NewServer(ctx, w.rt, parts, nil, "127.0.0.1:0", "")
			return closed(server, err)
		},
		"Comm.Barrier": func(ctx context.Context) error {
			comms, err := gnnmg.NewCommGroup(w.rt, 2)
			ok(t, err)
			err = comms[0].Barrier(ctx) // the other rank never comes
			ok(t, comms[0].Close())
			ok(t, comms[1].Close())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := 0
			for range 12 {
				ctx, cancel := context.WithTimeout(background, time.Duration(random.IntN(3000))*time.Microsecond)
				if err := call(ctx); err != nil {
					fails(t, err, gnnmg.ErrCancelled)
					if ended++; !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("got %v", err)
					}
				}
				cancel()
			}
			if name == "Comm.Barrier" || name == "Trainer.Run" {
				equal(t, ended, 12) // nothing else would end them
				return
			}
			ok(t, call(background))
		})
	}
}

// Loaders, batches and trainers that several goroutines work with, cancel and close as they like, while the collector runs:
// every call is done or refused with one of the errors that are for this.
func TestManyHandsAtOnce(t *testing.T) {
	w := newWorld(t)
	end := time.Now().Add(1500 * time.Millisecond)
	var all sync.WaitGroup
	start := func(work func(random *rand.Rand)) {
		all.Add(1)
		random := rand.New(rand.NewPCG(3, rand.Uint64()))
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				work(random)
			}
		}()
	}
	expected := func(err error) {
		for _, of := range []error{gnnmg.ErrBusy, gnnmg.ErrHandle, gnnmg.ErrCancelled, gnnmg.ErrAborted, io.EOF} {
			if errors.Is(err, of) {
				return
			}
		}
		if err != nil {
			t.Errorf("got %v", err)
		}
	}

	var mu sync.Mutex // guards the variables but not their objects
	loader := gnnmg.Must(gnnmg.NewLoader(w.data, w.sampler))
	trainer := w.trainer(t, forever)
	shared := func() (*gnnmg.Loader, *gnnmg.Trainer) {
		mu.Lock()
		defer mu.Unlock()
		return loader, trainer
	}
	for range 2 {
		start(func(random *rand.Rand) {
			loader, _ := shared()
			batch, err := loader.Next(background)
			if expected(err); err != nil {
				expected(loader.Start(0, 0))
				return
			}
			x, err := batch.Features()
			expected(err)
			go batch.Close()
			expected(gnnmg.View(x, func(all []float32) error { _ = all[len(all)-1]; return nil }))
		})
	}
	start(func(*rand.Rand) { _, trainer := shared(); expected(trainer.Run(background, nil)) })
	start(func(*rand.Rand) { _, trainer := shared(); _, err := trainer.Step(background); expected(err) })
	start(func(*rand.Rand) { _, trainer := shared(); _, err := trainer.Progress(); expected(err) })
	start(func(random *rand.Rand) {
		time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond)
		loader, trainer := shared()
		[]func(){loader.Cancel, trainer.Cancel, trainer.Stop, runtime.GC}[random.IntN(4)]()
	})
	start(func(random *rand.Rand) {
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(2) == 0 {
			ok(t, loader.Close())
		} // else the collector closes it
		ok(t, trainer.Close())
		loader = gnnmg.Must(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 16 }))
		trainer = gnnmg.Must(gnnmg.NewTrainer(gnnmg.Must(gnnmg.NewModel(w.rt, w.data)), w.data, w.sampler, nil, forever))
	})
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	time.Sleep(time.Until(end))
	for running := true; running; { // cancels every training, also one that was made at the last moment
		select {
		case <-done:
			running = false
		case <-time.After(10 * time.Millisecond):
		}
		loader, trainer := shared()
		trainer.Close()
		loader.Close()
	}
}
