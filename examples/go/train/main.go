// Training from the command line: any kind of model on a data set or a generated graph, one or
// several ranks in one or several processes, a progress bar, and a closing table. `train --help`
// lists its options.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

// join joins the job that a launcher has started or that the options name; nil: there is none, this
// process trains alone. The other processes may take long to arrive: an interrupt ends the wait.
func join(interrupted context.Context, rt *gnnmg.Runtime, o *options) *gnnmg.Comm {
	config := func(c *gnnmg.CommConfig) {
		if c.Deadline = o.deadline; o.processes > 0 {
			c.NumProcesses, c.ProcessRank, c.Port = o.processes, o.process, o.port
		}
	}
	var comm *gnnmg.Comm
	var err error
	if o.processes > 0 {
		comm, err = gnnmg.NewComm(interrupted, rt, o.meeting, config)
	} else if comm, err = gnnmg.NewCommFromEnv(interrupted, rt, config); errors.Is(err, gnnmg.ErrNotFound) {
		return nil
	}
	if interrupted.Err() != nil {
		endByInterrupt(rt)
	}
	return Get(comm, err)
}

// endByInterrupt ends the program while a call waits.
func endByInterrupt(rt *gnnmg.Runtime) {
	rt.Cancel()
	CloseRuntime(rt)
	os.Exit(130)
}

// generated is the graph that "planted:20000" names; nil for anything else.
func generated(rt *gnnmg.Runtime, text string) *gnnmg.Graph {
	kind, size, sized := strings.Cut(text, ":")
	nodes, err := strconv.ParseInt(size, 10, 64)
	if sized && (err != nil || nodes <= 0) {
		return nil
	}
	switch kind {
	case "planted":
		return Get(gnnmg.Generate(rt, func(c *gnnmg.PlantedConfig) {
			if sized {
				c.NumNodes = nodes
			}
		}))
	case "products":
		return Get(gnnmg.Generate(rt, func(c *gnnmg.LogNormalConfig) {
			if c.NumNodes = 244903; sized {
				c.NumNodes = nodes
			}
		}))
	}
	return nil
}

// openShare opens this process's share of a graph in parts.
func openShare(interrupted context.Context, rt *gnnmg.Runtime, comm *gnnmg.Comm, o *options) (*gnnmg.Dataset, error) {
	if o.certificate != "" {
		Check(rt.SetOption("tls_certificate", o.certificate))
		Check(rt.SetOption("tls_key", o.key))
		Check(rt.SetOption("tls_authority", o.authority))
	}
	return gnnmg.OpenParts(interrupted, rt, comm, o.dataset, func(c *gnnmg.OpenPartsConfig) {
		c.Reading, c.Insecure = o.reading, o.insecure
	})
}

// openServed opens the data of graph servers.
func openServed(interrupted context.Context, rt *gnnmg.Runtime, addresses string, o *options) (*gnnmg.Dataset, error) {
	return gnnmg.OpenServed(interrupted, rt, addresses, o.meeting.TokenFile, func(c *gnnmg.ServedConfig) {
		c.Patience, c.Insecure = time.Duration(o.serverPatience*float64(time.Second)), o.insecure
		c.TLSCertificate, c.TLSKey, c.TLSAuthority = o.certificate, o.key, o.authority
	})
}

// open opens data that are not generated. An interrupt ends the wait.
func open(interrupted context.Context, rt *gnnmg.Runtime, comm *gnnmg.Comm, o *options) *gnnmg.Dataset {
	var data *gnnmg.Dataset
	var err error
	if addresses, served := strings.CutPrefix(o.dataset, "served:"); served {
		data, err = openServed(interrupted, rt, addresses, o)
	} else if _, parts := os.Stat(filepath.Join(o.dataset, "manifest.json")); comm != nil && parts == nil {
		data, err = openShare(interrupted, rt, comm, o)
	} else {
		data, err = gnnmg.OpenDataset(interrupted, rt, o.dataset)
	}
	if interrupted.Err() != nil {
		endByInterrupt(rt)
	}
	return Get(data, err)
}

