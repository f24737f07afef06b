package gnnmg

import (
	"context"
	"runtime"

	"gnnmg/internal/raw"
)

// An Optimizer turns a model's gradients into updates, in custom loops. That of a trainer can only be
// saved and loaded.
type Optimizer struct {
	handle
	cancel func() // ends the wait for a trainer's ranks
}

// NewOptimizer makes an optimizer over a model's parameters.
func NewOptimizer(m *Model, options ...func(*OptimizerConfig)) (*Optimizer, error) {
	defer runtime.KeepAlive(m)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.OptimizerCreate(m.token(), words)
	if err := failure(r); err != nil {
		return nil, err
	}
	o := &Optimizer{cancel: func() {}}
	return adopt(o, &o.handle, token, raw.OptimizerFree), nil
}

// Close frees the optimizer.
func (o *Optimizer) Close() error {
	if o == nil {
		return nil
	}
	return o.end()
}

// Step makes one update from the gradients as they stand; afterwards they are 0 again.
func (o *Optimizer) Step() error {
	defer runtime.KeepAlive(o)
	return failure(raw.OptimizerStep(o.token()))
}

// SetLearningRate changes the learning rate.
func (o *Optimizer) SetLearningRate(rate float64) error {
	defer runtime.KeepAlive(o)
	return failure(raw.OptimizerSetLearningRate(o.token(), rate))
}

// LearningRate is the learning rate.
func (o *Optimizer) LearningRate() (float64, error) {
	defer runtime.KeepAlive(o)
	r, rate := raw.OptimizerLearningRate(o.token())
	return rate, failure(r)
}

// Save writes the optimizer's state, such as the moments of Adam, into a .pth file, as the state
// dict of PyTorch's optimizer of that kind; whole or not at all. Use the settings with which the
// model's weights are saved. Writing never waits for other calls; `ctx` is checked before it
// begins.
func (o *Optimizer) Save(ctx context.Context, path string, options ...func(*ModelFileConfig)) error {
	return o.file(ctx, path, options, raw.OptimizerSave)
}

// Load reads such a state dict, of an optimizer of the same kind over an equal model; all or nothing.
// The learning rate and the other settings stay.
func (o *Optimizer) Load(ctx context.Context, path string, options ...func(*ModelFileConfig)) error {
	return o.file(ctx, path, options, raw.OptimizerLoad)
}

func (o *Optimizer) file(ctx context.Context, path string, options []func(*ModelFileConfig),
	call func(optimizer uintptr, path *byte, settings *byte, timeoutMs int64) raw.Result) error {
	defer runtime.KeepAlive(o)
	words, err := settings(options)
	if err != nil {
		return err
	}
	p, err := name("path", path)
	if err != nil {
		return err
	}
	if o == nil {
		return errNil("Optimizer")
	}
	_, err = await(ctx, o.cancel, func(timeoutMs int64) raw.Result { return call(o.token(), p, words, timeoutMs) })
	return err
}
