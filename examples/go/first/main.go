// GraphSAGE on the nodes of a data set, by two ranks: first <folder or file>
package main

import (
	"context"
	"fmt"
	"os"

	"gnnmg"
)

func main() {
	path := append(os.Args[1:], "cora")[0] // Planetoid, OGB, .npz, edge lists, ...
	ctx := context.Background()            // its end cancels what runs
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	data := gnnmg.Must(gnnmg.OpenDataset(ctx, rt, path))
	graph := gnnmg.Must(data.Graph())
	sampler := gnnmg.Must(gnnmg.NewSampler(graph)) // 10 and 10 neighbours
	model := gnnmg.Must(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.HiddenDim, c.Dropout = 64, 0.5 // GraphSAGE, widths from the data
	}))

	trainer := gnnmg.Must(gnnmg.NewTrainer(model, data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = 2, 64, 30 // replicas that share each step
	}))
	if err := trainer.Run(ctx, nil); err != nil {
		panic(err)
	}

	test := gnnmg.Must(trainer.Evaluate(ctx, gnnmg.SplitTest))
	fmt.Printf("test accuracy %.3f on %d nodes\n", test.Accuracy, test.Count)
	for said, err := range rt.Messages() {
		if err == nil && said.Level >= gnnmg.LogWarning {
			fmt.Fprintln(os.Stderr, "warning:", said.Text)
		}
	}
	if err := model.Save(ctx, "sage.safetensors"); err != nil { // PyG's keys; or .pth
		panic(err)
	}
}
