package gnnmg_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gnnmg"
)

func TestModelTensors(t *testing.T) {
	w := newWorld(t)
	info, err := w.model.Info()
	ok(t, err)
	equal(t, info.Architecture, gnnmg.ArchitectureSAGE)
	equal(t, info.InputDim, 8)
	equal(t, info.OutputDim, 3)
	keys, err := w.model.TensorKeys()
	ok(t, err)
	equal(t, int64(len(keys)), info.NumTensors)
	learned := 0
	for _, key := range keys {
		tensor, err := w.model.Tensor(key.Key)
		ok(t, err)
		if key.Trained {
			learned += tensor.Len()
		}
		ok(t, tensor.Close())
	}
	equal(t, int64(learned), info.NumParameters)
	key := keys[0].Key
	tensor, err := w.model.Tensor(key)
	ok(t, err)
	fresh := make([]float32, tensor.Len())
	for i := range fresh {
		fresh[i] = float32(i)
	}
	ok(t, w.model.SetTensor(key, gnnmg.TensorOf(fresh, tensor.Shape()...)))
	equalSlices(t, values[float32](t)(tensor, nil), fresh) // same memory
	fails(t, w.model.SetTensor(key, gnnmg.TensorOf(fresh[:1])), gnnmg.ErrInvalidArgument)
	fails(t, w.model.SetTensor("none", gnnmg.TensorOf(fresh)), gnnmg.ErrNotFound)
	fails(t, w.model.SetTensor(key, nil), gnnmg.ErrInvalidArgument)
	_, err = w.model.Gradient("none")
	fails(t, err, gnnmg.ErrNotFound)
	_, err = (*gnnmg.Model)(nil).TensorKeys()
	fails(t, err, gnnmg.ErrHandle)

	twin := made[*gnnmg.Model](t)(w.model.Copy())
	equalSlices(t, values[float32](t)(twin.Parameters()), values[float32](t)(w.model.Parameters()))
	alone := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, nil, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.InputDim, c.OutputDim, c.DType = gnnmg.ArchitectureGATv2, 4, 2, gnnmg.DTypeF64
		c.Heads, c.HiddenDim = 2, 8
	}))
	info, err = alone.Info()
	ok(t, err)
	equal(t, info.DType, gnnmg.DTypeF64)
	_, err = gnnmg.NewModel(w.rt, nil)
	fails(t, err, gnnmg.ErrInvalidArgument)
}

// A custom loop learns, and with a custom gradient it learns the same.
func TestOwnLoop(t *testing.T) {
	w := newWorld(t)
	run := func(ownGradient bool) []float32 {
		model := made[*gnnmg.Model](t)(w.model.Copy())
		optimizer := made[*gnnmg.Optimizer](t)(gnnmg.NewOptimizer(model, func(c *gnnmg.OptimizerConfig) {
			c.Optimizer, c.LearningRate = gnnmg.OptimizerSGD, 0.5
		}))
		rate, err := optimizer.LearningRate()
		ok(t, err)
		equal(t, rate, 0.5)
		ok(t, optimizer.SetLearningRate(0.25))
		loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 60 }))
		for batch, err := range loader.All(background) {
			ok(t, err)
			if ownGradient {
				logits, err := model.Forward(batch)
				ok(t, err)
				labels, err := gnnmg.Values[int64](gnnmg.Must(batch.Labels()))
				ok(t, err)
				ok(t, model.BackwardFrom(crossEntropy(logits, labels)))
				ok(t, logits.Close())
			} else {
				ok(t, model.Train(batch))
				loss, err := model.Backward(gnnmg.LossAuto)
				ok(t, err)
				if loss <= 0 || math.IsNaN(loss) {
					t.Fatalf("the loss is %v", loss)
				}
				gradient := values[float32](t)(model.Gradient("convs.0.lin_l.weight"))
				if sum := sumOf(gradient); sum == 0 {
					t.Error("the gradient is 0")
				}
			}
			ok(t, optimizer.Step())
		}
		equal(t, sumOf(values[float32](t)(model.Gradients())), 0)
		_, err = model.Backward(gnnmg.LossAuto)
		fails(t, err, gnnmg.ErrNotFound)
		fails(t, model.BackwardFrom(nil), gnnmg.ErrInvalidArgument)
		return values[float32](t)(model.Parameters())
	}
	given, own := run(false), run(true)
	for i := range given {
		if math.Abs(float64(given[i]-own[i])) > 1e-4 {
			t.Fatalf("parameter %d is %v by the library's loss, %v by the custom one", i, given[i], own[i])
		}
	}
	_, err := gnnmg.NewOptimizer(w.model, func(c *gnnmg.OptimizerConfig) { c.LearningRate = -1 })
	fails(t, err, gnnmg.ErrInvalidArgument)
}

