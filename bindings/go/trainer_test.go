package gnnmg_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gnnmg"
)

// plain leaves the model with the weights of the last step.
func plain(c *gnnmg.TrainerConfig) { c.EvaluateEvery, c.KeepBest = 0, false }

// forever is training that only a test ends.
func forever(c *gnnmg.TrainerConfig) { c.NumEpochs, c.EvaluateEvery = 1_000_000, 0 }

func TestRunAndSteps(t *testing.T) {
	w := newWorld(t)
	start := values[float32](t)(w.model.Parameters())
	var epochs []gnnmg.EpochInfo
	trainer := w.trainer(t, plain)
	ok(t, trainer.Run(background, func(e gnnmg.EpochInfo) error {
		epochs = append(epochs, e)
		return nil
	}))
	equal(t, len(epochs), 3)
	equal(t, epochs[2].Epoch, 2)
	equal(t, epochs[2].Validation == nil, true)
	byRun := values[float32](t)(w.model.Parameters())

	other := newWorld(t)
	trainer = other.trainer(t, plain)
	steps := 0
	for {
		loss, err := trainer.Step(background)
		if err == io.EOF {
			break
		}
		ok(t, err)
		if steps++; loss <= 0 {
			t.Errorf("the loss is %v", loss)
		}
	}
	equal(t, int64(steps), 3*epochs[0].NumSteps)
	equalSlices(t, values[float32](t)(other.model.Parameters()), byRun)
	if byRun[0] == start[0] {
		t.Error("nothing was learned")
	}
	progress, err := trainer.Progress()
	ok(t, err)
	equal(t, progress.State, gnnmg.TrainerStateFinished)
	rank, err := trainer.RankInfo(0)
	ok(t, err)
	if rank.Device != -1 || !(rank.Times.Compute > 0) {
		t.Error("the first rank has not computed on the CPU", rank)
	}
	rest := rank.Times.Total - rank.Times.Compute - rank.Times.Reduce - rank.Times.Optimizer
	if !(rank.IdleSeconds > 0) || math.Abs(rank.IdleSeconds-rest) > 1e-9 {
		t.Error("idle is not what is left of the time", rank)
	}
	ranks, err := trainer.Ranks()
	ok(t, err)
	equal(t, len(ranks), 1)
	equal(t, ranks[0], rank)
	plan, err := trainer.MemoryInfo(80_000_000_000)
	ok(t, err)
	if !plan.Fits || plan.TotalBytes <= plan.StepBytes {
		t.Error("the plan of a large GPU", plan)
	}
	model := made[*gnnmg.Model](t)(trainer.Model())
	equalSlices(t, values[float32](t)(model.Parameters()), byRun)
	_, err = (*gnnmg.Trainer)(nil).Model()
	fails(t, err, gnnmg.ErrHandle)
}

// With a context that may end the same numbers come out.
func TestRunWithAContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	trainer := w.trainer(t, plain)
	epochs := 0
	ok(t, trainer.Run(ctx, func(gnnmg.EpochInfo) error { epochs++; return nil }))
	equal(t, epochs, 3)
	other := newWorld(t)
	ok(t, other.trainer(t, plain).Run(background, nil))
	equalSlices(t, values[float32](t)(w.model.Parameters()), values[float32](t)(other.model.Parameters()))
}

func TestContextCancelsTraining(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t, forever)
	ctx, cancel := context.WithCancel(background)
	err := trainer.Run(ctx, func(e gnnmg.EpochInfo) error {
		if e.Epoch == 1 {
			cancel()
		}
		return nil
	})
	fails(t, err, gnnmg.ErrCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// The progress stays, and training goes on.
	stop := errors.New("enough")
	err = trainer.Run(background, func(e gnnmg.EpochInfo) error {
		if e.Epoch < 1 {
			t.Errorf("it went back to epoch %d", e.Epoch)
		}
		return stop
	})
	fails(t, err, gnnmg.ErrCallback)
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	deadline, cancelDeadline := context.WithTimeout(background, 50*time.Millisecond)
	defer cancelDeadline()
	if err := trainer.Run(deadline, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestEpochCallbackThatPanics(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t)
	var panicked *gnnmg.PanicError
	err := trainer.Run(background, func(gnnmg.EpochInfo) error { panic(errMine) })
	fails(t, err, gnnmg.ErrCallback)
	if !errors.As(err, &panicked) || panicked.Value != errMine {
		t.Errorf("got %v", err)
	}
	// A callback may make calls that do not wait; others are refused there, or the object is busy.
	ok(t, trainer.Run(background, func(gnnmg.EpochInfo) error {
		if _, err := trainer.Progress(); err != nil {
			return err
		}
		if _, err := w.graph.NumNodes(0); err != nil {
			return err
		}
		_, err := w.model.Evaluate(background, w.data, gnnmg.PartTest)
		fails(t, err, gnnmg.ErrBusy)
		_, err = trainer.Step(background)
		fails(t, err, gnnmg.ErrBusy)
		fails(t, trainer.Run(background, nil), gnnmg.ErrBusy)
		return nil
	}))
}

func TestStartWaitStop(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t, forever)
	epochs := make(chan int64, 1<<20)
	ok(t, trainer.Start(func(e gnnmg.EpochInfo) error { epochs <- e.Epoch; return nil }))
	short, cancel := context.WithTimeout(background, 10*time.Millisecond)
	defer cancel()
	if err := trainer.Wait(short); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		<-epochs
		progress, err := trainer.Progress()
		ok(t, err)
		equal(t, progress.NumEpochs, 1_000_000)
		_, err = w.model.Parameters()
		if err != nil && !errors.Is(err, gnnmg.ErrBusy) {
			t.Error(err)
		}
		trainer.Stop()
	}()
	ok(t, trainer.Wait(background))
	all.Wait()

	ok(t, trainer.Start(nil))
	go trainer.Cancel()
	fails(t, trainer.Wait(background), gnnmg.ErrCancelled)
	ok(t, trainer.Start(nil))
	ok(t, trainer.Close()) // cancels
	fails(t, trainer.Wait(background), gnnmg.ErrHandle)
}

