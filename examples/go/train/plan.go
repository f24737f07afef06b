package main

import (
	"fmt"
	"strconv"
	"strings"

	"gnnmg"
)

// units are the units of memory sizes.
var units = map[string]float64{"": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// setGPUMemory reads "80G", "512MB", "40GiB" or a number of bytes.
func (o *options) setGPUMemory(text string) error {
	digits := strings.TrimRight(text, "KMGTiB")
	number, err := strconv.ParseFloat(digits, 64)
	unit, known := units[text[len(digits):]]
	if bytes := number * unit; err == nil && known && bytes >= 1 && bytes < 1e18 {
		o.gpuMemory = uint64(bytes)
		return nil
	}
	return fmt.Errorf("expected a size such as 80G, 40GiB or 512MB")
}

// printPlan prints the training's use of a GPU's memory.
func printPlan(plan gnnmg.MemoryInfo) {
	graph := map[gnnmg.GraphPlacement]string{
		gnnmg.GraphPlacementPinned: "in main memory, read from there",
		gnnmg.GraphPlacementHost:   "in main memory, sampled there",
	}
	cached := fmt.Sprintf("%d rows cached, all in main memory", plan.NumCached)
	features := map[gnnmg.FeaturePlacement]string{
		gnnmg.FeaturePlacementPinned: "in main memory, read from there",
		gnnmg.FeaturePlacementCached: cached,
		gnnmg.FeaturePlacementSplit:  cached,
		gnnmg.FeaturePlacementHost:   "in main memory, gathered there",
	}
	step := map[bool]string{false: "unknown: mini-batches are the custom sampler's"}
	verdict := map[bool]string{true: "fits", false: "does NOT fit"}

	fmt.Println("memory of a GPU, at most")
	for _, line := range []struct {
		part   string
		bytes  uint64
		remark string
	}{
		{"graph", plan.GraphBytes, graph[plan.GraphPlacement]},
		{"features", plan.FeatureBytes, features[plan.FeaturePlacement]},
		{"samplers", plan.SamplerBytes, ""},
		{"gathered rows", plan.RowBytes, ""},
		{"a step", plan.StepBytes, step[plan.Bounded]},
		{"an evaluation", plan.EvaluationBytes, "between steps, in their place"},
		{"weights and gradients", plan.ParameterBytes, ""},
		{"optimizer", plan.OptimizerBytes, ""},
		{"communication", plan.CommunicationBytes, ""},
		{"padded steps", plan.CaptureBytes, ""},
		{"reserve", plan.ReserveBytes, "the driver, libraries"},
		{"in all", plan.TotalBytes, fmt.Sprintf("%s %.3f GB", verdict[plan.Fits], float64(plan.GpuBytes)*1e-9)},
		{"main memory, pinned", plan.PinnedBytes, "once a process"},
	} {
		text := fmt.Sprintf("  %-24s %10.3f GB  %s", line.part, float64(line.bytes)*1e-9, line.remark)
		fmt.Println(strings.TrimRight(text, " "))
	}
}
