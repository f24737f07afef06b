// A custom loss in a custom loop: cross-entropy with smoothed labels. The model returns its
// results, the program computes the gradient of the loss.
package main

import (
	"fmt"
	"math"

	"gnnmg"
	. "gnnmg/examples/common"
)

const classes = 10

// smoothed is the cross-entropy of a row against 0.9 for the class and the rest for all; it writes
// the gradient.
func smoothed(row []float32, class int64, weight float64, gradient []float32) (loss float64) {
	largest, sum := float64(row[0]), 0.0
	for _, v := range row {
		largest = max(largest, float64(v))
	}
	for _, v := range row {
		sum += math.Exp(float64(v) - largest)
	}
	for c, v := range row {
		wanted := 0.1 / classes
		if int64(c) == class {
			wanted += 0.9
		}
		logShare := float64(v) - largest - math.Log(sum)
		loss -= wanted * logShare
		gradient[c] = float32(weight * (math.Exp(logShare) - wanted))
	}
	return loss
}

// backward is forward, loss, backward; it returns the mini-batch's mean loss.
func backward(model *gnnmg.Model, batch *gnnmg.Batch) (loss float64) {
	// [own loss]
	logits := Get(model.Forward(batch)) // [seeds, classes]
	defer logits.Close()
	labels := Get(gnnmg.Values[int64](Get(batch.Labels())))
	gradient := make([]float32, logits.Len())
	for i, row := range gnnmg.Rows[float32](logits) {
		loss += smoothed(row, labels[i], 1/float64(len(labels)), gradient[i*classes:(i+1)*classes])
	}
	Check(model.BackwardFrom(gnnmg.TensorOf(gradient, logits.Shape()...)))
	// [own loss]
	return loss / float64(len(labels))
}

func gradientNorm(model *gnnmg.Model, key string) float64 {
	gradient := Get(model.Gradient(key))
	defer gradient.Close()
	squares := 0.0
	for _, v := range Get(gnnmg.Values[float32](gradient)) {
		squares += float64(v * v)
	}
	return math.Sqrt(squares)
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 4000)
	sampler := Get(gnnmg.NewSampler(graph))
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 64 }))
	loader := Get(gnnmg.NewLoader(data, sampler, func(c *gnnmg.LoaderConfig) { c.BatchSize = 256 }))
	defer loader.Close()
	optimizer := Get(gnnmg.NewOptimizer(model, func(c *gnnmg.OptimizerConfig) {
		c.Optimizer, c.LearningRate, c.WeightDecay = gnnmg.OptimizerAdamW, 0.01, 1e-4
	}))
	defer optimizer.Close()

	var first, last float64
	for epoch := range 6 {
		var loss, norm, steps float64
		for batch, err := range loader.All(Background) {
			Check(err)
			loss += backward(model, batch)
			norm = gradientNorm(model, "convs.0.lin_l.weight")
			Check(optimizer.Step()) // the gradients are 0 again
			steps++
		}
		rate := Get(optimizer.LearningRate())
		Check(optimizer.SetLearningRate(0.7 * rate))
		if last = loss / steps; epoch == 0 {
			first = last
		}
		fmt.Printf("epoch %d  rate %.4f  loss %.4f  |gradient| %.4f\n", epoch+1, rate, last, norm)
	}
	Check(optimizer.Save(Background, "optimizer.pth")) // a dict of PyTorch's AdamW
	Check(optimizer.Load(Background, "optimizer.pth"))
	metrics := Get(model.Evaluate(Background, data, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f\n", metrics.Accuracy)
	Expect(last < first && metrics.Accuracy > 0.5)
}
