// GPUs: lists them, trains on all of them, and runs a pass on the first. Without a GPU it prints
// the reason and does the same on the CPU.
package main

import (
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

// listDevices prints the GPUs of this process, and returns the device to use.
func listDevices(rt *gnnmg.Runtime) gnnmg.DeviceType {
	// [devices]
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
	// [devices]
	if len(gpus) == 0 {
		return gnnmg.DeviceCPU
	}
	return gnnmg.DeviceCUDA
}

// printResults shows the model's result for the first mini-batch, which is made on the device.
func printResults(rt *gnnmg.Runtime, data *gnnmg.Dataset, sampler *gnnmg.Sampler, model *gnnmg.Model, device gnnmg.DeviceType) {
	loader := Get(gnnmg.NewLoader(data, sampler, func(c *gnnmg.LoaderConfig) { c.Device, c.Shuffle = device, false }))
	defer loader.Close()
	Check(model.SetDevice(device, 0, 0))
	batch := Get(loader.Next(Background))
	defer batch.Close()
	there := Get(model.Infer(batch))
	defer there.Close()
	rows := make([]float32, there.Len())
	Check(gnnmg.TensorOf(rows, there.Shape()...).CopyFrom(rt, there))
	for i, score := range rows[:there.Shape()[1]] {
		fmt.Printf("%s%.2f", []string{"scores ", " "}[min(i, 1)], score)
	}
	fmt.Println()
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	device := listDevices(rt)
	data, graph := PlantedData(rt, 5000)
	sampler := Get(gnnmg.NewSampler(graph))
	model := SmallModel(rt, data)
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks = 0 // one per GPU, or one on the CPU
		c.NumEpochs, c.BatchSize = 5, 256
		c.BatchesPerStep = 8                              // the same steps on up to 8 GPUs
		c.GraphPlacement = gnnmg.GraphPlacementDevice     // a copy on each GPU
		c.FeaturePlacement = gnnmg.FeaturePlacementCached // hot rows on it, the rest pinned
		c.CacheBytes = 64 << 20
	}))
	Check(trainer.Run(Background, func(epoch gnnmg.EpochInfo) error {
		fmt.Printf("epoch %d  validation accuracy %.4f\n", epoch.Epoch+1, epoch.Validation.Accuracy)
		return nil
	}))
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f\n", metrics.Accuracy)
	trainer.Close() // works on the model's device
	printResults(rt, data, sampler, model, device)
}
