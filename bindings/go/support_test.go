package gnnmg_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"gnnmg"
	"gnnmg/internal/raw"
)

// reached counts the calls of each function of the header.
var reached [len(raw.Functions)]atomic.Int64

// TestMain holds the whole run against two rules: every function of the header is called, and
// everything has been given back at the end.
func TestMain(m *testing.M) {
	if os.Getenv("GNNMG_TEST_EXIT") != "" {
		exitDuringTraining()
	}
	raw.OnReach = func(index int) { reached[index].Add(1) }
	flag.Parse()
	if err := raw.Load(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	if code == 0 && !(everythingBack() && everythingCalled()) {
		code = 1
	}
	os.Exit(code)
}

func everythingBack() bool {
	for range 1000 {
		if gnnmg.Live() == 0 {
			return true
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("%d handles and tensors have not been given back\n", gnnmg.Live())
	return false
}

func everythingCalled() bool {
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" ||
		testing.Short() || flag.Lookup("test.list").Value.String() != "" {
		return true // a part of the tests reaches a part of the functions
	}
	missing := 0
	for i, function := range raw.Functions {
		// Model.Config reads the text of gnnmg_model_get_settings(), where that struct has a part of it; objects free
		// themselves.
		if reached[i].Load() == 0 && function != "gnnmg_model_get_config" && function != "gnnmg_context_close" {
			fmt.Printf("no test reaches %s\n", function)
			missing++
		}
	}
	fmt.Printf("%d of %d functions of the header are reached\n", len(raw.Functions)-missing, len(raw.Functions))
	return missing == 0
}

var background = context.Background()

// closing closes a test's object when the test ends.
func closing[T interface{ Close() error }](t testing.TB, object T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := object.Close(); err != nil {
			t.Error(err)
		}
	})
	return object
}

// made returns the result of a call and closes it when the test ends: made(t)(gnnmg.NewGraph(rt)).
func made[T interface{ Close() error }](t testing.TB) func(T, error) T {
	t.Helper()
	return func(object T, err error) T {
		t.Helper()
		return closing(t, object, err)
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails checks that an error is of a status and returns it.
func fails(t testing.TB, err error, status gnnmg.Status) *gnnmg.Error {
	t.Helper()
	var e *gnnmg.Error
	if !errors.Is(err, status) || !errors.As(err, &e) {
		t.Fatalf("got %v, expected %v", err, status)
	}
	if e.Text == "" {
		t.Errorf("%v has no text", err)
	}
	return e
}

func equal[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, expected %v", got, want)
	}
}

func equalSlices[T comparable](t testing.TB, got, want []T) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = got[i] == want[i]
	}
	if !same {
		t.Errorf("got %v, expected %v", got, want)
	}
}

// values is the elements of a tensor that was just made; it is closed at once.
func values[T gnnmg.Element](t testing.TB) func(*gnnmg.Tensor, error) []T {
	t.Helper()
	return func(tensor *gnnmg.Tensor, err error) []T {
		t.Helper()
		ok(t, err)
		all, err := gnnmg.Copy[T](tensor)
		ok(t, err)
		ok(t, tensor.Close())
		return all
	}
}

// A world is a small generated graph with a data set, a sampler and a model on it.
type world struct {
	rt      *gnnmg.Runtime
	graph   *gnnmg.Graph
	data    *gnnmg.Dataset
	sampler *gnnmg.Sampler
	model   *gnnmg.Model
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{rt: made[*gnnmg.Runtime](t)(gnnmg.NewRuntime(func(c *gnnmg.RuntimeConfig) { c.NumThreads = 1 }))}
	w.graph = made[*gnnmg.Graph](t)(gnnmg.Generate(w.rt, func(c *gnnmg.PlantedConfig) {
		c.NumNodes, c.NumClasses, c.NumFeatures, c.MeanDegree = 600, 3, 8, 6
	}))
	w.data = made[*gnnmg.Dataset](t)(gnnmg.NewDataset(w.graph, "x", "y", gnnmg.TaskMulticlass, 3))
	ok(t, w.data.AddRandomSplit("random"))
	w.sampler = made[*gnnmg.Sampler](t)(gnnmg.NewSampler(w.graph, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = []int64{5, 3}
	}))
	w.model = made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 16 }))
	return w
}

func (w *world) trainer(t testing.TB, options ...func(*gnnmg.TrainerConfig)) *gnnmg.Trainer {
	t.Helper()
	small := func(c *gnnmg.TrainerConfig) { c.BatchSize, c.NumEpochs = 64, 3 }
	return made[*gnnmg.Trainer](t)(gnnmg.NewTrainer(w.model, w.data, w.sampler, nil,
		append([]func(*gnnmg.TrainerConfig){small}, options...)...))
}
