// Settings and information of a runtime: threads, a limit for its memory, options, errors, and
// messages, which the library keeps for its host because it never prints.
package main

import (
	"errors"
	"fmt"

	"gnnmg"
	. "gnnmg/examples/common"
)

// meetsTheLimit: a graph that does not fit is an ordinary error, and the program continues.
func meetsTheLimit(rt *gnnmg.Runtime) bool {
	graph, err := gnnmg.Generate[gnnmg.LogNormalConfig](rt) // more than 1 GiB
	var e *gnnmg.Error
	if errors.As(err, &e) {
		fmt.Printf("%s: %s\n", e.Status.String(), e.Text)
		if e.Rank >= 0 {
			fmt.Printf("rank %d has failed\n", e.Rank)
		}
		if e.Errno != 0 {
			fmt.Printf("errno is %d\n", int(e.Errno))
		}
		return errors.Is(err, gnnmg.ErrNoMemory)
	}
	graph.Close()
	return false
}

func main() {
	fmt.Printf("libgnnmg %s, compiled with the header of %d\n", gnnmg.Version(), gnnmg.HeaderVersion)
	rt := Get(gnnmg.NewRuntime(func(c *gnnmg.RuntimeConfig) {
		c.NumThreads, c.MemoryLimit = 1, 64<<20 // 64 MiB for graphs, mini-batches, rows of results
	}))
	defer rt.Close()
	for _, option := range Get(gnnmg.Settings("context")) {
		fmt.Printf("%s = %s: %s\n", option.Name, Get(rt.Option(option.Name)), option.Help)
	}
	Check(rt.SetOption("log_level", "info"))

	refused := meetsTheLimit(rt)
	data, _ := PlantedData(rt, 5000) // this one fits
	info := Get(rt.Info())
	fmt.Printf("%d threads on %d cores, LibTorch %d, %.1f of %.0f MiB taken\n", info.NumThreads, info.NumCores,
		info.TorchVersion, float64(info.MemoryUsed)/(1<<20), float64(info.MemoryLimit)/(1<<20))
	fits := info.MemoryUsed > 0 && info.MemoryUsed <= info.MemoryLimit

	Check(data.Save(Background, "planted"))
	Get(gnnmg.OpenDataset(Background, rt, "planted")) // says so in the log
	warnings := 0
	for m, err := range rt.Messages() {
		Check(err)
		if m.Dropped > 0 {
			fmt.Printf("(%d lost)\n", m.Dropped)
		}
		fmt.Printf("level %d: %s\n", int(m.Level), m.Text)
		if m.Level >= gnnmg.LogWarning {
			warnings++
		}
	}
	Expect(refused && fits && warnings == 0)
}
