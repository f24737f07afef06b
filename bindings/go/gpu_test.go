package gnnmg_test

import (
	"math"
	"os"
	"strconv"
	"testing"

	"gnnmg"
)

// epochOn trains a copy of the model for an epoch where `device` and `index` say, and gives the losses
// of its mini-batches, the node ids of the first one and the weights, all in memory of Go's.
func epochOn(t *testing.T, w *world, device gnnmg.DeviceType, index int) (losses []float64, ids []int64, weights []float32) {
	t.Helper()
	gpu := -1
	if device == gnnmg.DeviceCUDA {
		gpu = index
	}
	model := made[*gnnmg.Model](t)(w.model.Copy())
	ok(t, model.SetDevice(device, index, 0))
	info, err := model.Info()
	ok(t, err)
	equal(t, info.Device, device)
	equal(t, info.DeviceIndex, index)
	loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) {
		c.BatchSize, c.Device, c.DeviceIndex = 64, device, index
	}))
	optimizer := made[*gnnmg.Optimizer](t)(gnnmg.NewOptimizer(model))
	fails(t, model.SetDevice(gnnmg.DeviceCPU, 0, 0), gnnmg.ErrBusy)
	for batch, err := range loader.All(background) {
		ok(t, err)
		if ids == nil {
			nodes := made[*gnnmg.Tensor](t)(batch.NodeIDs())
			equal(t, nodes.GPU(), gpu)
			ids = make([]int64, nodes.Len())
			ok(t, gnnmg.TensorOf(ids).CopyFrom(w.rt, nodes))
			if gpu >= 0 {
				_, err := gnnmg.Values[int64](nodes)
				fails(t, err, gnnmg.ErrUnsupported)
				fails(t, w.graph.SetNodeTensor(0, "far", nodes), gnnmg.ErrUnsupported)
				fails(t, w.model.Train(batch), gnnmg.ErrInvalidArgument)
			}
		}
		ok(t, model.Train(batch))
		loss, err := model.Backward(gnnmg.LossAuto)
		ok(t, err)
		losses = append(losses, loss)
		ok(t, optimizer.Step())
	}
	parameters := made[*gnnmg.Tensor](t)(model.Parameters())
	equal(t, parameters.GPU(), gpu)
	weights = make([]float32, parameters.Len())
	ok(t, gnnmg.TensorOf(weights).CopyFrom(w.rt, parameters))
	ok(t, parameters.CopyFrom(w.rt, gnnmg.TensorOf(weights)))
	return losses, ids, weights
}

// The caller's own loop on each GPU gives the CPU's results. GNNMG_TEST_GPUS is the number of GPUs
// that must exist; without any the CPU is compared with itself.
func TestGPULoop(t *testing.T) {
	w := newWorld(t)
	gpus, _, err := w.rt.Devices()
	ok(t, err)
	if wanted := os.Getenv("GNNMG_TEST_GPUS"); wanted != "" {
		equal(t, strconv.Itoa(len(gpus)), wanted)
	}
	losses, ids, weights := epochOn(t, w, gnnmg.DeviceCPU, 0)
	for index := range max(len(gpus), 1) {
		device := gnnmg.DeviceCUDA
		if len(gpus) == 0 {
			device = gnnmg.DeviceCPU
		}
		thereLosses, thereIDs, thereWeights := epochOn(t, w, device, index)
		equalSlices(t, thereIDs, ids)
		equal(t, len(thereLosses), len(losses))
		for i := range losses {
			if !(math.Abs(thereLosses[i]-losses[i]) < 1e-4) {
				t.Errorf("device %d: loss %d is %v, expected %v", index, i, thereLosses[i], losses[i])
			}
		}
		for i := range weights {
			if !(math.Abs(float64(thereWeights[i]-weights[i])) < 1e-3) {
				t.Fatalf("device %d: weight %d is %v, expected %v", index, i, thereWeights[i], weights[i])
			}
		}
	}
	err = w.model.SetDevice(gnnmg.DeviceCUDA, len(gpus), 0)
	if len(gpus) > 0 {
		fails(t, err, gnnmg.ErrNotFound)
	} else {
		fails(t, err, gnnmg.ErrDependency)
	}
}

// A trainer takes all GPUs of the process, and says so.
func TestGPUTrainer(t *testing.T) {
	w := newWorld(t)
	gpus, _, err := w.rt.Devices()
	ok(t, err)
	run := func(device gnnmg.DeviceType) float64 {
		trainer := w.trainer(t, func(c *gnnmg.TrainerConfig) { c.Device, c.NumRanks, c.BatchesPerStep = device, 0, 2 })
		loss := 0.0
		ok(t, trainer.Run(background, func(epoch gnnmg.EpochInfo) error {
			loss = epoch.TrainLoss
			return nil
		}))
		return loss
	}
	first := w.model
	w.model = made[*gnnmg.Model](t)(first.Copy())
	here := run(gnnmg.DeviceCPU)
	if len(gpus) == 0 {
		t.Skip("there is no GPU")
	}
	w.model = made[*gnnmg.Model](t)(first.Copy())
	if there := run(gnnmg.DeviceCUDA); !(math.Abs(there-here) < 1e-3) {
		t.Errorf("on GPUs the loss is %v, on the CPU %v", there, here)
	}
}

// Two GPUs by number, with captured steps, products in bf16 and a feature cache on each, or one
// that both share: planned in advance, and reported for each rank afterwards.
func TestGPUTrainerOfTwo(t *testing.T) {
	w := newWorld(t)
	if gpus, _, err := w.rt.Devices(); err != nil || len(gpus) < 2 {
		t.Skip("there are no two GPUs", err)
	}
	first := w.model
	for _, placement := range []gnnmg.FeaturePlacement{gnnmg.FeaturePlacementCached, gnnmg.FeaturePlacementSplit} {
		w.model = made[*gnnmg.Model](t)(first.Copy())
		trainer := w.trainer(t, func(c *gnnmg.TrainerConfig) {
			c.Devices, c.BatchesPerStep = []int64{1, 0}, 2
			c.GraphPlacement, c.FeaturePlacement, c.CacheBytes = gnnmg.GraphPlacementDevice, placement, 4096
			c.Precision, c.Capture = gnnmg.PrecisionBF16, gnnmg.CaptureOn
		})
		plan, err := trainer.MemoryInfo(0)
		ok(t, err)
		equal(t, plan.FeaturePlacement, placement)
		if !plan.Fits || plan.CaptureBytes == 0 || plan.NumCached == 0 {
			t.Error("the plan of two GPUs", plan)
		}
		ok(t, trainer.Run(background, nil))
		ranks, err := trainer.Ranks()
		ok(t, err)
		equal(t, len(ranks), 2)
		for i, rank := range ranks {
			equal(t, rank.Rank, i)
			equal(t, rank.Device, 1-i)
			if rank.NumRowsThere == 0 || rank.NumRowsThere >= rank.NumRows || !(rank.Times.Compute > 0) {
				t.Error("a cache of some of the rows", rank)
			}
		}
	}
}
