package gnnmg_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gnnmg"
)

func TestErrorsNameWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	_, err := gnnmg.NewSampler(w.graph, func(c *gnnmg.SamplerConfig) { c.Fanouts = nil })
	e := fails(t, err, gnnmg.ErrInvalidArgument)
	equal(t, e.Rank, -1)
	if !strings.Contains(e.Text, "fanouts") {
		t.Errorf("the text names no setting: %s", e.Text)
	}
	if text := err.Error(); !strings.HasPrefix(text, "gnnmg: ERR_INVALID_ARGUMENT: ") {
		t.Error(text)
	}
	equal(t, gnnmg.ErrFormat.String(), "ERR_FORMAT")
	equal(t, gnnmg.Status(-999).Error(), "gnnmg: status -999")
	if errors.Is(err, gnnmg.ErrNotFound) {
		t.Error("an error is of two statuses")
	}
}

// A missing file gives the same error as Go's own functions.
func TestFilesThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	nowhere := filepath.Join(t.TempDir(), "none")
	optimizer := made[*gnnmg.Optimizer](t)(gnnmg.NewOptimizer(w.model))
	_, opened := gnnmg.OpenDataset(background, w.rt, nowhere)
	for call, err := range map[string]error{
		"OpenDataset":      opened,
		"Model.Save":       w.model.Save(background, filepath.Join(nowhere, "model.safetensors")),
		"Model.Load":       w.model.Load(background, nowhere+".pth"),
		"Trainer.Load":     w.trainer(t).Load(background, nowhere),
		"Trainer.LoadHere": w.trainer(t).Load(background, t.TempDir()),
		"Optimizer.Save":   optimizer.Save(background, filepath.Join(nowhere, "optimizer.pth")),
	} {
		e := fails(t, err, gnnmg.ErrNotFound)
		if want := call != "Trainer.LoadHere"; errors.Is(err, fs.ErrNotExist) != want || errors.Is(e.Errno, syscall.ENOENT) != want {
			t.Errorf("%s: errno %d in %v", call, e.Errno, err)
		}
	}
	_, err := w.graph.NodeTensor(0, "nowhere")
	if fails(t, err, gnnmg.ErrNotFound); errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name is taken for a file: %v", err)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	if err := w.model.EmbedToFile(background, w.data, folder); !errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.EEXIST) {
		t.Errorf("got %v", err)
	}
	self, err := os.Executable()
	ok(t, err)
	_, err = gnnmg.OpenDataset(background, w.rt, filepath.Join(self, "inside"))
	if !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v", err)
	}
	for errno, want := range map[syscall.Errno]error{
		syscall.EACCES: fs.ErrPermission, syscall.EPERM: fs.ErrPermission, syscall.EEXIST: fs.ErrExist,
	} {
		if err := error(&gnnmg.Error{Status: gnnmg.ErrIO, Errno: errno}); !errors.Is(err, want) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not %v", err, want)
		}
	}
}

func TestStatusesThatGoHasNamesFor(t *testing.T) {
	w := newWorld(t)
	comms, err := gnnmg.NewCommGroup(w.rt, 2, func(c *gnnmg.CommConfig) { c.Deadline = 50 * time.Millisecond })
	ok(t, err)
	err = comms[0].Barrier(background) // the other one never comes
	fails(t, err, gnnmg.ErrTimeout)
	if !errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ok(t, comms[0].Close())
	ok(t, comms[1].Close())
	sparse := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 2, []int64{0}, []int64{1}))
	ok(t, sparse.SetNodeCSR(0, "words", gnnmg.CSR{NumColumns: 3, Indptr: gnnmg.TensorOf([]int64{0, 1, 2}),
		Indices: gnnmg.TensorOf([]int32{0, 2}), Values: gnnmg.TensorOf([]float32{1, 1})}))
	_, err = sparse.NodeTensor(0, "words")
	fails(t, err, gnnmg.ErrUnsupported)
	if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// Cancelled without a context is no context's end.
	trainer := w.trainer(t, forever)
	ok(t, trainer.Start(nil))
	trainer.Cancel()
	err = trainer.Wait(background)
	fails(t, err, gnnmg.ErrCancelled)
	if errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTextsWithNUL(t *testing.T) {
	w := newWorld(t)
	fails(t, w.data.AddRandomSplit("a\x00b"), gnnmg.ErrInvalidArgument)
	_, err := w.graph.NodeTensor(0, "x\x00")
	fails(t, err, gnnmg.ErrInvalidArgument)
}

// Every thread of C has errors of its own; goroutines move between threads.
func TestErrorsOfManyGoroutines(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 200 {
				if i%2 == 0 {
					_, err := w.graph.NodeTypeName(7)
					if !errors.Is(err, gnnmg.ErrNotFound) || !strings.Contains(err.Error(), "7") {
						t.Errorf("got %v", err)
					}
				} else {
					_, err := w.graph.NodeTensor(0, "nowhere")
					if !errors.Is(err, gnnmg.ErrNotFound) || !strings.Contains(err.Error(), "nowhere") {
						t.Errorf("got %v", err)
					}
				}
			}
		}()
	}
	all.Wait()
}

func TestContextsThatHaveEnded(t *testing.T) {
	w := newWorld(t)
	reason := errors.New("no more time")
	ctx, cancel := context.WithCancelCause(background)
	cancel(reason)
	_, err := w.model.Evaluate(ctx, w.data, gnnmg.PartTest)
	fails(t, err, gnnmg.ErrCancelled)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
		t.Errorf("the causes are not in %v", err)
	}
	late, cancelLate := context.WithDeadline(background, time.Now().Add(-time.Second))
	defer cancelLate()
	if err := w.trainer(t).Run(late, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestMust(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, gnnmg.ErrHandle) {
			t.Errorf("panicked with %v", err)
		}
	}()
	gnnmg.Must(gnnmg.NewGraph(nil))
}
