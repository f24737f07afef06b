package gnnmg

import (
	"context"
	"runtime"

	"gnnmg/internal/raw"
)

// SetRecord has the trainer write its figures, epoch by epoch, from its next start on; of several
// processes the first one does. "" for the path: no longer.
func (t *Trainer) SetRecord(record Record, path string) error {
	defer runtime.KeepAlive(t)
	p, err := nameOrNone("path", path)
	if err != nil {
		return err
	}
	return failure(raw.TrainerSetRecord(t.token(), int32(record), p))
}

// SetCheckpoints has the trainer write checkpoints into a folder, from its next start on: after so
// many steps or seconds, where neither is asked for after each epoch, and in any case when training
// ends or is stopped. "" for the folder: no more of them.
func (t *Trainer) SetCheckpoints(folder string, options ...func(*CheckpointConfig)) error {
	defer runtime.KeepAlive(t)
	config := configure[raw.CheckpointConfig](options)
	f, err := nameOrNone("folder", folder)
	if err != nil {
		return err
	}
	return failure(raw.TrainerSetCheckpoints(t.token(), f, config))
}

// Save writes a checkpoint now, between two steps, into a folder that does not exist.
func (t *Trainer) Save(ctx context.Context, path string) error {
	return t.checkpoint(ctx, path, raw.TrainerSave)
}

// Load continues from a checkpoint, or from the newest that is whole in a folder of them: with the
// same bits on the same number of ranks, with the same mini-batches and steps on another.
func (t *Trainer) Load(ctx context.Context, path string) error {
	return t.checkpoint(ctx, path, raw.TrainerLoad)
}

func (t *Trainer) checkpoint(ctx context.Context, path string,
	call func(trainer uintptr, path *byte, timeoutMs int64) raw.Result) error {
	p, err := name("path", path)
	if err != nil {
		return err
	}
	_, err = t.await(ctx, func(timeoutMs int64) raw.Result { return call(t.token(), p, timeoutMs) })
	return err
}

// Optimizer returns the trainer's optimizer, whose state can be saved and loaded between two calls of
// the trainer's; load the matching weights into its model. In a job of several processes all save or
// load, and the first one writes or reads.
func (t *Trainer) Optimizer() (*Optimizer, error) {
	defer runtime.KeepAlive(t)
	if t == nil {
		return nil, errNil("Trainer")
	}
	r, token := raw.TrainerGetOptimizer(t.token())
	if err := failure(r); err != nil {
		return nil, err
	}
	o := &Optimizer{cancel: t.Cancel}
	return adopt(o, &o.handle, token, raw.OptimizerFree), nil
}
