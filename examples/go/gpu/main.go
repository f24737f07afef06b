// GPUs: which there are, and training on all of them; where there is none, why, and training on the
// CPU instead.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

func listDevices(rt *gnnmg.Runtime) {
	gpus, why, err := rt.Devices()
	Check(err)
	if len(gpus) == 0 {
		fmt.Printf("no GPU: %s\n", why)
	}
	for i, gpu := range gpus {
		fmt.Printf("GPU %d: %s (%s), %.1f of %.1f GiB free, %d multiprocessors, capability %d.%d\n", i, gpu.Name,
			gpu.BusID, float64(gpu.FreeMemory)/(1<<30), float64(gpu.TotalMemory)/(1<<30), gpu.Multiprocessors,
			gpu.CapabilityMajor, gpu.CapabilityMinor)
	}
}

func main() {
	rt := Get(gnnmg.NewRuntime())
	defer rt.Close()
	listDevices(rt)
	data, graph := PlantedData(rt, 5000)
	sampler := Get(gnnmg.NewSampler(graph))
	trainer := Get(gnnmg.NewTrainer(SmallModel(rt, data), data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks = 0 // one a GPU, all of them; without any, one on the CPU
		c.NumEpochs, c.BatchSize = 5, 256
		c.BatchesPerStep = 8                              // the same steps on up to 8 GPUs
		c.GraphPlacement = gnnmg.GraphPlacementDevice     // a copy on each GPU
		c.FeaturePlacement = gnnmg.FeaturePlacementCached // hot rows on it, the rest pinned
		c.CacheBytes = 64 << 20
	}))
	defer trainer.Close()
	Check(trainer.Run(Background, func(epoch gnnmg.EpochInfo) error {
		fmt.Printf("epoch %d  validation accuracy %.4f\n", epoch.Epoch+1, epoch.ValidationAccuracy)
		return nil
	}))
	metrics := Get(trainer.Evaluate(Background, gnnmg.SplitTest))
	fmt.Printf("test accuracy %.4f\n", metrics.Accuracy)
}
