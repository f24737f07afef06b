// A custom training loop over two ranks, with one goroutine each and, if there are two, one GPU
// each: batches, forward, backward, one all-reduce, one update. It gives the same numbers as
// Trainer.Run.
package main

import (
	"fmt"
	"sync"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	ranks  = 2
	epochs = 5
)

// train is one rank's work, with its replica of the model and its end of the communicator.
func train(data *gnnmg.Dataset, sampler *gnnmg.Sampler, model *gnnmg.Model, comm *gnnmg.Comm, rank int) {
	// [loader]
	place := Get(model.Info())
	loader := Get(gnnmg.NewLoader(data, sampler, func(c *gnnmg.LoaderConfig) {
		c.BatchSize, c.Rank, c.WorldSize = 256, rank, ranks
		c.Device, c.DeviceIndex = place.Device, place.DeviceIndex // same as the model
	}))
	// [loader]
	defer loader.Close()
	optimizer := Get(gnnmg.NewOptimizer(model))
	defer optimizer.Close()
	gradients := Get(model.Gradients()) // all of them, one array
	defer gradients.Close()

	for epoch := range epochs {
		epochLoss, steps := []float64{0}, 0
		// [loop]
		for batch, err := range loader.All(Background) {
			Check(err)
			Check(model.Train(batch))
			epochLoss[0] += Get(model.Backward(gnnmg.LossAuto)) // share of the step's loss
			if Get(batch.Info()).LastOfStep {                   // every rank gets here once a step
				Check(comm.AllReduce(Background, gradients, gnnmg.ReduceSum))
				Check(optimizer.Step())
				steps++
			}
		}
		// [loop]
		Check(comm.AllReduce(Background, gnnmg.TensorOf(epochLoss), gnnmg.ReduceSum))
		if rank == 0 {
			fmt.Printf("epoch %d  mean loss of a step %.4f\n", epoch+1, epochLoss[0]/float64(steps))
		}
	}
	Check(comm.Shutdown(Background))
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 5000)
	sampler := Get(gnnmg.NewSampler(graph))
	gpus, _, err := rt.Devices()
	Check(err)
	on := "the CPU"
	if len(gpus) >= ranks {
		on = "GPUs"
	}
	fmt.Printf("%d ranks on %s\n", ranks, on)
	comms := Get(gnnmg.NewCommGroup(rt, ranks))
	first := Get(gnnmg.NewModel(rt, data))
	replicas := []*gnnmg.Model{first, Get(first.Copy())}

	var all sync.WaitGroup
	for rank, comm := range comms {
		// [device]
		if len(gpus) >= ranks {
			Check(replicas[rank].SetDevice(gnnmg.DeviceCUDA, rank, 0))
		}
		// [device]
		all.Add(1)
		go func() {
			defer all.Done()
			train(data, sampler, replicas[rank], comm, rank)
		}()
	}
	all.Wait()

	metrics := Get(first.Evaluate(Background, data, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f\n", metrics.Accuracy)
	Expect(metrics.Accuracy > 0.5)
}
