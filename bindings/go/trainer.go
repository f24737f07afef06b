package gnnmg

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"gnnmg/internal/raw"
)

// A Trainer is the whole loop over one or many ranks: order, sampling, gradients, updates,
// evaluation, the best weights kept. From a start until a wait has reported its end it holds its
// model, and other work on that is [ErrBusy].
//
// With a communicator among processes each of them makes a trainer, and these train one model
// together; all methods that take a context, and Start, are then collective.
type Trainer struct {
	handle
	rt      *Runtime
	sampler *Sampler

	mu      sync.Mutex
	onEpoch *callback // callback of the last start
	loss    *callback // the loss function, or nil
}

// NewTrainer makes a trainer. Objects that do not suit each other are refused here. A nil sampler
// draws 10 neighbors a layer, or takes whole graphs from a data set of many. A nil communicator stands
// for the ranks of this process alone.
func NewTrainer(m *Model, d *Dataset, s *Sampler, c *Comm, options ...func(*TrainerConfig)) (*Trainer, error) {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(d)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(c)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.TrainerCreate(m.token(), d.token(), s.token(), c.token(), nil, words)
	if err := failure(r); err != nil {
		return nil, err
	}
	t := &Trainer{rt: m.runtime(), sampler: s}
	return adopt(t, &t.handle, token, raw.TrainerFree), nil
}

// Close frees the trainer and cancels running training.
func (t *Trainer) Close() error {
	if t == nil {
		return nil
	}
	return t.end()
}

// An EpochFunc is called after each epoch. An error or a panic ends training with an error in which
// [errors.Is] and [errors.As] find it.
type EpochFunc func(epoch EpochInfo) error

// begin registers a function for the next start; it may be nil.
func (t *Trainer) begin(onEpoch EpochFunc) raw.EpochFunc {
	c := &callback{}
	t.mu.Lock()
	t.onEpoch = c
	t.loss.forget()
	t.mu.Unlock()
	if t.sampler != nil {
		t.sampler.callback.forget()
	}
	if onEpoch == nil {
		return nil
	}
	return func(info *raw.EpochInfo) int32 {
		var epoch EpochInfo
		epoch.from(info)
		return c.run(func() error { return onEpoch(epoch) })
	}
}

// blame adds the error of a callback.
func (t *Trainer) blame(err error) error {
	t.mu.Lock()
	c, loss := t.onEpoch, t.loss
	t.mu.Unlock()
	return t.sampler.blame(loss.blame(c.blame(err)))
}

// Run trains the remaining epochs. The end of `ctx` cancels training; another run continues from
// the last step. `onEpoch` may be nil.
func (t *Trainer) Run(ctx context.Context, onEpoch EpochFunc) error {
	defer runtime.KeepAlive(t)
	if t == nil {
		return errNil("Trainer")
	}
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if ctx.Done() == nil {
		return t.blame(failure(raw.TrainerRun(t.token(), t.begin(onEpoch))))
	}
	if err := t.Start(onEpoch); err != nil {
		return err
	}
	_, err := awaitStarted(ctx, t.Cancel, func(timeoutMs int64) raw.Result {
		return raw.TrainerWait(t.token(), timeoutMs)
	})
	return t.blame(err)
}

// Start starts training and returns at once; Wait reports its end. `onEpoch` may be nil; it runs
// while a Wait waits.
func (t *Trainer) Start(onEpoch EpochFunc) error {
	defer runtime.KeepAlive(t)
	if t == nil {
		return errNil("Trainer")
	}
	return failure(raw.TrainerStart(t.token(), t.begin(onEpoch)))
}