// An optimizer that reads another one's state goes on as that one would have.
func TestOptimizerState(t *testing.T) {
	w := newWorld(t)
	twin := made[*gnnmg.Model](t)(w.model.Copy())
	models := []*gnnmg.Model{w.model, twin}
	optimizers := make([]*gnnmg.Optimizer, 2)
	for i, model := range models {
		optimizers[i] = made[*gnnmg.Optimizer](t)(gnnmg.NewOptimizer(model))
	}
	batch := made[*gnnmg.Batch](t)(w.sampler.Sample(background, w.data, []int64{1, 2, 3, 4}, gnnmg.RandomKey{}))
	step := func(which int) {
		t.Helper()
		ok(t, models[which].Train(batch))
		_, err := models[which].Backward(gnnmg.LossAuto)
		ok(t, err)
		ok(t, optimizers[which].Step())
	}
	for range 3 {
		step(0)
	}
	folder := t.TempDir()
	weights, state := filepath.Join(folder, "model.safetensors"), filepath.Join(folder, "optimizer.pth")
	ok(t, w.model.Save(background, weights))
	ok(t, optimizers[0].Save(background, state))
	ok(t, twin.Load(background, weights))
	ok(t, optimizers[1].Load(background, state))
	step(0)
	step(1)
	equalSlices(t, values[float32](t)(twin.Parameters()), values[float32](t)(w.model.Parameters()))

	fails(t, optimizers[0].Save(background, filepath.Join(folder, "none", "x.pth")), gnnmg.ErrNotFound)
	fails(t, optimizers[0].Load(background, filepath.Join(folder, "none.pth")), gnnmg.ErrNotFound)
	fails(t, optimizers[0].Load(background, "a\x00"), gnnmg.ErrInvalidArgument)
	other := func(c *gnnmg.ModelFileConfig) { c.OtherFramework = true }
	ok(t, optimizers[0].Save(background, state, other)) // GraphSAGE's layers have another order there
	fails(t, optimizers[1].Load(background, state), gnnmg.ErrFormat)
	ok(t, optimizers[1].Load(background, state, other))
	ended, cancel := context.WithCancel(background)
	cancel()
	fails(t, optimizers[0].Save(ended, state), gnnmg.ErrCancelled)
	fails(t, (*gnnmg.Optimizer)(nil).Load(background, state), gnnmg.ErrHandle)
}

// crossEntropy is the gradient of the mean cross entropy by the logits.
func crossEntropy(logits *gnnmg.Tensor, labels []int64) *gnnmg.Tensor {
	gradient := make([]float32, 0, logits.Len())
	for i, row := range gnnmg.Rows[float32](logits) {
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(float64(v))
		}
		for class, v := range row {
			p := math.Exp(float64(v)) / sum
			if int64(class) == labels[i] {
				p--
			}
			gradient = append(gradient, float32(p/float64(len(labels))))
		}
	}
	return gnnmg.TensorOf(gradient, logits.Shape()...)
}

func sumOf(all []float32) (sum float64) {
	for _, v := range all {
		sum += math.Abs(float64(v))
	}
	return sum
}

