package gnnmg

import (
	"fmt"
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A LossBatch is a mini-batch whose loss a function computes. Its slices are row by row, in the
// library's memory, and live as long as the call; T is the model's type.
type LossBatch[T float32 | float64] struct {
	Seeds   []int64   // ids of the rows: nodes or graphs
	Columns int       // outputs of the model
	Logits  []T       // a row for each seed
	Classes []int64   // labels, -1 for none; nil for other tasks
	Targets []T       // labels of other tasks, NaN for none; nil for classes
	Weights []float64 // weights of the labels, in their shape; 0 without a label
	// Gradient is 0 before the call. The function fills it with the gradient of Loss with respect
	// to Logits.
	Gradient []T
	Loss     float64 // the function sets it: the sum of the weighted losses of the rows
	// Weight divides Loss and Gradient, added up over all mini-batches of a step on all ranks. The
	// sum of Weights before the call.
	Weight float64
}

// SetLoss replaces the loss of training by a function, which runs once a mini-batch, one call at a
// time, while a call waits for the trainer; nil: the loss of the settings. Evaluations use that of the
// settings. An error or a panic ends training with an error in which [errors.Is] and [errors.As] find
// it. The trainer works on the CPU, and has not trained or evaluated yet. All processes set a
// function, or none.
func SetLoss[T float32 | float64](t *Trainer, loss func(batch *LossBatch[T]) error) error {
	defer runtime.KeepAlive(t)
	if t == nil {
		return errNil("Trainer")
	}
	if loss == nil {
		return failure(raw.TrainerSetLoss(t.token(), nil))
	}
	c := &callback{}
	err := failure(raw.TrainerSetLoss(t.token(), func(given *raw.LossBatch) int32 {
		return c.run(func() error { return computeLoss(given, loss) })
	}))
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loss = c
	return nil
}

func computeLoss[T float32 | float64](given *raw.LossBatch, loss func(batch *LossBatch[T]) error) error {
	var zero T
	wanted := DTypeF32
	if unsafe.Sizeof(zero) == 8 {
		wanted = DTypeF64
	}
	if DType(given.DType) != wanted {
		return fmt.Errorf("the loss is a function of %T, and the model's type is %v", zero, DType(given.DType))
	}
	rows, columns := int(given.NumRows), int(given.NumColumns)
	batch := LossBatch[T]{
		Seeds:    unsafe.Slice((*int64)(given.Seeds), rows),
		Columns:  columns,
		Logits:   unsafe.Slice((*T)(given.Logits), rows*columns),
		Gradient: unsafe.Slice((*T)(given.Gradient), rows*columns),
		Weight:   given.Weight,
	}
	labels := rows
	if given.Classes != nil {
		batch.Classes = unsafe.Slice((*int64)(given.Classes), rows)
	} else {
		labels = rows * columns
		batch.Targets = unsafe.Slice((*T)(given.Targets), labels)
	}
	batch.Weights = unsafe.Slice((*float64)(given.Weights), labels)
	err := loss(&batch)
	given.Loss, given.Weight = batch.Loss, batch.Weight
	return err
}

// SetLearningRate sets the rate in place of that of the settings and their schedule, from the next
// epoch or the next Step on; also in the function of Run. All ranks use it; several processes that set
// different rates end with [ErrMismatch]. Checkpoints keep it, those at the end of an epoch as it was
// before the function of Run.
func (t *Trainer) SetLearningRate(rate float64) error {
	defer runtime.KeepAlive(t)
	return failure(raw.TrainerSetLearningRate(t.token(), rate))
}
