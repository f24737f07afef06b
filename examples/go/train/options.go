package main

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

// options are the values of the command line.
type options struct {
	dataset string // a path, or "planted[:NODES]", "products[:NODES]"
	// Data
	split                             string // "": the first
	splitIndex                        int
	trainFraction, validationFraction float64 // above 0: a random split
	drawn                             bool    // the split of the run is a random one
	balanceClasses                    bool
	normalizeRows, noEdges            bool
	// Model
	model                            gnnmg.Architecture
	readout                          gnnmg.Readout
	jumping                          gnnmg.Jumping
	aggregation                      gnnmg.Aggregation
	activation                       gnnmg.Activation
	norm                             gnnmg.Norm
	skip                             gnnmg.Skip
	init                             gnnmg.WeightInit
	layers, heads, sortRows          int
	relations, bases, blocks         int
	input                            gnnmg.Input // used if inputGiven; else from the data set
	inputGiven                       bool
	hidden                           int64
	dropout, inputDropout            float64
	outputDropout                    float64
	edgeDropout, nodeDropout         float64
	edgeFeatures, edgeWeights        bool
	normalize, project, noRoot, wide bool
	nodeCategories, edgeCategories   []int64
	trainEps                         bool
	// Sampling
	fanouts   []int64
	expansion gnnmg.Expansion
	draw      gnnmg.Draw
	replace   bool
	// Training
	epochs, batchSize, batchesPerStep    int64 // batchSize 0: all ids at once
	batchNodes                           int64
	evaluateEvery, patience              int64
	learningRate, weightDecay, clip      float64
	optimizer                            gnnmg.OptimizerKind
	schedule                             gnnmg.Schedule
	metric                               gnnmg.Metric
	evaluation                           gnnmg.Evaluation
	ranks, loaderThreads, torchThreads   int // no ranks: one per GPU, or one
	device                               gnnmg.DeviceType
	devices                              []int64 // devices of the ranks; none: all devices
	graphPlacement                       gnnmg.GraphPlacement
	featurePlacement                     gnnmg.FeaturePlacement
	featureForm                          gnnmg.FeatureForm
	hotness                              gnnmg.Hotness
	capture                              gnnmg.Capture
	precision                            gnnmg.Precision
	cacheMiB                             int64
	gatherMultiprocessors                int
	weightDecayLayers                    int64
	deterministic, syncBatchNorm, varied bool
	dropLast                             bool
	scheduleEpochs                       int64
	seed                                 uint64
	runs                                 int
	// Several processes
	processes, process, port int // no processes: the launcher's settings
	meeting                  gnnmg.Meeting
	// Data in parts
	partition                   gnnmg.Plan
	reading                     gnnmg.PartsReading
	insecure                    bool
	serverPatience              float64 // seconds
	certificate, key, authority string
	deadline                    time.Duration
	// Output
	save, load, log, tensorboard, checkpoints string
	checkpointSteps                           int64
	checkpointKeep                            int
	resume, quiet                             bool
	confusion, times, plan                    bool
	gpuMemory                                 uint64 // bytes; 0: that of the first GPU, as far as it is free
}

// shorter are words of this program for some of the library's.
var shorter = map[string]string{"leaky": "leaky_relu", "auc": "roc_auc"}

// choice defines an option for one of the library's settings, "model.jumping", whose words it takes.
func choice(flags *flag.FlagSet, value any, name, setting, help string) {
	subject, key, _ := strings.Cut(setting, ".")
	all := Get(gnnmg.Settings(subject))
	s := all[slices.IndexFunc(all, func(s gnnmg.Setting) bool { return s.Name == key })]
	take := func(word string) error { return json.Unmarshal([]byte(strconv.Quote(word)), value) }
	Check(take(s.Default))
	flags.Func(name, fmt.Sprintf("%s: %s (default %s)", help, s.Values, s.Default), func(text string) error {
		word := strings.ReplaceAll(text, "-", "_")
		if longer, ok := shorter[text]; ok {
			word = longer
		}
		if !slices.Contains(strings.Split(s.Values, ", "), word) {
			return fmt.Errorf("expected one of %s", s.Values)
		}
		return take(word)
	})
}

// wordOf is the word of an enumeration's value.
func wordOf(value encoding.TextMarshaler) string { return string(Get(value.MarshalText())) }

func refuse(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "train: "+format+" (try --help)\n", arguments...)
	os.Exit(2)
}

