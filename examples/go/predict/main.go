// A trained model in use: the classes of a few nodes, with their probabilities. In a folder without a
// file of weights the program trains a model, saves it, and starts itself again, so that a fresh
// process predicts.
package main

import (
	"fmt"
	"os"
	"os/exec"

	"gnnmg"
	. "gnnmg/examples/common"
)

const weights = "sage.safetensors"

func trainAndSave(model *gnnmg.Model, graph *gnnmg.Graph, data *gnnmg.Dataset) {
	sampler := Get(gnnmg.NewSampler(graph))
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize = 8, 256
	}))
	Check(trainer.Run(Background, nil))
	Check(model.Save(Background, weights))
	trainer.Close()
}

func predict(model *gnnmg.Model, data *gnnmg.Dataset) {
	// [predict]
	// A copy of the weights; it answers any number of goroutines.
	predictor := Get(gnnmg.NewPredictor(model, data, func(c *gnnmg.PredictorConfig) {
		c.Fanouts, c.Seed = []int64{10, 10}, 7
	}))
	ids := []int64{7, 42, 1001}
	probability := Get(gnnmg.Predict[float32](predictor, ids, gnnmg.OutputProbabilities))
	mostLikely := Get(gnnmg.Predict[int64](predictor, ids, gnnmg.OutputClasses))
	// [predict]
	columns := int64(len(probability) / len(ids))
	for i, id := range ids {
		class := mostLikely[i]
		fmt.Printf("node %d: class %d, probability %.2f\n", id, class, probability[int64(i)*columns+class])
	}

	// [info]
	info := Get(predictor.Info())
	fmt.Printf("%d calls over %d nodes, %d classes, rows of %d numbers before the last layer\n", info.NumCalls,
		info.NumIDs, info.OutputDim, info.EmbeddingDim)
	// [info]
	// [free]
	predictor.Close()
	// [free]
}

func main() {
	rt := OpenRuntime()
	data, graph := PlantedData(rt, 3000)
	if _, err := os.Stat(weights); err == nil {
		predict(Get(gnnmg.OpenModel(rt, weights)), data) // the file has settings and weights
		CloseRuntime(rt)
		return
	}
	trainAndSave(SmallModel(rt, data), graph, data)
	fmt.Println("trained, and saved", weights)
	CloseRuntime(rt)
	again := exec.Command(Get(os.Executable()))
	again.Stdout, again.Stderr = os.Stdout, os.Stderr
	Check(again.Run())
}
