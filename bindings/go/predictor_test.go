package gnnmg_test

import (
	"sync"
	"testing"

	"gnnmg"
)

func TestPredictor(t *testing.T) {
	w := newWorld(t)
	predictor := made[*gnnmg.Predictor](t)(gnnmg.NewPredictor(w.model, w.data, func(c *gnnmg.PredictorConfig) {
		c.Fanouts, c.Seed = []int64{5, 3}, 2
	}))
	ids := []int64{7, 42, 7, 599}
	logits, err := gnnmg.Predict[float32](predictor, ids, gnnmg.OutputLogits)
	ok(t, err)
	equal(t, len(logits), 4*3)
	equalSlices(t, logits[:3], logits[6:9])
	shares, err := gnnmg.Predict[float32](predictor, ids, gnnmg.OutputProbabilities)
	ok(t, err)
	if sum := shares[0] + shares[1] + shares[2]; sum < 0.999 || sum > 1.001 {
		t.Errorf("probabilities add up to %v", sum)
	}
	classes, err := gnnmg.Predict[int64](predictor, ids, gnnmg.OutputClasses)
	ok(t, err)
	equal(t, len(classes), 4)
	rows, err := gnnmg.Predict[float32](predictor, ids, gnnmg.OutputEmbeddings)
	ok(t, err)
	equal(t, len(rows), 4*16)
	none, err := gnnmg.Predict[float32](predictor, nil, gnnmg.OutputLogits)
	ok(t, err)
	equal(t, len(none), 0)

	// Goroutines get the same while the model is trained.
	trainer := w.trainer(t, plain)
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 20 {
				again, err := gnnmg.Predict[float32](predictor, ids, gnnmg.OutputLogits)
				if err != nil {
					t.Error(err)
				}
				equalSlices(t, again, logits)
			}
		}()
	}
	var snapshots []*gnnmg.Model
	ok(t, trainer.Run(background, func(gnnmg.EpochInfo) error {
		snapshot, err := trainer.Snapshot()
		snapshots = append(snapshots, snapshot)
		return err
	}))
	group.Wait()
	equal(t, len(snapshots), 3)
	for _, snapshot := range snapshots {
		closing(t, snapshot, nil)
	}
	equalSlices(t, values[float32](t)(snapshots[2].Parameters()), values[float32](t)(w.model.Parameters()))
	info, err := predictor.Info()
	ok(t, err)
	equal(t, info.NumIDs, 600)
	equal(t, info.NumCalls, 5+60)
	equal(t, info.Exact, false)
}

func TestPredictorMistakes(t *testing.T) {
	w := newWorld(t)
	_, err := gnnmg.NewPredictor(w.model, w.data, func(c *gnnmg.PredictorConfig) { c.Fanouts = []int64{5, -2} })
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.NewPredictor(w.model, nil)
	fails(t, err, gnnmg.ErrHandle)
	predictor := made[*gnnmg.Predictor](t)(gnnmg.NewPredictor(w.model, w.data))
	_, err = gnnmg.Predict[float32](predictor, []int64{600}, gnnmg.OutputLogits)
	fails(t, err, gnnmg.ErrRange)
	_, err = gnnmg.Predict[float64](predictor, []int64{6}, gnnmg.OutputLogits)
	fails(t, err, gnnmg.ErrInvalidArgument)
	var none *gnnmg.Predictor
	_, err = gnnmg.Predict[int64](none, []int64{6}, gnnmg.OutputClasses)
	fails(t, err, gnnmg.ErrHandle)
	ok(t, none.Close())
	var trainer *gnnmg.Trainer
	_, err = trainer.Snapshot()
	fails(t, err, gnnmg.ErrHandle)
}
