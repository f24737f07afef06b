package gnnmg_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
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

func TestErrnoIsFound(t *testing.T) {
	w := newWorld(t)
	err := w.model.Save(background, filepath.Join(t.TempDir(), "none", "model.safetensors"))
	fails(t, err, gnnmg.ErrNotFound)
	_, err = gnnmg.OpenDataset(background, w.rt, filepath.Join(t.TempDir(), "none"))
	e := fails(t, err, gnnmg.ErrNotFound)
	if e.Errno != 0 && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("errno %v is not found in %v", e.Errno, err)
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
	_, err := w.model.Evaluate(ctx, w.data, gnnmg.SplitTest)
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