// parse reads the command line. It prints help or an error and ends the program if the command line
// requires it.
func parse(arguments []string) *options {
	o := &options{fanouts: []int64{10, 10}, batchSize: 1024}
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, name := range []string{"h", "help"} {
		flags.BoolFunc(name, "", func(topic string) error {
			printHelp(topic)
			os.Exit(0)
			return nil
		})
	}
	for _, t := range topics {
		t.define(o, flags)
	}
	for { // the data set may stand before options
		if err := flags.Parse(arguments); err != nil {
			refuse("%v", err)
		}
		if flags.NArg() == 0 {
			break
		}
		if o.dataset != "" {
			refuse("one data set, please")
		}
		o.dataset, arguments = flags.Arg(0), flags.Args()[1:]
	}
	o.check(flags)
	return o
}

func (o *options) defineData(flags *flag.FlagSet) {
	flags.Func("split", "`NAME[:INDEX]` of the split to use (default: the first)", func(text string) (err error) {
		name, index, given := strings.Cut(text, ":")
		if o.split = name; given {
			o.splitIndex, err = strconv.Atoi(index)
		}
		return err
	})
	flags.Func("random-split", "draw a split instead: fractions `T,V` for training and validation", func(text string) (err error) {
		train, validation, _ := strings.Cut(text, ",")
		if o.trainFraction, err = strconv.ParseFloat(train, 64); err != nil {
			return err
		}
		o.validationFraction, err = strconv.ParseFloat(validation, 64)
		return err
	})
	flags.BoolVar(&o.normalizeRows, "normalize-rows", false, "divide each node's features by their sum")
	flags.BoolVar(&o.noEdges, "no-edges", false, "drop all edges, to measure the graph's benefit")
	flags.BoolVar(&o.balanceClasses, "balance-classes", false, "every class counts the same in the loss")
}

func (o *options) defineModel(flags *flag.FlagSet) {
	choice(flags, &o.model, "model", "model.architecture", "kind of layers")
	choice(flags, &o.readout, "readout", "model.readout", "results for graphs")
	choice(flags, &o.jumping, "jumping", "model.jumping", "combination of the layers' results; with --readout the default is last")
	choice(flags, &o.aggregation, "aggregation", "model.aggregation", "of sage, gin, gine, graphconv, rgcn, edge; the default is sum for "+
		"gin, gine and graphconv, max for edge, mean for all others")
	choice(flags, &o.input, "input", "model.input", "features, a learned row a node, or of rgcn the node itself; without "+
		"features the default is nodes for rgcn, embedding for all others")
	choice(flags, &o.activation, "activation", "model.activation", "function between layers")
	choice(flags, &o.norm, "norm", "model.norm", "norm between layers")
	choice(flags, &o.skip, "skip", "model.skip", "skips past layers")
	choice(flags, &o.init, "init", "model.weight_init", "law of the initial weights")
	flags.IntVar(&o.layers, "layers", 2, "layers")
	flags.Int64Var(&o.hidden, "hidden", 64, "hidden width")
	flags.IntVar(&o.heads, "heads", 1, "of gat, gatv2, transformer, dividing the hidden width")
	flags.IntVar(&o.sortRows, "sort-rows", 30, "of the readout sort")
	flags.IntVar(&o.relations, "relations", 0, "of rgcn: types of edges (0: those of the data set)")
	flags.IntVar(&o.bases, "bases", 0, "of rgcn: matrices that those of the relations are sums of")
	flags.IntVar(&o.blocks, "blocks", 0, "of rgcn: blocks of the relations' matrices")
	flags.BoolVar(&o.edgeFeatures, "edge-features", false, "gat, gatv2, transformer, pna read them; gine always does")
	flags.BoolVar(&o.edgeWeights, "edge-weights", false, "gcn, graphconv read them")
	categories(flags, &o.nodeCategories, "node-categories", "features are numbers of categories, so many a column `N,...`: learned rows")
	categories(flags, &o.edgeCategories, "edge-categories", "the same of the edges' features `N,...`")
	flags.Float64Var(&o.dropout, "dropout", 0.5, "on hidden rows")
	flags.Float64Var(&o.inputDropout, "input-dropout", 0, "on features")
	flags.Float64Var(&o.outputDropout, "output-dropout", 0, "on the input of the last linear layer, or on each score")
	flags.Float64Var(&o.edgeDropout, "edge-dropout", 0, "leave out edges, in training, of each layer")
	flags.Float64Var(&o.nodeDropout, "node-dropout", 0, "leave out nodes, in training, with all their edges")
	flags.BoolVar(&o.normalize, "normalize", false, "scale each layer's rows to unit length")
	flags.BoolVar(&o.project, "project", false, "a linear layer on the sources first")
	flags.BoolVar(&o.noRoot, "no-root", false, "leave out a node's own row")
	flags.BoolVar(&o.trainEps, "train-eps", false, "of gin, gine: learn how much a node's own row counts")
	flags.BoolVar(&o.wide, "double", false, "double precision")
}

