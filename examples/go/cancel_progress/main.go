// Training observed from outside: one goroutine waits for it, another one shows its progress and
// cancels it after a while. The model keeps the weights learned so far.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data := Get(gnnmg.GenerateDataset[gnnmg.PlantedConfig](rt))
	model := Get(gnnmg.NewModel(rt, data))
	trainer := Get(gnnmg.NewTrainer(model, data, nil, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs = 1_000_000 // no deadline
	}))

	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for range 5 {
			time.Sleep(200 * time.Millisecond)
			// [progress]
			p := Get(trainer.Progress())
			fmt.Printf("epoch %d, step %d of %d, loss %.4f, %.0f seeds/s\n", p.Epoch, p.Step, p.NumSteps, p.Loss,
				p.SeedsPerSecond)
			// [progress]
		}
		cancel() // trainer.Stop would end it between two steps
	}()
	err := trainer.Run(ctx, nil)
	<-watched
	var e *gnnmg.Error
	if errors.As(err, &e) {
		fmt.Printf("%s: %s\n", e.Status.String(), e.Text)
	}

	metrics := Get(model.Evaluate(Background, data, gnnmg.PartTest))
	fmt.Printf("test accuracy so far %.4f\n", metrics.Accuracy)
	Expect(errors.Is(err, gnnmg.ErrCancelled) && errors.Is(err, context.Canceled))
}