func openData(interrupted context.Context, rt *gnnmg.Runtime, comm *gnnmg.Comm, o *options) *gnnmg.Dataset {
	var data *gnnmg.Dataset
	if graph := generated(rt, o.dataset); graph != nil {
		defer graph.Close()
		data = Get(gnnmg.NewDataset(graph, "x", "y", gnnmg.TaskMulticlass, 0))
	} else {
		data = open(interrupted, rt, comm, o)
	}
	if o.normalizeRows || o.noEdges {
		defer data.Close()
		return changed(data, o)
	}
	return data
}

// chooseSplit chooses the split of a run: the requested one, a random one, or the first.
func chooseSplit(data *gnnmg.Dataset, o *options, run int) *gnnmg.Dataset {
	if !o.varied {
		run = 0
	}
	if o.drawn = o.trainFraction > 0 || Get(data.Info()).NumSplits == 0 && o.split == ""; o.drawn {
		Check(data.AddRandomSplit("random", func(c *gnnmg.SplitConfig) {
			if c.Seed = o.seed + uint64(run); o.trainFraction > 0 {
				c.TrainFraction, c.ValidationFraction = o.trainFraction, o.validationFraction
			}
		}))
	} else {
		data = Get(data.SelectSplit(o.split, o.splitIndex+run))
	}
	if o.balanceClasses {
		Check(data.BalanceClasses())
	}
	return data
}

// inputOf returns the default input of the model.
func inputOf(data *gnnmg.Dataset, o *options) gnnmg.Input {
	switch {
	case o.inputGiven || Get(data.Info()).FeatureDim > 0:
		return o.input
	case o.model == gnnmg.ArchitectureRGCN && o.blocks == 0:
		return gnnmg.InputNodes
	}
	return gnnmg.InputEmbedding
}

func newModel(rt *gnnmg.Runtime, data *gnnmg.Dataset, o *options, run int) *gnnmg.Model {
	input := inputOf(data, o)
	model := Get(gnnmg.NewModel(rt, data, func(c *gnnmg.ModelConfig) {
		c.Architecture, c.NumLayers, c.HiddenDim, c.Heads = o.model, o.layers, o.hidden, o.heads
		c.Readout, c.SortRows, c.Jumping = o.readout, o.sortRows, o.jumping
		c.Aggregation, c.Activation, c.Norm, c.Skip = o.aggregation, o.activation, o.norm, o.skip
		c.Input, c.NumRelations, c.NumBases, c.NumBlocks = input, o.relations, o.bases, o.blocks
		c.EdgeWeights = o.edgeWeights
		if o.edgeFeatures {
			c.EdgeDim = -1 // the data set's
		}
		if len(o.edgeCategories) > 0 {
			c.EdgeDim = o.hidden
		}
		c.NodeVocabulary, c.EdgeVocabulary = o.nodeCategories, o.edgeCategories
		c.WeightInit, c.Dropout, c.InputDropout, c.OutputDropout = o.init, o.dropout, o.inputDropout, o.outputDropout
		c.EdgeDropout, c.NodeDropout = o.edgeDropout, o.nodeDropout
		c.Normalize, c.Project, c.RootWeight, c.TrainEps = o.normalize, o.project, !o.noRoot, o.trainEps
		if o.wide {
			c.DType = gnnmg.DTypeF64
		}
		c.Seed = o.seed + uint64(run)
	}))
	if o.load != "" {
		Check(model.Load(Background, o.load))
	}
	return model
}

func newSampler(data *gnnmg.Dataset, o *options) *gnnmg.Sampler {
	config := func(c *gnnmg.SamplerConfig) {
		c.Fanouts, c.Expansion, c.Draw, c.Replace = o.fanouts, o.expansion, o.draw, o.replace
	}
	if o.readout != gnnmg.ReadoutNone {
		return Get(gnnmg.NewGraphsSampler(data, config, func(c *gnnmg.SamplerConfig) {
			c.Fanouts = make([]int64, o.layers) // graphs are taken whole
		}))
	}
	graph := Get(data.Graph())
	defer graph.Close()
	return Get(gnnmg.NewSampler(graph, config))
}