func (o *options) defineSampling(flags *flag.FlagSet) {
	flags.Func("fanouts", "neighbors per hop `A,B,...`, nearest to the seeds first, or full (default 10,10)", o.setFanouts)
	choice(flags, &o.expansion, "expansion", "sampler.expansion", "which nodes a hop starts from")
	choice(flags, &o.draw, "draw", "sampler.draw", "draw of neighbors")
	flags.BoolVar(&o.replace, "replace", false, "draw with replacement")
}

func (o *options) setFanouts(text string) error {
	o.fanouts = nil
	if text == "full" {
		return nil // one -1 a layer, once the layers are known
	}
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < -1 {
			return fmt.Errorf("expected full, or integers of at least -1 with commas between")
		}
		o.fanouts = append(o.fanouts, n)
	}
	return nil
}

// categories defines an option that takes how many categories each column has.
func categories(flags *flag.FlagSet, value *[]int64, name, help string) {
	flags.Func(name, help, func(text string) error {
		*value = nil
		for _, part := range strings.Split(text, ",") {
			n, err := strconv.ParseInt(part, 10, 32)
			if err != nil || n < 1 {
				return fmt.Errorf("expected integers of at least 1 with commas between")
			}
			*value = append(*value, n)
		}
		return nil
	})
}

func (o *options) defineTraining(flags *flag.FlagSet) {
	flags.Int64Var(&o.epochs, "epochs", 20, "epochs; 0: evaluate the weights of --load")
	flags.Func("batch-size", "seeds a mini-batch `N`; all: one mini-batch an epoch (default 1024)", func(text string) (err error) {
		if o.batchSize = 0; text != "all" {
			o.batchSize, err = strconv.ParseInt(text, 10, 64)
		}
		return err
	})
	flags.BoolVar(&o.dropLast, "drop-last", false, "leave out a last mini-batch that is short")
	flags.Int64Var(&o.batchNodes, "batch-nodes", 0, "of graphs: nodes a mini-batch at most; 0: any number")
	flags.Int64Var(&o.batchesPerStep, "batches-per-step", 0, "mini-batches a step, all ranks together (0: number of ranks)")
	choice(flags, &o.optimizer, "optimizer", "trainer.optimizer", "rule of the updates")
	flags.Float64Var(&o.learningRate, "lr", 0.003, "learning rate")
	flags.Float64Var(&o.weightDecay, "weight-decay", 0, "weight decay")
	flags.Int64Var(&o.weightDecayLayers, "weight-decay-layers", 0, "layers that decay, the first ones; 0: all")
	choice(flags, &o.schedule, "schedule", "trainer.schedule", "of the learning rate")
	flags.Int64Var(&o.scheduleEpochs, "schedule-epochs", 50, "epochs until the schedule step halves the rate")
	flags.Float64Var(&o.clip, "clip", 0, "limit of the gradient's norm; 0: none")
	flags.Int64Var(&o.patience, "patience", 0, "stop after so many evaluations without a better one; 0: never")
	choice(flags, &o.metric, "metric", "trainer.best_by", "choice of the best epoch")
	choice(flags, &o.evaluation, "evaluation", "trainer.evaluation", "neighborhoods of validation")
	flags.Int64Var(&o.evaluateEvery, "evaluate-every", 1, "epochs between validations")
	flags.IntVar(&o.ranks, "ranks", 0, "replicas, each in a thread of its own; 0: one a GPU, or one")
	flags.IntVar(&o.loaderThreads, "loader-threads", 1, "threads a rank that sample and gather")
	flags.IntVar(&o.torchThreads, "torch-threads", 0, "threads a rank for dense products; 0: its share of the cores")
	choice(flags, &o.precision, "precision", "trainer.precision", "of products, tf32 on GPUs")
	flags.BoolVar(&o.syncBatchNorm, "sync-batch-norm", false, "batch norm over all ranks' mini-batches of a step together")
	flags.BoolVar(&o.deterministic, "deterministic", false, "the same bits for any number of ranks and threads")
	flags.Uint64Var(&o.seed, "seed", 1, "of weights, order, samples, dropout and random split")
	flags.IntVar(&o.runs, "runs", 1, "train so many times with seeds counting up")
	flags.BoolVar(&o.varied, "vary-split", false, "count the split's index up as well")
}

