// Importance sampling with a custom sampler: a node's neighbors are drawn in proportion to the
// weights of their edges. The program lends two more goroutines to the library, which calls the
// sampler on these.
package main

import (
	"context"
	"fmt"
	"sync"

	"gnnmg"
	. "gnnmg/examples/common"
)

const (
	fanout = 5
	lent   = 2
)

// draw is the next number in [0, 1) of a stream that key and node determine.
func draw(state *uint64) float64 {
	*state += 0x9e3779b97f4a7c15 // splitmix64
	z := *state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return float64((z^(z>>31))>>11) / 9007199254740992.0
}

func main() {
	rt := OpenRuntime()
	data, graph := PlantedData(rt, 2000)

	// An edge counts twice when its ends are of one class, as a hint that real data might have.
	from, to, err := graph.COO(0)
	Check(err)
	sources, targets := Get(gnnmg.Copy[int64](from)), Get(gnnmg.Copy[int64](to))
	classes := Get(gnnmg.Copy[int64](Get(graph.NodeTensor(0, "y"))))
	weights := make([]float32, len(sources)) // edge weights by id
	for e := range weights {
		weights[e] = 1
		if classes[sources[e]] == classes[targets[e]] {
			weights[e] = 2
		}
	}

	sampler := Get(gnnmg.NewCustomSampler(graph,
		func(layer gnnmg.LayerInfo, targets []int64, sink *gnnmg.Sink) error {
			for _, target := range targets {
				sources, ids, err := graph.InEdges(0, target)
				if err != nil {
					return err
				}
				total := 0.0
				for _, id := range ids {
					total += float64(weights[id])
				}
				stream := layer.Key ^ uint64(target)<<20 // the same on any goroutine
				for range min(fanout, len(ids)) {
					left := draw(&stream) * total
					e := 0
					for e+1 < len(ids) && left >= float64(weights[ids[e]]) {
						left -= float64(weights[ids[e]])
						e++
					}
					if err := sink.AddEdges(sources[e:e+1], []int64{target}, ids[e:e+1]); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	trainer := Get(gnnmg.NewTrainer(Get(gnnmg.NewModel(rt, data)), data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize = 3, 128
	}))

	var lenders sync.WaitGroup
	for range lent {
		lenders.Add(1)
		go func() {
			defer lenders.Done()
			Check(rt.Lend(context.Background())) // until the runtime is closed
		}()
	}
	Check(trainer.Run(Background, nil))
	CloseRuntime(rt) // ends the lending; objects made from the runtime live on
	lenders.Wait()
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("test accuracy %.4f\n", metrics.Accuracy)
	Expect(metrics.Accuracy > 0.4)
}