func newTrainer(model *gnnmg.Model, data *gnnmg.Dataset, comm *gnnmg.Comm, o *options, run int) *gnnmg.Trainer {
	sampler := newSampler(data, o)
	defer sampler.Close()
	trainer := Get(gnnmg.NewTrainer(model, data, sampler, comm, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.NumEpochs, c.BatchesPerStep = o.ranks, o.epochs, o.batchesPerStep
		c.Plan = o.partition
		if c.BatchSize = o.batchSize; o.batchSize == 0 {
			c.BatchSize = math.MaxInt64
		}
		c.BatchNodes, c.Seed = o.batchNodes, o.seed+uint64(run)
		c.Optimizer, c.LearningRate, c.WeightDecay, c.ClipNorm = o.optimizer, o.learningRate, o.weightDecay, o.clip
		c.DropLast, c.ScheduleStepEpochs = o.dropLast, o.scheduleEpochs
		c.Schedule, c.BestBy, c.EarlyStopPatience = o.schedule, o.metric, o.patience
		c.Evaluation, c.EvaluateEvery = o.evaluation, o.evaluateEvery
		c.LoaderThreads, c.TorchThreads = o.loaderThreads, o.torchThreads
		c.WeightDecayLayers = o.weightDecayLayers
		c.Device, c.Devices, c.GraphPlacement = o.device, o.devices, o.graphPlacement
		c.FeaturePlacement, c.FeatureForm, c.Hotness = o.featurePlacement, o.featureForm, o.hotness
		c.CacheBytes, c.GatherMultiprocessors = o.cacheMiB<<20, o.gatherMultiprocessors
		c.Capture, c.Precision = o.capture, o.precision
		c.Deterministic, c.SyncBatchNorm, c.Deadline = o.deterministic, o.syncBatchNorm, o.deadline
	}))
	if o.log != "" {
		Check(trainer.SetRecord(gnnmg.RecordJSONLines, o.log))
	}
	if o.tensorboard != "" {
		Check(trainer.SetRecord(gnnmg.RecordTensorBoard, o.tensorboard))
	}
	return trainer
}

// useCheckpoints makes the trainer write checkpoints, and continues from the newest on request.
func useCheckpoints(rt *gnnmg.Runtime, trainer *gnnmg.Trainer, o *options, speaks bool) {
	Check(trainer.SetCheckpoints(o.checkpoints, func(c *gnnmg.CheckpointConfig) {
		c.EverySteps, c.Keep = o.checkpointSteps, o.checkpointKeep
	}))
	if !o.resume {
		return
	}
	err := trainer.Load(Background, o.checkpoints)
	PrintWarnings(rt) // names a skipped checkpoint
	if errors.Is(err, gnnmg.ErrNotFound) {
		return // first start
	}
	Check(err)
	if at := Get(trainer.Progress()); speaks {
		fmt.Printf("resumed %d epochs and %d steps into training\n", at.Epoch, at.Step)
	}
}

// interrupts are two contexts: the first ends by the first Ctrl-C or SIGTERM, to stop in an orderly
// way, the second by another one, to stop at once.
func interrupts() (once, twice context.Context) {
	once, first := context.WithCancel(Background)
	twice, second := context.WithCancel(Background)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		first()
		<-signals
		second()
	}()
	return once, twice
}

// train trains to the end, or until the user interrupts: then all ranks stop after the same step, with
// the weights of that step. A second interrupt cancels the step, and the program ends.
func train(once, twice context.Context, rt *gnnmg.Runtime, trainer *gnnmg.Trainer, p *progress) {
	check(trainer.Start(p.epoch))
	endWatch := p.watch(once, trainer)
	err := trainer.Wait(twice)
	endWatch()
	if twice.Err() != nil {
		trainer.Cancel()
		endByInterrupt(rt)
	}
	check(err)
}

// check is Check, with the option in place of the function that loads a checkpoint.
func check(err error) {
	const loads = "gnnmg_trainer_load()"
	if err != nil && strings.Contains(err.Error(), loads) {
		err = errors.New(strings.ReplaceAll(err.Error(), loads, "--resume"))
	}
	Check(err)
}

// evaluate measures the model; a second interrupt ends the program here as well.
func evaluate(twice context.Context, rt *gnnmg.Runtime, trainer *gnnmg.Trainer, part gnnmg.Part, d display) gnnmg.Metrics {
	d.busy("evaluating")
	metrics, err := trainer.Evaluate(twice, part)
	d.clear()
	if twice.Err() != nil {
		endByInterrupt(rt)
	}
	return Get(metrics, err)
}