func (o *options) defineDevices(flags *flag.FlagSet) {
	flags.Func("device", "auto, cpu, cuda, or the `GPUs` of the ranks: cuda:0,1 (default auto)", o.setDevice)
	choice(flags, &o.graphPlacement, "graph-placement", "trainer.graph_placement", "where GPUs read the graph")
	choice(flags, &o.featurePlacement, "feature-placement", "trainer.feature_placement", "where GPUs read features")
	choice(flags, &o.featureForm, "feature-form", "trainer.feature_form", "how features are kept for GPUs")
	choice(flags, &o.hotness, "hotness", "trainer.hotness", "choice of cached rows")
	choice(flags, &o.capture, "capture", "trainer.capture", "steps on GPUs as CUDA graphs")
	flags.Int64Var(&o.cacheMiB, "cache-mib", 0, "memory of each GPU for cached features; 0: 30 % of the free memory")
	flags.IntVar(&o.gatherMultiprocessors, "gather-multiprocessors", 0, "of a GPU, for features in main memory; 0: an eighth")
}

func (o *options) setDevice(text string) error {
	o.devices = nil
	if list, named := strings.CutPrefix(text, "cuda:"); named {
		o.device = gnnmg.DeviceCUDA
		for _, part := range strings.Split(list, ",") {
			n, err := strconv.ParseInt(part, 10, 32)
			if err != nil || n < 0 {
				return fmt.Errorf("expected GPUs like cuda:0,1")
			}
			o.devices = append(o.devices, n)
		}
		return nil
	}
	if o.device.UnmarshalText([]byte(text)) != nil {
		return fmt.Errorf("expected auto, cpu, cuda, or GPUs like cuda:0,1")
	}
	return nil
}

func (o *options) defineProcesses(flags *flag.FlagSet) {
	flags.IntVar(&o.processes, "processes", 0, "how many; 0: as torchrun, srun or mpirun have set it")
	flags.IntVar(&o.process, "process", 0, "which of them this one is, from 0")
	flags.StringVar(&o.meeting.Host, "host", "127.0.0.1", "where process 0 is")
	flags.IntVar(&o.port, "port", 0, "where it listens")
	flags.StringVar(&o.meeting.TokenFile, "token-file", os.Getenv("GNNMG_TOKEN_FILE"), "secret of the job and of servers, needed beyond this machine")
	flags.StringVar(&o.meeting.Interface, "interface", "", "network interface to be reached at")
	o.deadline = 30 * time.Second
	flags.Func("deadline", "`seconds` that ranks wait for a late one (default 30)", func(text string) error {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds >= 0.001 && seconds <= 1e6) {
			return fmt.Errorf("expected seconds, from 0.001 to 1000000")
		}
		o.deadline = time.Duration(seconds * float64(time.Second))
		return nil
	})
}

func (o *options) defineParts(flags *flag.FlagSet) {
	choice(flags, &o.partition, "partition", "trainer.plan", "seeds of a mini-batch of data in parts")
	flags.Func("reading", "of other processes' parts: auto, shared from the folder, asked (default auto)", func(text string) (err error) {
		words := []string{"auto", "shared", "asked"}
		if o.reading = gnnmg.PartsReading(slices.Index(words, text)); o.reading < 0 {
			err = fmt.Errorf("expected one of %v", words)
		}
		return err
	})
	flags.Float64Var(&o.serverPatience, "server-patience", 0, "`seconds` to wait for parts whose servers are all away")
	flags.BoolVar(&o.insecure, "insecure", false, "processes and servers are asked without TLS beyond this machine")
	flags.StringVar(&o.certificate, "tls-cert", "", "or by certificates, PEM: that of this process")
	flags.StringVar(&o.key, "tls-key", "", "its key")
	flags.StringVar(&o.authority, "tls-ca", "", "that with which the others' are signed")
}

