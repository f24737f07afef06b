package gnnmg_test

import (
	"path/filepath"
	"testing"

	"gnnmg"
)

// newStack is a model of custom layers for the world's data.
func newStack(t *testing.T, w *world, seed uint64) *gnnmg.Model {
	t.Helper()
	model := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.Seed = gnnmg.ArchitectureLayers, seed
	}))
	ok(t, model.AddLinear("encoder", 12, true))
	ok(t, model.AddActivation("", gnnmg.ActivationReLU))
	ok(t, model.AddConv("conv1", func(c *gnnmg.ModelConfig) {
		c.Architecture, c.OutputDim, c.Heads = gnnmg.ArchitectureGATv2, 8, 2
	}))
	ok(t, model.AddNorm("bn1", gnnmg.NormBatch, func(c *gnnmg.NormConfig) { c.Momentum = 0.5 }))
	ok(t, model.AddNorm("", gnnmg.NormPair, func(c *gnnmg.NormConfig) { c.Scale = 2 }))
	ok(t, model.AddActivation("act1", gnnmg.ActivationPReLU))
	ok(t, model.AddDropout(0.2))
	ok(t, model.AddConv("conv2", func(c *gnnmg.ModelConfig) { c.OutputDim = 8 }))
	ok(t, model.AddLinear("head", 3, false))
	return model
}

func TestLayersOfOnesOwn(t *testing.T) {
	w := newWorld(t)
	stack := newStack(t, w, 1)
	trainer := made[*gnnmg.Trainer](t)(gnnmg.NewTrainer(stack, w.data, w.sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.BatchSize, c.NumEpochs = 64, 6
	}))
	var first, last float64
	ok(t, trainer.Run(background, func(e gnnmg.EpochInfo) error {
		if last = e.TrainLoss; e.Epoch == 0 {
			first = last
		}
		return nil
	}))
	if last >= first {
		t.Errorf("the loss went from %v to %v", first, last)
	}
	info, err := stack.Info()
	ok(t, err)
	equal(t, info.Architecture, gnnmg.ArchitectureLayers)
	equal(t, info.NumLayers, 2)
	equal(t, info.OutputDim, 3)
	keys := map[string]bool{}
	names, err := stack.TensorKeys()
	ok(t, err)
	for _, key := range names {
		keys[key.Key] = key.Trained
	}
	for _, key := range []string{"encoder.bias", "bn1.module.weight", "act1.weight", "conv2.lin_l.weight", "head.weight"} {
		if !keys[key] {
			t.Errorf("there is no learned %s among %v", key, keys)
		}
	}
	if _, there := keys["head.bias"]; there {
		t.Error("the head has a bias")
	}

	path := filepath.Join(t.TempDir(), "stack.pth")
	ok(t, stack.Save(background, path))
	other := newStack(t, w, 2)
	ok(t, other.Load(background, path))
	equalSlices(t, values[float32](t)(other.Parameters()), values[float32](t)(stack.Parameters()))
	fails(t, stack.AddDropout(0.5), gnnmg.ErrBusy) // the model is in use
}

// Unsuitable layers are refused, and nothing is added.
func TestLayersThatAreRefused(t *testing.T) {
	w := newWorld(t)
	graphs := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, nil, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.InputDim = gnnmg.ArchitectureLayers, 7
	}))
	conv := func(c *gnnmg.ModelConfig) { c.Architecture, c.OutputDim = gnnmg.ArchitectureGIN, 16 }
	ok(t, graphs.AddConv("conv", conv))
	fails(t, graphs.AddConv("conv", conv), gnnmg.ErrInvalidArgument) // the name is taken
	fails(t, graphs.AddConv("other", func(c *gnnmg.ModelConfig) { c.Norm = gnnmg.NormBatch }), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddReadout("pool", gnnmg.ReadoutNone, 0), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddReadout("pool", gnnmg.ReadoutSet2Set, 1<<32), gnnmg.ErrInvalidArgument)
	ok(t, graphs.AddReadout("pool", gnnmg.ReadoutSet2Set, 3))
	fails(t, graphs.AddConv("late", conv), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddReadout("", gnnmg.ReadoutSum, 0), gnnmg.ErrInvalidArgument)
	ok(t, graphs.AddLinear("head", 2, true))
	fails(t, graphs.AddLinear("wide", -1, true), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddLinear("a\x00", 2, true), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddNorm("norm", gnnmg.NormNone), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddNorm("norm", gnnmg.NormBatch, func(c *gnnmg.NormConfig) { c.Momentum = 2 }), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddActivation("act", gnnmg.Activation(99)), gnnmg.ErrInvalidArgument)
	fails(t, graphs.AddDropout(1), gnnmg.ErrInvalidArgument)
	info, err := graphs.Info()
	ok(t, err)
	equal(t, info.NumLayers, 1)
	equal(t, info.OutputDim, 2)

	fails(t, w.model.AddDropout(0.5), gnnmg.ErrInvalidArgument) // the settings define its layers
	fails(t, (*gnnmg.Model)(nil).AddConv("conv", conv), gnnmg.ErrHandle)
}