// score is the measure of the result of a run: the loss is printed as well.
func score(m gnnmg.Metrics, metric gnnmg.Metric) measure {
	if metric == gnnmg.MetricLoss && m.Task != gnnmg.TaskRegression {
		return measures[gnnmg.MetricAccuracy]
	}
	return measures[metric]
}

func sizeOf(data *gnnmg.Dataset, part gnnmg.Part) int {
	ids := Get(data.SplitIDs(part))
	defer ids.Close()
	return ids.Len()
}

func printHead(rt *gnnmg.Runtime, data *gnnmg.Dataset, model *gnnmg.Model, o *options, processes int) {
	info, m := Get(data.Info()), Get(model.Info())
	fmt.Printf("data    %s: %d nodes, %d edges, %d features, %d classes\n", o.dataset, info.NumNodes, info.NumEdges,
		info.FeatureDim, info.NumClasses)
	drawn := ""
	if o.drawn {
		drawn = ", drawn at random"
	}
	fmt.Printf("split   %d train, %d validation, %d test%s\n", sizeOf(data, gnnmg.PartTrain),
		sizeOf(data, gnnmg.PartValidation), sizeOf(data, gnnmg.PartTest), drawn)
	kind := wordOf(o.model)
	if o.model == gnnmg.ArchitectureSAGE {
		kind = "GraphSAGE " + wordOf(max(o.aggregation, gnnmg.AggregationMean))
	}
	fmt.Printf("model   %s, %d layers, hidden width %d, %d parameters\n", kind, m.NumLayers, m.HiddenDim,
		m.NumParameters)
	where := "this process"
	if processes > 1 {
		where = fmt.Sprintf("each of %d processes", processes)
	}
	if o.readout == gnnmg.ReadoutNone { // else graphs are taken whole
		where += ", fan-outs " + strings.Trim(fmt.Sprint(o.fanouts), "[]")
	}
	fmt.Printf("ranks   %s in %s\n\n", ranksOf(rt, o, processes), where)
}

// ranksOf returns the number of ranks, and their devices if given.
func ranksOf(rt *gnnmg.Runtime, o *options, processes int) string {
	gpus, _, err := rt.Devices()
	Check(err)
	switch {
	case len(o.devices) > 0:
		return fmt.Sprintf("%d on GPU %s", len(o.devices), strings.ReplaceAll(strings.Trim(fmt.Sprint(o.devices), "[]"), " ", ", "))
	case o.ranks == 0 && len(gpus) > 0 && o.device != gnnmg.DeviceCPU && processes > 1:
		return "one a GPU of its share"
	case o.ranks == 0 && len(gpus) > 0 && o.device != gnnmg.DeviceCPU:
		return "one a GPU"
	}
	return strconv.Itoa(max(o.ranks, 1))
}

// reachable is the best possible accuracy on the generated graphs: the share of test labels that
// the generator's own likelihoods predict correctly.
var reachable = map[string]string{
	"planted":  "0.391 from own features, 0.740 with one hop, 0.909 with two",
	"products": "0.229 from own features, 0.608 with one hop, 0.882 with two",
}

func printTest(trainer *gnnmg.Trainer, part gnnmg.Part, test gnnmg.Metrics, s measure, o *options) {
	if !o.quiet {
		fmt.Println()
	}
	label := map[bool]string{true: "test   ", false: "held out"}[part == gnnmg.PartTest]
	fmt.Printf("%s %s %.4f, loss %.4f", label, s.name, s.of(test), test.Loss)
	if at := Get(trainer.Progress()); at.HasValidation && at.BestEpoch >= 0 && at.State == gnnmg.TrainerStateFinished {
		fmt.Printf(" (weights of epoch %d, validation %.4f)", at.BestEpoch+1, at.BestValidation)
	}
	fmt.Println()
	if text, known := reachable[o.dataset]; known {
		fmt.Printf("        reachable: %s\n", text)
	}
}

