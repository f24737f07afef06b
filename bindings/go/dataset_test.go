package gnnmg_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gnnmg"
)

func TestDatasetFromAGraph(t *testing.T) {
	w := newWorld(t)
	info, err := w.data.Info()
	ok(t, err)
	equal(t, info.Task, gnnmg.TaskMulticlass)
	equal(t, info.NumNodes, 600)
	equal(t, info.FeatureDim, 8)
	equal(t, info.NumClasses, 3)
	equal(t, info.NumSplits, 1)
	names, err := w.data.Names()
	ok(t, err)
	equal(t, names.Features, "x")
	equal(t, names.Labels, "y")
	labels := values[int64](t)(w.data.Labels())
	equal(t, len(labels), 600)
	graph := made[*gnnmg.Graph](t)(w.data.Graph())
	equalSlices(t, values[int64](t)(graph.NodeTensor(0, "y")), labels)

	_, err = gnnmg.NewDataset(w.graph, "no such", "y", gnnmg.TaskMulticlass, 3)
	fails(t, err, gnnmg.ErrNotFound)
	_, err = gnnmg.NewDataset(w.graph, "x", "y", gnnmg.TaskMulticlass, 2)
	fails(t, err, gnnmg.ErrRange)
	_, err = gnnmg.NewDataset(nil, "x", "y", gnnmg.TaskMulticlass, 2)
	fails(t, err, gnnmg.ErrHandle)
	bare := made[*gnnmg.Dataset](t)(gnnmg.NewDataset(w.graph, "", "", gnnmg.TaskNone, 0))
	_, err = bare.Labels()
	fails(t, err, gnnmg.ErrNotFound)
}

func TestSplits(t *testing.T) {
	w := newWorld(t)
	ok(t, w.data.AddSplit("mine", []int64{5, 1}, []int64{2}, nil))
	equalSlices(t, values[int64](t)(w.data.SplitIDs(gnnmg.PartTrain)), []int64{1, 5})
	equalSlices(t, values[int64](t)(w.data.SplitIDs(gnnmg.PartTest)), nil)
	ok(t, w.data.AddFolds("folds", func(c *gnnmg.FoldsConfig) { c.NumFolds = 3 }))
	ok(t, w.data.AddRandomSplit("random", func(c *gnnmg.SplitConfig) { c.TrainPerClass, c.ValidationPerClass = 4, 2 }))
	equal(t, len(values[int64](t)(w.data.SplitIDs(gnnmg.PartTrain))), 12)
	all, err := w.data.Splits()
	ok(t, err)
	var names []string
	for _, split := range all {
		names = append(names, split.Name)
		if split.NumTrain == 0 {
			t.Errorf("%+v", split)
		}
	}
	equalSlices(t, names, []string{"random", "mine", "folds", "folds", "folds", "random"})
	equal(t, all[4].Index, 2)
	trainIDs := func(data *gnnmg.Dataset, err error) int {
		ok(t, err)
		return len(values[int64](t)(data.SplitIDs(gnnmg.PartTrain)))
	}
	mine, err := w.data.SelectSplit("mine", 0)
	equal(t, trainIDs(mine, err), 2)
	equal(t, trainIDs(mine.SelectSplit("", 0)), 360)
	equal(t, trainIDs(w.data, nil), 12)
	ok(t, w.data.AddSplit("more", []int64{7}, nil, nil))
	equal(t, trainIDs(mine, nil), 2)
	_, err = mine.SelectSplit("more", 0)
	fails(t, err, gnnmg.ErrNotFound)
	ok(t, w.data.Close())
	equal(t, trainIDs(mine.SelectSplit("folds", 1)), 400)
	ok(t, mine.Save(background, filepath.Join(t.TempDir(), "mine")))

	_, err = mine.SelectSplit("mine", 7)
	fails(t, err, gnnmg.ErrNotFound)
	_, err = w.data.SelectSplit("mine", 0)
	fails(t, err, gnnmg.ErrHandle)
	w.data = mine
	fails(t, w.data.AddSplit("bad", []int64{600}, nil, nil), gnnmg.ErrRange)
	fails(t, w.data.AddSplit("bad", []int64{1}, []int64{1}, nil), gnnmg.ErrFormat)
	fails(t, w.data.AddFolds("x", func(c *gnnmg.FoldsConfig) { c.NumFolds = 1 }), gnnmg.ErrInvalidArgument)
	_, err = (*gnnmg.Dataset)(nil).Splits()
	fails(t, err, gnnmg.ErrHandle)
	_, err = (*gnnmg.Dataset)(nil).SelectSplit("", 0)
	fails(t, err, gnnmg.ErrHandle)
}

