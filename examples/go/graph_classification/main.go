// Classification of whole graphs by GIN, over two ranks:
//
//	graph_classification [--folds] [--epochs <number>] [--batch-nodes <number>] [<folder or file>]
//
// Without a path, on generated graphs. Trains on 80 % of the graphs and prints loss and validation
// accuracy of each epoch, and the accuracy on the last 10 % at the end. With --folds, trains ten models
// at once, each on nine of ten folds, and prints mean and deviation at the epoch with the best
// mean. With --batch-nodes a mini-batch has graphs up to this number of nodes, instead of 16
// graphs.
package main

import (
	"flag"
	"fmt"
	"math"
	"sync"

	"gnnmg"
	. "gnnmg/examples/common"
)

const folds = 10

var batchNodes = flag.Int64("batch-nodes", 0, "of a mini-batch at most; 0: it is 16 graphs")

// generated is two kinds of graphs of 8 to 20 nodes: a ring with a chord at every third node, or two
// stars whose centers are joined.
func generated(rt *gnnmg.Runtime) *gnnmg.Dataset {
	var sources, targets, classes []int64
	var ones []float32
	starts := []int64{0}
	for g := range int64(300) {
		first, nodes, class := starts[g], 8+g*7%13, g%2
		classes = append(classes, class)
		join := func(i, j int64) {
			sources, targets = append(sources, first+i, first+j), append(targets, first+j, first+i)
		}
		for i := range nodes {
			ones = append(ones, 1)
			switch {
			case class == 0:
				join(i, (i+1)%nodes)
				if i%3 == 0 {
					join(i, (i+nodes/2)%nodes)
				}
			case i < 2:
				join(i, 1-i)
			default:
				join(i, i%2)
			}
		}
		starts = append(starts, first+nodes)
	}
	numNodes := int64(len(ones))
	graph := Get(gnnmg.NewGraphFromCOO(rt, numNodes, sources, targets))
	Check(graph.SetNodeTensor(0, "x", gnnmg.TensorOf(ones, numNodes, 1)))
	return Get(gnnmg.NewGraphsDataset(graph, starts, "x", gnnmg.TensorOf(classes), gnnmg.TaskMulticlass, 2))
}

// train trains a new model on the chosen split.
func train(rt *gnnmg.Runtime, data *gnnmg.Dataset, epochs int64, seed uint64, onEpoch gnnmg.EpochFunc) *gnnmg.Trainer {
	// [sampler]
	sampler := Get(gnnmg.NewGraphsSampler(data, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = make([]int64, 4) // the model's number of layers
	}))
	// [sampler]
	// [model]
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.NumLayers, c.HiddenDim, c.Norm = gnnmg.ArchitectureGIN, 4, 64, gnnmg.NormBatch
		c.Readout = gnnmg.ReadoutSum    // a row a graph from those of its nodes
		c.Jumping = gnnmg.JumpingScores // scores of the features and of every layer
		c.OutputDropout, c.Seed = 0.5, seed
	}))
	// [model]
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = 2, 16, epochs // graphs, on each rank
		if c.BatchNodes = *batchNodes; c.BatchNodes > 0 {
			c.BatchSize = math.MaxInt64
		}
		c.Schedule = gnnmg.ScheduleStep // half the rate every 50 epochs
		c.Seed = seed
	}))
	Check(trainer.Run(Background, onEpoch))
	return trainer
}

func crossValidate(rt *gnnmg.Runtime, data *gnnmg.Dataset, epochs int64) {
	// [folds]
	Check(data.AddFolds("folds", func(c *gnnmg.FoldsConfig) {
		c.NumFolds, c.NumPyLegacy = folds, true // scikit-learn's folds, as used by GIN's authors
	}))
	var curve [folds][]float64 // accuracy on the held-out fold, after each epoch
	var training sync.WaitGroup
	for k := range folds {
		training.Add(1)
		go func() {
			defer training.Done()
			fold := Get(data.SelectSplit("folds", k)) // shares the data
			defer fold.Close()
			train(rt, fold, epochs, uint64(k), func(e gnnmg.EpochInfo) error {
				curve[k] = append(curve[k], e.Validation.Accuracy)
				return nil
			}).Close()
		}()
	}
	training.Wait()
	// [folds]
	for k := range folds {
		fmt.Printf("fold %2d  accuracy after the last epoch %.4f\n", k+1, curve[k][epochs-1])
	}
	mean, best, tail := make([]float64, epochs), int64(0), min(epochs, 10)
	var last, deviation float64
	for e := range epochs {
		for k := range folds {
			mean[e] += curve[k][e] / folds
		}
		if mean[e] > mean[best] {
			best = e
		}
		if e >= epochs-tail {
			last += mean[e] / float64(tail)
		}
	}
	for k := range folds {
		deviation += math.Pow(curve[k][best]-mean[best], 2) / folds
	}
	fmt.Printf("accuracy %.4f +- %.4f over folds at epoch %d, the best of the mean; last %d: %.4f\n", mean[best],
		math.Sqrt(deviation), best+1, tail, last)
}

func main() {
	byFolds := flag.Bool("folds", false, "cross-validate")
	epochs := flag.Int64("epochs", 30, "number of epochs")
	flag.Parse()
	if *epochs < 1 || *epochs > 1000 {
		Check(fmt.Errorf("--epochs: expected 1 to 1000"))
	}
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	var data *gnnmg.Dataset
	if flag.NArg() > 0 {
		data = Get(gnnmg.OpenDataset(Background, rt, flag.Arg(0)))
	} else {
		data = generated(rt)
	}
	facts := Get(data.Info())
	fmt.Printf("%d graphs of %.1f nodes in the mean, %d features, %d classes\n", facts.NumGraphs,
		float64(facts.NumNodes)/float64(facts.NumGraphs), facts.FeatureDim, facts.NumClasses)
	if *byFolds {
		crossValidate(rt, data, *epochs)
		return
	}
	Check(data.AddRandomSplit("random", func(c *gnnmg.SplitConfig) {
		c.TrainFraction, c.ValidationFraction, c.Seed = 0.8, 0.1, 1
	}))
	trainer := train(rt, data, *epochs, 1, func(e gnnmg.EpochInfo) error {
		best := map[bool]string{true: " *"}[e.Best]
		fmt.Printf("epoch %2d  loss %.4f  validation accuracy %.4f%s\n", e.Epoch+1, e.TrainLoss,
			e.Validation.Accuracy, best)
		return nil
	})
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f (%d of %d graphs)\n", metrics.Accuracy, metrics.Correct, metrics.Count)
}