// checkPlace complains, better before training than after it, about a place that neither has a file or folder to replace nor
// takes a new one: a link to nothing, a FIFO or a device, and for weights a folder that cannot be written to.
func checkPlace(option, path string) {
	const writable = 2
	var fault error
	if option == "save" { // the library tries the other places itself before the training
		fault = syscall.Access(filepath.Dir(path), writable)
	}
	if _, err := os.Lstat(path); err == nil && fault == nil {
		there, err := os.Stat(path)
		switch {
		case err != nil:
			refuse("--%s %s: is a link to nothing", option, path)
		case !there.Mode().IsRegular() && !there.IsDir():
			refuse("--%s %s: is neither a file nor a folder", option, path)
		}
		fault = syscall.Access(path, writable)
	}
	if fault != nil {
		refuse("--%s %s: %v", option, path, fault)
	}
}

func main() {
	o := parse(os.Args[1:])
	for option, path := range map[string]string{"save": o.save, "log": o.log, "tensorboard": o.tensorboard,
		"checkpoints": o.checkpoints} {
		if path != "" {
			checkPlace(option, path)
		}
	}
	once, twice := interrupts()
	start := time.Now()
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	comm := join(once, rt, o)
	process, processes := 0, 1
	if comm != nil {
		process, processes = Get(comm.Rank()), Get(comm.WorldSize())
	}
	speaks := process == 0 // one process of a job prints and saves
	d := display{quiet: o.quiet || !speaks}
	d.bar = !d.quiet && isTerminal(os.Stderr) && isTerminal(os.Stdout)
	d.busy("loading " + o.dataset)
	data := openData(once, rt, comm, o)
	d.clear()
	PrintWarnings(rt)
	metric := o.metric
	if Get(data.Info()).Task == gnnmg.TaskRegression && metric != gnnmg.MetricMAE {
		metric = gnnmg.MetricRMSE // there is nothing to be right about
	}

	var name string
	var values []float64
	var curves [][]point
	part := gnnmg.PartTest
	for run := 0; run < o.runs && once.Err() == nil; run++ {
		data = chooseSplit(data, o, run)
		if part = gnnmg.PartTest; sizeOf(data, part) == 0 { // folds hold one part out
			part = gnnmg.PartValidation
		}
		model := newModel(rt, data, o, run)
		trainer := newTrainer(model, data, comm, o, run)
		p := &progress{display: d, metric: metric, slowest: map[int]int64{}}
		if run == 0 && speaks {
			printHead(rt, data, model, o, processes)
		}
		if o.plan {
			if speaks {
				// [memory]
				printPlan(Get(trainer.MemoryInfo(o.gpuMemory)))
				// [memory]
			}
			trainer.Close()
			model.Close()
			break
		}
		if o.checkpoints != "" {
			useCheckpoints(rt, trainer, o, speaks)
		}
		train(once, twice, rt, trainer, p)
		if len(p.curve) > 0 {
			curves = append(curves, p.curve)
		}
		if speaks && o.save != "" && run == 0 {
			Check(model.Save(Background, o.save))
		}
		if sizeOf(data, part) > 0 { // all may be for training
			test := evaluate(twice, rt, trainer, part, d)
			s := score(test, metric)
			name, values = s.name, append(values, s.of(test))
			if speaks {
				printTest(trainer, part, test, s, o)
			}
			if o.confusion { // every process of a job
				_, matrix, err := trainer.Confusion(twice, part)
				Check(err)
				if speaks {
					printClasses(matrix)
				}
				matrix.Close()
			}
		}
		if speaks {
			p.table(time.Since(start))
			if o.times && p.sum.NumEpochs > 0 {
				// [ranks]
				printRanks(Get(trainer.Ranks()))
				// [ranks]
			}
		}
		trainer.Close()
		model.Close()
	}
	if speaks && len(values) > 1 {
		fmt.Println()
		if part == gnnmg.PartTest || len(curves) == 0 {
			printMean("result", name, values, "")
		} else {
			printCurves(curves, metric)
		}
	}
	if comm != nil {
		soon, cancel := context.WithTimeout(Background, 30*time.Second)
		defer cancel()
		Check(comm.Shutdown(soon)) // all processes leave together
	}
	if once.Err() != nil {
		CloseRuntime(rt)
		os.Exit(130)
	}
}
