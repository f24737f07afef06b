// A model's weights: listed by key, changed one by one, written to files that PyTorch reads, and read
// back into another model, which then says the same.
package main

import (
	"errors"
	"fmt"
	"slices"

	"gnnmg"
	. "gnnmg/examples/common"
)

// summary prints the tensors of a model and returns the number of learned values.
func summary(model *gnnmg.Model) int64 {
	for _, key := range Get(model.TensorKeys()) {
		tensor := Get(model.Tensor(key.Key))
		fmt.Print(key.Key)
		for d, size := range tensor.Shape() {
			fmt.Printf("%s%d", map[bool]string{true: ": ", false: " x "}[d == 0], size)
		}
		if !key.Trained {
			fmt.Print(" (not learned)")
		}
		fmt.Println()
		tensor.Close()
	}
	info := Get(model.Info())
	fmt.Printf("%d numbers are learned\n", info.NumParameters)
	return info.NumParameters
}

// equal tells whether two models hold the same numbers.
func equal(a, b *gnnmg.Model) int {
	left, right := Get(gnnmg.Copy[float32](Get(a.Parameters()))), Get(gnnmg.Copy[float32](Get(b.Parameters())))
	if slices.Equal(left, right) {
		return 1
	}
	return 0
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	widths := func(c *gnnmg.ModelConfig) { // else the data set's features and classes say them
		c.InputDim, c.HiddenDim, c.OutputDim, c.Norm = 64, 32, 10, gnnmg.NormBatch
	}
	model := Get(gnnmg.NewModel(rt, nil, widths))
	numParameters := summary(model)

	bias := make([]float32, 10) // a prior: class 3 is the common one
	bias[3] = 1
	Check(model.SetTensor("convs.1.lin_l.bias", gnnmg.TensorOf(bias)))

	// [save]
	Check(model.Save(Background, "model.pth"))                                                // equals torch.save(model.state_dict())
	safetensors := func(c *gnnmg.ModelFileConfig) { c.Format = gnnmg.ModelFormatSafetensors } // the path's ending does not matter
	Check(model.Save(Background, "model.weights", safetensors))
	// [save]

	// [open]
	opened := Get(gnnmg.OpenModel(rt, "model.pth")) // architecture, widths and all other settings are in the file
	// [open]
	Expect(equal(model, opened) == 1)

	otherSeed := func(c *gnnmg.ModelConfig) { c.Seed = 1 }
	other := Get(gnnmg.NewModel(rt, nil, widths, otherSeed))
	before := equal(model, other)
	// [load]
	Check(other.Load(Background, "model.pth"))
	// [load]
	after := equal(model, other)
	fmt.Printf("equal before loading: %d, after: %d\n", before, after)

	narrow := Get(gnnmg.NewModel(rt, nil, widths, otherSeed, func(c *gnnmg.ModelConfig) { c.HiddenDim = 16 }))
	err := narrow.Load(Background, "model.weights", safetensors)
	var e *gnnmg.Error
	if errors.As(err, &e) {
		fmt.Printf("into a narrower one: %s: %.60s...\n", e.Status.String(), e.Text)
	}
	counted := numParameters == 2*64*32+32+2*32+2*32*10+10
	Expect(counted && before == 0 && after == 1 && errors.Is(err, gnnmg.ErrMismatch))
}