func TestWeights(t *testing.T) {
	w := newWorld(t)
	_, err := w.data.ClassWeights()
	fails(t, err, gnnmg.ErrNotFound)
	ok(t, w.data.SetClassWeights([]float64{1, 2, 3}))
	equalSlices(t, values[float64](t)(w.data.ClassWeights()), []float64{1, 2, 3})
	fails(t, w.data.SetClassWeights([]float64{1}), gnnmg.ErrInvalidArgument)
	ok(t, w.data.SetClassWeights(nil))
	_, err = w.data.ClassWeights()
	fails(t, err, gnnmg.ErrNotFound)
	ok(t, w.data.BalanceClasses())
	equal(t, len(values[float64](t)(w.data.ClassWeights())), 3)

	weights := make([]float32, 600)
	weights[7] = 2
	ok(t, w.data.SetSampleWeights(gnnmg.TensorOf(weights)))
	equal(t, values[float64](t)(w.data.SampleWeights())[7], 2)
	fails(t, w.data.SetSampleWeights(gnnmg.TensorOf(weights[:5])), gnnmg.ErrInvalidArgument)
	ok(t, w.data.SetSampleWeights(nil))
	_, err = w.data.SampleWeights()
	fails(t, err, gnnmg.ErrNotFound)
}

func TestSaveAndOpen(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "saved")
	ctx, cancel := context.WithCancel(background) // never ends: waits are made in slices
	defer cancel()
	ok(t, w.data.Save(ctx, path))
	again := made[*gnnmg.Dataset](t)(gnnmg.OpenDataset(ctx, w.rt, path, func(c *gnnmg.DatasetConfig) {
		c.Format, c.MapFiles = gnnmg.FormatGNNMG, false
	}))
	equalSlices(t, values[int64](t)(again.Labels()), values[int64](t)(w.data.Labels()))
	ok(t, os.WriteFile(filepath.Join(path, "metadata.json"), []byte("{"), 0o666))
	_, err := gnnmg.OpenDataset(background, w.rt, path)
	fails(t, err, gnnmg.ErrFormat)
	if err := w.data.Save(background, path); err == nil {
		t.Error("a folder that is there was overwritten")
	}
}

func TestSaveParts(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "parts")
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	seeded := func(c *gnnmg.PartsConfig) { c.NumParts, c.Seed, c.Fanouts, c.BatchSize = 2, 3, []int64{5, 3}, 32 }
	ok(t, w.data.SaveParts(ctx, path, nil, seeded))
	ok(t, w.data.SaveParts(background, path, nil, seeded)) // complete, so it stays
	fails(t, w.data.SaveParts(background, path, nil), gnnmg.ErrMismatch)
	cancel()
	err := w.data.SaveParts(ctx, path, nil)
	fails(t, err, gnnmg.ErrCancelled)

	whole := made[*gnnmg.Dataset](t)(gnnmg.OpenDataset(background, w.rt, path, func(c *gnnmg.DatasetConfig) {
		c.Format = gnnmg.FormatParts
	}))
	before, err := w.data.Info()
	ok(t, err)
	after, err := whole.Info()
	ok(t, err)
	equal(t, after, before)
	equalSlices(t, values[int64](t)(whole.Labels()), values[int64](t)(w.data.Labels()))

	facts, err := whole.PartsInfo()
	ok(t, err)
	equal(t, facts.NumParts, 2)
	equal(t, facts.NumNodes, 600)
	equal(t, facts.NumEdges, before.NumEdges)
	if facts.Cut <= 0 || facts.Cut >= 0.6 || facts.NodeBalance < 1 || facts.NodeBalance > 1.06 {
		t.Errorf("%+v", facts)
	}
	tensor := made[*gnnmg.Tensor](t)(whole.Book())
	equalSlices(t, tensor.Shape(), []int64{600})
	var sizes [2]int64
	book := gnnmg.Must(gnnmg.Copy[int32](tensor))
	for _, part := range book {
		sizes[part]++
	}
	all, err := whole.Parts(600)
	ok(t, err)
	equal(t, len(all), 2)
	var edges, cut, train int64
	for i, part := range all {
		equal(t, part.NumNodes, sizes[i])
		equal(t, part.Hotness, true)
		if part.BatchRows <= 32 || part.RemoteRows <= 0 || part.HitRate < 0.999 { // the cache has room for all
			t.Errorf("%+v", part)
		}
		edges, cut, train = edges+part.NumEdges, cut+part.CutEdges, train+part.NumTrain
	}
	equal(t, edges, facts.NumEdges)
	equal(t, cut, facts.CutEdges)
	equal(t, train, 360)
	uncached, err := whole.PartInfo(1, 0)
	ok(t, err)
	equal(t, uncached.HitRate, 0)
	if _, err = whole.PartInfo(2, 0); err != io.EOF {
		t.Errorf("got %v", err)
	}
	_, err = whole.PartInfo(-1, 0)
	fails(t, err, gnnmg.ErrNotFound)

	// Parts that another program has made.
	given := make([]int32, 600)
	for v := range given {
		given[v] = int32(v % 3)
	}
	three := func(c *gnnmg.PartsConfig) { c.NumParts, c.Fanouts = 3, nil }
	path = filepath.Join(t.TempDir(), "given")
	ok(t, w.data.SaveParts(background, path, given, three))
	thirds := made[*gnnmg.Dataset](t)(gnnmg.OpenDataset(background, w.rt, path))
	equalSlices(t, values[int32](t)(thirds.Book()), given)
	fails(t, w.data.SaveParts(background, path, given), gnnmg.ErrRange) // 2 parts
	fails(t, w.data.SaveParts(background, path, given[:599], three), gnnmg.ErrInvalidArgument)
	fails(t, w.data.SaveParts(background, path, []int32{}, three), gnnmg.ErrInvalidArgument)
	fails(t, w.data.SaveParts(background, path, nil, func(c *gnnmg.PartsConfig) { c.NodeSlack = 0.5 }), gnnmg.ErrInvalidArgument)

	_, err = w.data.PartsInfo()
	fails(t, err, gnnmg.ErrNotFound)
	_, err = w.data.Parts(0)
	fails(t, err, gnnmg.ErrNotFound)
	_, err = w.data.Book()
	fails(t, err, gnnmg.ErrNotFound)
	_, err = (*gnnmg.Dataset)(nil).Parts(0)
	fails(t, err, gnnmg.ErrHandle)
	fails(t, (*gnnmg.Dataset)(nil).SaveParts(background, path, nil), gnnmg.ErrHandle)
}

