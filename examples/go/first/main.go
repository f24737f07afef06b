// GraphSAGE on the nodes of a data set, or else of a generated graph: first [<folder or file>]
package main

import (
	"context"
	"fmt"
	"os"

	"gnnmg"
)

func main() {
	ctx := context.Background() // a canceled context ends calls
	rt := gnnmg.Must(gnnmg.NewRuntime())
	defer rt.Close()
	defer func() { // also if a call below fails
		for said, err := range rt.Messages() {
			if err == nil && said.Level >= gnnmg.LogWarning {
				fmt.Fprintln(os.Stderr, "warning:", said.Text)
			}
		}
	}()
	var data *gnnmg.Dataset
	if len(os.Args) > 1 { // Planetoid, OGB, .npz, edge lists, ...
		data = gnnmg.Must(gnnmg.OpenDataset(ctx, rt, os.Args[1]))
	} else {
		data = gnnmg.Must(gnnmg.GenerateDataset(rt, func(c *gnnmg.PlantedConfig) { c.NumNodes = 2000 }))
	}
	model := gnnmg.Must(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.HiddenDim, c.Dropout = 64, 0.5 // GraphSAGE, widths from the data
	}))

	// Two ranks share each step; each node draws 10 neighbors a layer.
	trainer := gnnmg.Must(gnnmg.NewTrainer(model, data, nil, nil, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.BatchSize, c.NumEpochs = 2, 64, 30
	}))
	if err := trainer.Run(ctx, nil); err != nil {
		panic(err)
	}

	test := gnnmg.Must(trainer.Evaluate(ctx, gnnmg.PartTest))
	fmt.Printf("test accuracy %.3f on %d nodes\n", test.Accuracy, test.Count)
	if err := model.Save(ctx, "sage.safetensors"); err != nil { // PyG's keys; or .pth
		panic(err)
	}
}