func TestModelFiles(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	before := values[float32](t)(w.model.Parameters())
	for _, file := range []string{"model.safetensors", "model.pth"} {
		path := filepath.Join(folder, file)
		ok(t, w.model.Save(background, path))
		fresh := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) { c.HiddenDim, c.Seed = 16, 9 }))
		ok(t, fresh.Load(background, path))
		equalSlices(t, values[float32](t)(fresh.Parameters()), before)
		opened := made[*gnnmg.Model](t)(gnnmg.OpenModel(w.rt, path))
		equalSlices(t, values[float32](t)(opened.Parameters()), before)
		settings, err := w.model.Settings()
		ok(t, err)
		same, err := opened.Settings()
		ok(t, err)
		equal(t, same, settings)
		config, err := opened.Config()
		ok(t, err)
		equal(t, config.HiddenDim, 16)
		narrow := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 8 }))
		fails(t, narrow.Load(background, path), gnnmg.ErrMismatch)
	}
	ok(t, w.model.Save(background, filepath.Join(folder, "x"), func(c *gnnmg.ModelFileConfig) {
		equal(t, c.FirstLayer, "")
		c.FirstLayer, c.Format = "conv1", gnnmg.ModelFormatSafetensors
	}))
	text, err := os.ReadFile(filepath.Join(folder, "x"))
	ok(t, err)
	if !contains(text, "conv2.lin_l.weight") {
		t.Error("the layers are not called conv1, conv2")
	}
	fails(t, w.model.Save(background, filepath.Join(folder, "y"), func(c *gnnmg.ModelFileConfig) {
		c.FirstLayer = "conv\x00"
	}), gnnmg.ErrInvalidArgument)
	fails(t, w.model.Load(background, filepath.Join(folder, "none")), gnnmg.ErrNotFound)
}

// A model's settings make another one like it, all of them.
func TestConfigIsComplete(t *testing.T) {
	w := newWorld(t)
	first := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.Heads, c.Concat, c.Dropout = gnnmg.ArchitectureGAT, 2, false, 0.1
		c.Jumping, c.Norm, c.NormEpsilon, c.Seed = gnnmg.JumpingCat, gnnmg.NormBatch, 1e-3, math.MaxUint64
		c.Bias, c.DType = false, gnnmg.DTypeF64
	}))
	config, err := first.Config()
	ok(t, err)
	equal(t, config.Jumping, gnnmg.JumpingCat)
	equal(t, config.InputDim, 8)
	second := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) { *c = config }))
	want, err := first.Settings()
	ok(t, err)
	got, err := second.Settings()
	ok(t, err)
	equal(t, got, want)
	equalSlices(t, values[float64](t)(second.Parameters()), values[float64](t)(first.Parameters()))
	_, err = (*gnnmg.Model)(nil).Config()
	fails(t, err, gnnmg.ErrHandle)
}

func contains(text []byte, part string) bool {
	for i := 0; i+len(part) <= len(text); i++ {
		if string(text[i:i+len(part)]) == part {
			return true
		}
	}
	return false
}

func TestEvaluateAndEmbed(t *testing.T) {
	w := newWorld(t)
	metrics, err := w.model.Evaluate(background, w.data, gnnmg.PartTest)
	ok(t, err)
	equal(t, metrics.Task, gnnmg.TaskMulticlass)
	equal(t, metrics.Count, 120)
	equal(t, metrics.Accuracy, float64(metrics.Correct)/float64(metrics.Count))
	rows, err := w.model.Embed(background, w.data)
	ok(t, err)
	equalSlices(t, rows.Shape(), []int64{600, 3})
	all := values[float32](t)(rows, nil)
	path := filepath.Join(t.TempDir(), "rows.npy")
	ok(t, w.model.EmbedToFile(background, w.data, path))
	file, err := os.Stat(path)
	ok(t, err)
	if file.Size() < int64(4*len(all)) {
		t.Errorf("the file has %d bytes", file.Size())
	}
	first, err := w.model.EvaluateTopK(background, w.data, gnnmg.PartTest, 1)
	ok(t, err)
	equal(t, first.TopKAccuracy, metrics.Accuracy)
	same, matrix, err := w.model.Confusion(background, w.data, gnnmg.PartTest)
	ok(t, err)
	equal(t, same.Loss, metrics.Loss)
	counts, err := gnnmg.Values[int64](matrix)
	ok(t, err)
	classes, correct := matrix.Shape()[0], int64(0)
	for c := range classes {
		correct += counts[c*classes+c]
	}
	equal(t, correct, metrics.Correct)
	_, err = w.model.Evaluate(background, nil, gnnmg.PartTest)
	fails(t, err, gnnmg.ErrHandle)
	_, err = w.model.Evaluate(background, w.data, gnnmg.Part(9))
	fails(t, err, gnnmg.ErrInvalidArgument)
}