// A cancel that another call asked for does not end this one; that of the runtime does.
func TestCancelOfTheRuntime(t *testing.T) {
	w := newWorld(t)
	model := made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 512 }))
	// More work than there is patience for.
	big := made[*gnnmg.Graph](t)(gnnmg.Generate(w.rt, func(c *gnnmg.PlantedConfig) {
		c.NumNodes, c.NumClasses, c.NumFeatures = 200000, 3, 8
	}))
	data := made[*gnnmg.Dataset](t)(gnnmg.NewDataset(big, "x", "y", gnnmg.TaskMulticlass, 3))
	ctx, cancel := context.WithCancel(background)
	result := make(chan error)
	go func() {
		_, err := model.Embed(ctx, data)
		result <- err
	}()
	for { // until a cancel comes in time
		w.rt.Cancel()
		select {
		case err := <-result:
			fails(t, err, gnnmg.ErrCancelled)
			if errors.Is(err, context.Canceled) {
				t.Error("the context had not ended")
			}
		default:
			continue
		}
		break
	}
	go func() {
		_, err := model.Embed(ctx, data)
		result <- err
	}()
	cancel()
	err := <-result
	fails(t, err, gnnmg.ErrCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestManyGraphs(t *testing.T) {
	w := newWorld(t)
	// Three triangles and three paths of three nodes.
	var sources, targets, ptr, labels []int64
	features := make([]float32, 18)
	for g := range int64(6) {
		ptr, labels = append(ptr, 3*g), append(labels, g%2)
		sources, targets = append(sources, 3*g, 3*g+1), append(targets, 3*g+1, 3*g+2)
		if g%2 == 0 {
			sources, targets = append(sources, 3*g+2), append(targets, 3*g)
		}
	}
	graph := made[*gnnmg.Graph](t)(gnnmg.NewGraphFromCOO(w.rt, 18, sources, targets))
	ok(t, graph.SetNodeTensor(0, "x", gnnmg.TensorOf(features, 18, 1)))
	data := made[*gnnmg.Dataset](t)(gnnmg.NewGraphsDataset(graph, append(ptr, 18), "x", gnnmg.TensorOf(labels),
		gnnmg.TaskMulticlass, 2))
	info, err := data.Info()
	ok(t, err)
	equal(t, info.NumGraphs, 6)
	equalSlices(t, values[int64](t)(data.GraphPtr()), append(ptr, 18))
	_, err = w.data.GraphPtr()
	fails(t, err, gnnmg.ErrNotFound)
	_, err = gnnmg.NewGraphsDataset(graph, nil, "x", nil, gnnmg.TaskNone, 0)
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.NewGraphsDataset(graph, []int64{0, 4, 18}, "x", nil, gnnmg.TaskNone, 0)
	fails(t, err, gnnmg.ErrRange)

	sampler := made[*gnnmg.Sampler](t)(gnnmg.NewGraphsSampler(data))
	batch := made[*gnnmg.Batch](t)(sampler.Sample(background, data, []int64{1, 4}, gnnmg.RandomKey{}))
	starts, err := gnnmg.Values[int64](gnnmg.Must(batch.GraphPtr()))
	ok(t, err)
	equalSlices(t, starts, []int64{0, 3, 6})
	_, err = gnnmg.NewGraphsSampler(w.data)
	fails(t, err, gnnmg.ErrInvalidArgument)
}