func (o *options) defineOutput(flags *flag.FlagSet) {
	flags.StringVar(&o.save, "save", "", "weights, .safetensors or .pth")
	flags.StringVar(&o.load, "load", "", "weights to start from")
	flags.StringVar(&o.checkpoints, "checkpoints", "", "folder of checkpoints after each epoch, and on an interrupt;\nit is of one training, which --resume goes on with")
	flags.Int64Var(&o.checkpointSteps, "checkpoint-steps", 0, "after so many steps instead")
	flags.IntVar(&o.checkpointKeep, "checkpoint-keep", 3, "how many of the last stay, beside the best")
	flags.BoolVar(&o.resume, "resume", false, "go on from the newest whole checkpoint, if there is one")
	flags.StringVar(&o.log, "log", "", "file of one JSON object an epoch")
	flags.StringVar(&o.tensorboard, "tensorboard", "", "folder of event files")
	flags.BoolVar(&o.confusion, "confusion", false, "precision, recall and F1 of each class")
	flags.BoolVar(&o.times, "times", false, "where the time of the last epoch went, for each rank")
	flags.BoolVar(&o.plan, "plan", false, "print the use of a GPU's memory, and train nothing")
	flags.Func("gpu-memory", "`SIZE` of a GPU that need not be there, as 80G or 40GiB (default that of the first GPU, as far as "+
		"it is free)", o.setGPUMemory)
	flags.BoolVar(&o.quiet, "quiet", false, "only the closing table")
}

// limited are options that mean something to some kinds of models only.
var limited = map[string][]gnnmg.Architecture{
	"heads":           {gnnmg.ArchitectureGAT, gnnmg.ArchitectureGATv2, gnnmg.ArchitectureTransformer},
	"edge-features":   {gnnmg.ArchitectureGAT, gnnmg.ArchitectureGATv2, gnnmg.ArchitectureTransformer, gnnmg.ArchitecturePNA, gnnmg.ArchitectureGINE},
	"edge-categories": {gnnmg.ArchitectureGAT, gnnmg.ArchitectureGATv2, gnnmg.ArchitectureTransformer, gnnmg.ArchitecturePNA, gnnmg.ArchitectureGINE},
	"train-eps":       {gnnmg.ArchitectureGIN, gnnmg.ArchitectureGINE},
	"edge-weights":    {gnnmg.ArchitectureGCN, gnnmg.ArchitectureGraphConv},
	"relations":       {gnnmg.ArchitectureRGCN},
	"bases":           {gnnmg.ArchitectureRGCN},
	"blocks":          {gnnmg.ArchitectureRGCN},
	"aggregation": {gnnmg.ArchitectureSAGE, gnnmg.ArchitectureGIN, gnnmg.ArchitectureGINE, gnnmg.ArchitectureGraphConv, gnnmg.ArchitectureRGCN,
		gnnmg.ArchitectureEdge},
	"normalize": {gnnmg.ArchitectureSAGE},
	"project":   {gnnmg.ArchitectureSAGE},
	"no-root":   {gnnmg.ArchitectureSAGE, gnnmg.ArchitectureRGCN, gnnmg.ArchitectureTransformer},
}

// check refuses incompatible options and fills in defaults that depend on other options.
func (o *options) check(flags *flag.FlagSet) {
	if o.dataset == "" {
		refuse("which data set?")
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) {
		given[f.Name] = true
		if kinds, ok := limited[f.Name]; ok && !slices.Contains(kinds, o.model) {
			refuse("--%s is not an option of the model %s", f.Name, wordOf(o.model))
		}
	})
	switch {
	case o.layers < 1:
		refuse("--layers %d: expected at least 1", o.layers)
	case given["schedule-epochs"] && o.schedule != gnnmg.ScheduleStep:
		refuse("--schedule-epochs needs --schedule step")
	case given["sort-rows"] && o.readout != gnnmg.ReadoutSort:
		refuse("--sort-rows needs --readout sort")
	case o.checkpoints == "" && (o.resume || o.checkpointSteps > 0):
		refuse("--resume and --checkpoint-steps need --checkpoints")
	case o.checkpoints != "" && o.runs > 1:
		refuse("--checkpoints are of one run, not of %d", o.runs)
	case (o.certificate == "") != (o.key == "") || (o.key == "") != (o.authority == ""):
		refuse("--tls-cert, --tls-key and --tls-ca belong together")
	case o.processes > 1 && o.port == 0:
		refuse("--processes needs --port")
	}
	o.inputGiven = given["input"]
	if o.readout != gnnmg.ReadoutNone && !given["jumping"] {
		o.jumping = gnnmg.JumpingLast
	}
	if o.fanouts == nil {
		o.fanouts = slices.Repeat([]int64{-1}, o.layers)
	}
}
