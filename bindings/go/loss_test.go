package gnnmg_test

import (
	"errors"
	"math"
	"testing"

	"gnnmg"
)

// entropy is cross-entropy.
func entropy(batch *gnnmg.LossBatch[float32]) error {
	for i, class := range batch.Classes {
		row := batch.Logits[i*batch.Columns:][:batch.Columns]
		sum := 0.0
		for _, logit := range row {
			sum += math.Exp(float64(logit))
		}
		batch.Loss += batch.Weights[i] * (math.Log(sum) - float64(row[class]))
		for c, logit := range row {
			share := math.Exp(float64(logit)) / sum
			if int64(c) == class {
				share--
			}
			batch.Gradient[i*batch.Columns+c] = float32(batch.Weights[i] * share)
		}
	}
	return nil
}

func TestALossOfOnesOwn(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	ok(t, w.trainer(t, plain).Run(background, nil))
	trainer := other.trainer(t, plain)
	seeds := 0
	ok(t, gnnmg.SetLoss(trainer, func(batch *gnnmg.LossBatch[float32]) error {
		seeds += len(batch.Seeds)
		return entropy(batch)
	}))
	ok(t, trainer.Run(background, nil))
	if seeds == 0 || seeds%3 != 0 {
		t.Error("three epochs are of", seeds, "seeds")
	}
	expected := values[float32](t)(w.model.Parameters())
	for i, weight := range values[float32](t)(other.model.Parameters()) {
		if math.Abs(float64(weight-expected[i])) > 1e-3 {
			t.Fatal(i, weight, expected[i])
		}
	}
	fails(t, gnnmg.SetLoss(trainer, entropy), gnnmg.ErrBusy)

	errMine := errors.New("mine")
	trainer = newWorld(t).trainer(t, plain)
	ok(t, gnnmg.SetLoss(trainer, func(*gnnmg.LossBatch[float32]) error { return errMine }))
	if err := trainer.Run(background, nil); !errors.Is(err, errMine) || !errors.Is(err, gnnmg.ErrCallback) {
		t.Error(err)
	}
	trainer = newWorld(t).trainer(t, plain)
	ok(t, gnnmg.SetLoss(trainer, func(*gnnmg.LossBatch[float64]) error { return nil }))
	fails(t, trainer.Run(background, nil), gnnmg.ErrCallback)
	trainer = newWorld(t).trainer(t, plain)
	ok(t, gnnmg.SetLoss[float32](trainer, nil))
	ok(t, trainer.Run(background, nil))
	if gnnmg.SetLoss[float32](nil, nil) == nil {
		t.Error("a trainer that is nil has no loss")
	}
}

func TestTheRateIsSetOnTheWay(t *testing.T) {
	trainer := newWorld(t).trainer(t, plain)
	ok(t, trainer.SetLearningRate(0.4))
	var rates []float64
	ok(t, trainer.Run(background, func(e gnnmg.EpochInfo) error {
		rates = append(rates, e.LearningRate)
		return trainer.SetLearningRate(e.LearningRate / 2)
	}))
	equalSlices(t, rates, []float64{0.4, 0.2, 0.1})
	fails(t, trainer.SetLearningRate(-1), gnnmg.ErrInvalidArgument)
}

func TestFrozenParametersStay(t *testing.T) {
	w := newWorld(t)
	fails(t, w.model.SetTrainable("none.*", true), gnnmg.ErrNotFound)
	fails(t, w.model.SetTrainable("nul\x00", true), gnnmg.ErrInvalidArgument)
	ok(t, w.model.SetTrainable("convs.0.*", false))
	const key = "convs.0.lin_l.weight"
	before := append([]float32(nil), values[float32](t)(w.model.Tensor(key))...)
	ok(t, w.trainer(t, plain).Run(background, nil))
	equalSlices(t, values[float32](t)(w.model.Tensor(key)), before)
	_, err := w.model.Gradient(key)
	fails(t, err, gnnmg.ErrNotFound)
	fails(t, w.model.SetTrainable("*", true), gnnmg.ErrBusy)
}