func TestEvaluateAndEmbedOfATrainer(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t, func(c *gnnmg.TrainerConfig) { c.NumRanks, c.Deterministic = 2, true })
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	ok(t, trainer.Run(ctx, nil))
	byTrainer, err := trainer.Evaluate(ctx, gnnmg.PartTest)
	ok(t, err)
	byModel, err := w.model.Evaluate(ctx, w.data, gnnmg.PartTest)
	ok(t, err)
	equal(t, byTrainer.Correct, byModel.Correct)
	rows := values[float32](t)(trainer.Embed(ctx))
	equal(t, len(rows), 600*3)
	path := filepath.Join(t.TempDir(), "rows.npy")
	ok(t, trainer.EmbedToFile(ctx, path))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	_, err = trainer.Evaluate(ctx, gnnmg.Part(7))
	fails(t, err, gnnmg.ErrInvalidArgument)
}

func TestRecordsAndCheckpoints(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	record := filepath.Join(folder, "record.jsonl")
	trainer := w.trainer(t, plain)
	ok(t, trainer.SetRecord(gnnmg.RecordJSONLines, record))
	ok(t, trainer.SetCheckpoints(filepath.Join(folder, "checkpoints"), func(c *gnnmg.CheckpointConfig) {
		c.Keep, c.EverySteps = 2, 4
	}))
	ok(t, trainer.Run(background, nil))
	text, err := os.ReadFile(record)
	ok(t, err)
	equal(t, strings.Count(string(text), "\n"), 3)
	ok(t, trainer.Save(background, filepath.Join(folder, "mine")))
	if err := trainer.Save(background, filepath.Join(folder, "mine")); err == nil {
		t.Error("a checkpoint that is there was overwritten")
	}

	other := newWorld(t)
	resumed := other.trainer(t, plain)
	ok(t, resumed.Load(background, filepath.Join(folder, "checkpoints")))
	equalSlices(t, values[float32](t)(other.model.Parameters()), values[float32](t)(w.model.Parameters()))
	if _, err := resumed.Step(background); err != io.EOF {
		t.Errorf("got %v", err)
	}
	seeded := newWorld(t)
	fails(t, seeded.trainer(t, plain, func(c *gnnmg.TrainerConfig) { c.Seed = 4 }).Load(background,
		filepath.Join(folder, "mine")), gnnmg.ErrMismatch)
	fails(t, resumed.Load(background, filepath.Join(folder, "none")), gnnmg.ErrNotFound)
	ok(t, trainer.SetRecord(gnnmg.RecordJSONLines, ""))
	ok(t, trainer.SetCheckpoints(""))

	first, second := filepath.Join(folder, "adam.pth"), filepath.Join(folder, "again.pth")
	mine, theirs := made[*gnnmg.Optimizer](t)(trainer.Optimizer()), made[*gnnmg.Optimizer](t)(resumed.Optimizer())
	ok(t, mine.Save(background, first))
	ok(t, theirs.Load(background, first))
	ok(t, theirs.Save(background, second)) // writes the state that it has read
	wanted, err := os.ReadFile(first)
	ok(t, err)
	found, err := os.ReadFile(second)
	ok(t, err)
	equalSlices(t, found, wanted)
	there := func(c *gnnmg.ModelFileConfig) { c.OtherFramework = true }
	fails(t, theirs.Load(background, first, there), gnnmg.ErrFormat)
	fails(t, theirs.Load(background, "a\x00"), gnnmg.ErrInvalidArgument)
	fails(t, theirs.Step(), gnnmg.ErrUnsupported)
}

func TestConfusionOfATrainer(t *testing.T) {
	w := newWorld(t)
	trainer := w.trainer(t)
	metrics, err := trainer.Evaluate(background, gnnmg.PartTest)
	ok(t, err)
	same, matrix, err := trainer.Confusion(background, gnnmg.PartTest)
	ok(t, err)
	equal(t, same.Loss, metrics.Loss)
	counts, err := gnnmg.Values[int64](matrix)
	ok(t, err)
	var sum int64
	for _, count := range counts {
		sum += count
	}
	equal(t, sum, metrics.Count)
}

func TestSettingsOfATrainer(t *testing.T) {
	w := newWorld(t)
	w.trainer(t, func(c *gnnmg.TrainerConfig) {
		equal(t, c.Deadline, 30*time.Second)
		equal(t, c.StallLimit, 10*time.Minute)
		equal(t, c.LearningRate, 0.01)
		equal(t, c.Shuffle, true)
		equal(t, c.NumEpochs, 3) // the value of the previous option
	}, nil)
	_, err := gnnmg.NewTrainer(w.model, w.data, w.sampler, nil, func(c *gnnmg.TrainerConfig) { c.BatchSize = 0 })
	fails(t, err, gnnmg.ErrInvalidArgument)
	deep := made[*gnnmg.Sampler](t)(gnnmg.NewSampler(w.graph, func(c *gnnmg.SamplerConfig) { c.Fanouts = []int64{1, 1, 1} }))
	_, err = gnnmg.NewTrainer(w.model, w.data, deep, nil)
	fails(t, err, gnnmg.ErrInvalidArgument)
}