// Wait waits for the end of training and runs callbacks meanwhile. It returns nil when all epochs
// are done or Stop has taken effect. When `ctx` ends so does the waiting, with the context's error
// alone; training goes on, and another Wait may follow.
func (t *Trainer) Wait(ctx context.Context) error {
	defer runtime.KeepAlive(t)
	if t == nil {
		return errNil("Trainer")
	}
	for {
		timeout := int64(slice)
		if ctx.Done() == nil {
			timeout = -1
		}
		r := raw.TrainerWait(t.token(), timeout)
		if r.Status != raw.Pending {
			return t.blame(failure(r))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// Stop asks for an orderly end: all ranks end after the same step, waits return nil, and another
// start continues from there.
func (t *Trainer) Stop() {
	defer runtime.KeepAlive(t)
	raw.TrainerStop(t.token())
}

// Cancel ends the trainer's work at once; the waiting call returns [ErrCancelled], on other
// processes [ErrAborted]. Another start continues from the last step.
func (t *Trainer) Cancel() {
	defer runtime.KeepAlive(t)
	raw.TrainerCancel(t.token())
}

// Step makes one step on all ranks, the validation included where one is due, and tells its exact
// loss; [io.EOF] after the last step of the last epoch.
func (t *Trainer) Step(ctx context.Context) (float64, error) {
	var loss float64
	status, err := t.await(ctx, func(timeoutMs int64) (r raw.Result) {
		r, loss = raw.TrainerStep(t.token(), timeoutMs)
		return r
	})
	if err == nil && status == raw.End {
		err = io.EOF
	}
	return loss, err
}

// await makes a call that waits, which the end of `ctx` cancels.
func (t *Trainer) await(ctx context.Context, call func(timeoutMs int64) raw.Result) (int32, error) {
	defer runtime.KeepAlive(t)
	if t == nil {
		return 0, errNil("Trainer")
	}
	status, err := await(ctx, t.Cancel, call)
	return status, t.blame(err)
}

// Evaluate is exact metrics over a part of the split, on all ranks.
func (t *Trainer) Evaluate(ctx context.Context, part Part) (Metrics, error) {
	metrics, _, err := t.evaluate(ctx, part, false)
	return metrics, err
}

// Confusion is Evaluate with the confusion matrix of [Model.Confusion].
func (t *Trainer) Confusion(ctx context.Context, part Part) (Metrics, *Tensor, error) {
	return t.evaluate(ctx, part, true)
}

func (t *Trainer) evaluate(ctx context.Context, part Part, confusion bool) (Metrics, *Tensor, error) {
	return evaluated(confusion, func(metrics *raw.Metrics, call func(raw.Result, uintptr) raw.Result) error {
		_, err := t.await(ctx, func(timeoutMs int64) raw.Result {
			return call(raw.TrainerEvaluate(t.token(), int32(part), metrics, confusion, timeoutMs))
		})
		return err
	})
}

// Embed is the model's result for every node, [nodes, output], computed by all ranks.
func (t *Trainer) Embed(ctx context.Context) (*Tensor, error) {
	var rows uintptr
	var result raw.Result
	_, err := t.await(ctx, func(timeoutMs int64) raw.Result {
		result, rows = raw.TrainerEmbed(t.token(), 0, nil, true, timeoutMs)
		return result
	})
	if err != nil {
		return nil, err
	}
	return adoptTensor(result, rows)
}

// EmbedToFile is Embed straight into a .npy file, which appears whole or not at all.
func (t *Trainer) EmbedToFile(ctx context.Context, path string) error {
	p, err := name("path", path)
	if err != nil {
		return err
	}
	_, err = t.await(ctx, func(timeoutMs int64) raw.Result {
		r, _ := raw.TrainerEmbed(t.token(), 0, p, false, timeoutMs)
		return r
	})
	return err
}

// Progress is the position of training, also while it runs.
func (t *Trainer) Progress() (ProgressInfo, error) {
	defer runtime.KeepAlive(t)
	return fetch[ProgressInfo](func(info *raw.ProgressInfo) raw.Result { return raw.TrainerProgress(t.token(), info) })
}

// RankInfo returns the times of one of this process's ranks, counted from 0, and the bytes that its
// GPU has read over the bus: in the current epoch, or, before its first step is done, in the
// previous one.
func (t *Trainer) RankInfo(index int) (RankInfo, error) {
	defer runtime.KeepAlive(t)
	return fetch[RankInfo](func(info *raw.RankInfo) raw.Result {
		return raw.TrainerGetRankInfo(t.token(), int64(index), info)
	})
}

// Ranks returns RankInfo of all ranks of this process, in order.
func (t *Trainer) Ranks() ([]RankInfo, error) {
	var ranks []RankInfo
	for {
		rank, err := t.RankInfo(len(ranks))
		if errors.Is(err, ErrNotFound) {
			return ranks, nil
		}
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, rank)
	}
}

// MemoryInfo returns the largest need of the training on a GPU with gpuBytes of memory, which need
// not exist; 0: with the free memory of the first rank's GPU.
func (t *Trainer) MemoryInfo(gpuBytes uint64) (MemoryInfo, error) {
	defer runtime.KeepAlive(t)
	return fetch[MemoryInfo](func(info *raw.MemoryInfo) raw.Result {
		return raw.TrainerGetMemoryInfo(t.token(), gpuBytes, info)
	})
}

// Snapshot is a copy of the model as of the last step that is done, also while training runs and in
// its callback; running statistics of batch norms belong to it. Of a training on GPUs it is the last
// state in main memory: of the end of an epoch, before the callback, or of a checkpoint.
func (t *Trainer) Snapshot() (*Model, error) {
	defer runtime.KeepAlive(t)
	r, token := raw.TrainerSnapshot(t.token())
	if t == nil {
		return nil, errNil("Trainer")
	}
	return adoptModel(t.rt, r, token)
}

// Model is the model that is trained.
func (t *Trainer) Model() (*Model, error) {
	defer runtime.KeepAlive(t)
	r, token := raw.TrainerGetModel(t.token())
	if t == nil {
		return nil, errNil("Trainer")
	}
	return adoptModel(t.rt, r, token)
}
