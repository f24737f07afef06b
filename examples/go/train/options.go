package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gnnmg"
)

// options are the values of the command line.
type options struct {
	dataset string // a path, or "planted[:NODES]", "products[:NODES]"
	// Data
	split                             string // "": the first
	splitIndex                        int
	trainFraction, validationFraction float64 // above 0: a random split
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
	bases, blocks                    int
	input                            gnnmg.Input // used if inputGiven; else from the data set
	inputGiven                       bool
	hidden, relations                int64
	dropout, inputDropout            float64
	outputDropout                    float64
	edgeDropout, nodeDropout         float64
	edgeFeatures, edgeWeights        bool
	normalize, project, noRoot, wide bool
	nodeCategories, edgeCategories   []int
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
	devices                              []int // devices of the ranks; none: all devices
	graphPlacement                       gnnmg.GraphPlacement
	featurePlacement                     gnnmg.FeaturePlacement
	featureForm                          gnnmg.FeatureForm
	hotness                              gnnmg.Hotness
	capture                              gnnmg.Capture
	precision                            gnnmg.Precision
	cacheMiB                             uint64
	gatherMultiprocessors                int
	weightDecayLayers                    int
	deterministic, syncBatchNorm, varied bool
	dropLast                             bool
	scheduleEpochs                       int64
	seed                                 uint64
	runs                                 int
	// Several processes
	processes, process, port int // no processes: the launcher's settings
	meeting                  gnnmg.Meeting
	// Data in parts
	partition                   gnnmg.Partition
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
	times, plan                               bool
	gpuMemory                                 uint64 // bytes; 0: that of the first GPU, as far as it is free
}

// words are the values of an option, each with its meaning; the first is the default.
type words[T comparable] []struct {
	word  string
	value T
}

var (
	models = words[gnnmg.Architecture]{{"sage", gnnmg.ModelSAGE}, {"gcn", gnnmg.ModelGCN},
		{"gat", gnnmg.ModelGAT}, {"gatv2", gnnmg.ModelGATv2}, {"gin", gnnmg.ModelGIN}, {"gine", gnnmg.ModelGINE},
		{"rgcn", gnnmg.ModelRGCN}, {"transformer", gnnmg.ModelTransformer}, {"pna", gnnmg.ModelPNA},
		{"graphconv", gnnmg.ModelGraphConv}, {"edge", gnnmg.ModelEdge}}
	inputs = words[gnnmg.Input]{{"features", gnnmg.InputFeatures}, {"embedding", gnnmg.InputEmbedding},
		{"nodes", gnnmg.InputNodes}}
	readouts = words[gnnmg.Readout]{{"none", gnnmg.ReadoutNone}, {"sum", gnnmg.ReadoutSum},
		{"mean", gnnmg.ReadoutMean}, {"max", gnnmg.ReadoutMax}, {"attention", gnnmg.ReadoutAttention},
		{"set2set", gnnmg.ReadoutSet2Set}, {"sort", gnnmg.ReadoutSort}}
	jumpings = words[gnnmg.Jumping]{{"none", gnnmg.JumpingNone}, {"last", gnnmg.JumpingLast},
		{"cat", gnnmg.JumpingCat}, {"max", gnnmg.JumpingMax}, {"lstm", gnnmg.JumpingLSTM},
		{"scores", gnnmg.JumpingScores}}
	aggregations = words[gnnmg.Aggregation]{{"default", gnnmg.AggregationDefault}, {"mean", gnnmg.AggregationMean},
		{"max", gnnmg.AggregationMax}, {"sum", gnnmg.AggregationSum}}
	activations = words[gnnmg.Activation]{{"relu", gnnmg.ActivationReLU}, {"none", gnnmg.ActivationNone},
		{"elu", gnnmg.ActivationELU}, {"leaky", gnnmg.ActivationLeakyReLU}, {"gelu", gnnmg.ActivationGELU},
		{"tanh", gnnmg.ActivationTanh}, {"prelu", gnnmg.ActivationPReLU},
		{"silu", gnnmg.ActivationSiLU}, {"sigmoid", gnnmg.ActivationSigmoid}}
	norms = words[gnnmg.Norm]{{"none", gnnmg.NormNone}, {"batch", gnnmg.NormBatch}, {"layer", gnnmg.NormLayer},
		{"graph", gnnmg.NormLayerGraph}}
	skips = words[gnnmg.Skip]{{"none", gnnmg.SkipNone}, {"linear", gnnmg.SkipLinear},
		{"residual", gnnmg.SkipResidual}}
	inits = words[gnnmg.WeightInit]{{"pyg", gnnmg.WeightInitPyG}, {"glorot", gnnmg.WeightInitGlorot},
		{"dgl", gnnmg.WeightInitDGL}}
	expansions = words[gnnmg.Expansion]{{"once", gnnmg.ExpansionOnce}, {"every-layer", gnnmg.ExpansionEveryLayer}}
	draws      = words[gnnmg.Draw]{{"uniform", gnnmg.DrawUniform}, {"labor", gnnmg.DrawLabor},
		{"labor-once", gnnmg.DrawLaborOnce}}
	optimizers = words[gnnmg.OptimizerKind]{{"adam", gnnmg.OptimizerAdam}, {"adamw", gnnmg.OptimizerAdamW},
		{"sgd", gnnmg.OptimizerSGD}}
	schedules = words[gnnmg.Schedule]{{"constant", gnnmg.ScheduleConstant}, {"cosine", gnnmg.ScheduleCosine},
		{"step", gnnmg.ScheduleStep}, {"plateau", gnnmg.SchedulePlateau}}
	metrics = words[gnnmg.Metric]{{"accuracy", gnnmg.MetricAccuracy}, {"loss", gnnmg.MetricLoss},
		{"auc", gnnmg.MetricROCAUC}}
	devices = words[gnnmg.DeviceType]{{"auto", gnnmg.DeviceAuto}, {"cpu", gnnmg.DeviceCPU}, {"cuda", gnnmg.DeviceCUDA}}

	graphPlacements = words[gnnmg.GraphPlacement]{{"auto", gnnmg.GraphPlacementAuto},
		{"device", gnnmg.GraphPlacementDevice}, {"pinned", gnnmg.GraphPlacementPinned}, {"host", gnnmg.GraphPlacementHost}}
	featurePlacements = words[gnnmg.FeaturePlacement]{{"auto", gnnmg.FeaturePlacementAuto},
		{"device", gnnmg.FeaturePlacementDevice}, {"pinned", gnnmg.FeaturePlacementPinned},
		{"cached", gnnmg.FeaturePlacementCached}, {"split", gnnmg.FeaturePlacementSplit},
		{"host", gnnmg.FeaturePlacementHost}}
	featureForms = words[gnnmg.FeatureForm]{{"as-given", gnnmg.FeatureFormAsGiven}, {"f16", gnnmg.FeatureFormF16},
		{"bf16", gnnmg.FeatureFormBF16}, {"int8", gnnmg.FeatureFormInt8}}
	hotnesses = words[gnnmg.Hotness]{{"probability", gnnmg.HotnessProbability}, {"degree", gnnmg.HotnessDegree},
		{"counting", gnnmg.HotnessCounting}}
	precisions = words[gnnmg.Precision]{{"float32", gnnmg.PrecisionFloat32}, {"tf32", gnnmg.PrecisionTf32},
		{"bf16", gnnmg.PrecisionBF16}}
	captures = words[gnnmg.Capture]{{"auto", gnnmg.CaptureAuto}, {"off", gnnmg.CaptureOff}, {"on", gnnmg.CaptureOn},
		{"unpadded", gnnmg.CaptureUnpadded}}
	partitions = words[gnnmg.Partition]{{"global", gnnmg.PartitionGlobal}, {"parts", gnnmg.PartitionParts}}
	readings   = words[gnnmg.PartsReading]{{"auto", gnnmg.PartsReadingAuto}, {"shared", gnnmg.PartsReadingShared},
		{"asked", gnnmg.PartsReadingAsked}}
	evaluations = words[gnnmg.Evaluation]{{"full", gnnmg.EvaluationFull}, {"sampled", gnnmg.EvaluationSampled}}
)

// option defines an option that takes one of the words.
func (w words[T]) option(flags *flag.FlagSet, value *T, name, help string) {
	*value = w[0].value
	list := w[0].word
	for _, choice := range w[1:] {
		list += ", " + choice.word
	}
	flags.Func(name, fmt.Sprintf("%s: %s (default %s)", help, list, w[0].word), func(text string) error {
		for _, choice := range w {
			if choice.word == text {
				*value = choice.value
				return nil
			}
		}
		return fmt.Errorf("expected one of %s", list)
	})
}

// of returns the word of a value.
func (w words[T]) of(value T) string {
	for _, choice := range w {
		if choice.value == value {
			return choice.word
		}
	}
	return "?"
}

func refuse(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "train: "+format+" (try --help)\n", arguments...)
	os.Exit(2)
}

// parse reads the command line. It prints help or an error and ends the program if the command line
// requires it.
func parse(arguments []string) *options {
	o := &options{fanouts: []int64{10, 10}, batchSize: 1024}
	flags := flag.NewFlagSet("train", flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: train [OPTION]... DATASET\n\nDATASET is a folder or file, or "+
			"planted[:NODES] or products[:NODES], which are generated,\nor served:HOST:PORT,... by programs gnnmg-server, which "+
			"have its parts.\n\n")
		flags.PrintDefaults()
	}
	o.defineData(flags)
	o.defineModel(flags)
	o.defineTraining(flags)
	o.defineDevices(flags)
	o.defineProcesses(flags)
	o.defineParts(flags)
	o.defineOutput(flags)
	for { // the data set may stand before options
		_ = flags.Parse(arguments) // an error ends the program
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
	models.option(flags, &o.model, "model", "kind of layers")
	readouts.option(flags, &o.readout, "readout", "results for graphs")
	jumpings.option(flags, &o.jumping, "jumping", "combination of the layers' results; with --readout the default is last")
	aggregations.option(flags, &o.aggregation, "aggregation", "of sage, gin, gine, graphconv, rgcn, edge; the default is sum for "+
		"gin, gine and graphconv, max for edge, mean for all others")
	inputs.option(flags, &o.input, "input", "features, a learned row a node, or of rgcn the node itself; without "+
		"features the default is nodes for rgcn, embedding for all others")
	activations.option(flags, &o.activation, "activation", "function between layers")
	norms.option(flags, &o.norm, "norm", "norm between layers")
	skips.option(flags, &o.skip, "skip", "skips past layers")
	inits.option(flags, &o.init, "init", "law of the initial weights")
	flags.IntVar(&o.layers, "layers", 2, "layers")
	flags.Int64Var(&o.hidden, "hidden", 64, "hidden width")
	flags.IntVar(&o.heads, "heads", 1, "of gat, gatv2, transformer, dividing the hidden width")
	flags.IntVar(&o.sortRows, "sort-rows", 0, "of the readout sort (0: 30)")
	flags.Int64Var(&o.relations, "relations", 0, "of rgcn: types of edges (0: those of the data set)")
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
	flags.Func("fanouts", "neighbors per hop `A,B,...`, nearest to the seeds first, or full (default 10,10)", o.setFanouts)
	expansions.option(flags, &o.expansion, "expansion", "which nodes a hop starts from")
	draws.option(flags, &o.draw, "draw", "draw of neighbors")
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
func categories(flags *flag.FlagSet, value *[]int, name, help string) {
	flags.Func(name, help, func(text string) error {
		*value = nil
		for _, part := range strings.Split(text, ",") {
			n, err := strconv.ParseInt(part, 10, 32)
			if err != nil || n < 1 {
				return fmt.Errorf("expected integers of at least 1 with commas between")
			}
			*value = append(*value, int(n))
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
	optimizers.option(flags, &o.optimizer, "optimizer", "rule of the updates")
	flags.Float64Var(&o.learningRate, "lr", 0.003, "learning rate")
	flags.Float64Var(&o.weightDecay, "weight-decay", 0, "weight decay")
	flags.IntVar(&o.weightDecayLayers, "weight-decay-layers", 0, "layers that decay, the first ones; 0: all")
	schedules.option(flags, &o.schedule, "schedule", "of the learning rate")
	flags.Int64Var(&o.scheduleEpochs, "schedule-epochs", 50, "epochs until the schedule step halves the rate")
	flags.Float64Var(&o.clip, "clip", 0, "limit of the gradient's norm; 0: none")
	flags.Int64Var(&o.patience, "patience", 0, "stop after so many evaluations without a better one; 0: never")
	metrics.option(flags, &o.metric, "metric", "choice of the best epoch")
	evaluations.option(flags, &o.evaluation, "evaluation", "neighborhoods of validation")
	flags.Int64Var(&o.evaluateEvery, "evaluate-every", 1, "epochs between validations")
	flags.IntVar(&o.ranks, "ranks", 0, "replicas, each in a thread of its own; 0: one a GPU, or one")
	flags.IntVar(&o.loaderThreads, "loader-threads", 1, "threads a rank that sample and gather")
	flags.IntVar(&o.torchThreads, "torch-threads", 0, "threads a rank for dense products; 0: its share of the cores")
	precisions.option(flags, &o.precision, "precision", "of products, tf32 on GPUs")
	flags.BoolVar(&o.syncBatchNorm, "sync-batch-norm", false, "batch norm over all ranks' mini-batches of a step together")
	flags.BoolVar(&o.deterministic, "deterministic", false, "the same bits for any number of ranks and threads")
	flags.Uint64Var(&o.seed, "seed", 1, "of weights, order, samples, dropout and random split")
	flags.IntVar(&o.runs, "runs", 1, "train so many times with seeds counting up")
	flags.BoolVar(&o.varied, "vary-split", false, "count the split's index up as well")
}

func (o *options) defineDevices(flags *flag.FlagSet) {
	flags.Func("device", "auto, cpu, cuda, or the `GPUs` of the ranks: cuda:0,1 (default auto)", o.setDevice)
	graphPlacements.option(flags, &o.graphPlacement, "graph-placement", "where GPUs read the graph")
	featurePlacements.option(flags, &o.featurePlacement, "feature-placement", "where GPUs read features")
	featureForms.option(flags, &o.featureForm, "feature-form", "how features are kept for GPUs")
	hotnesses.option(flags, &o.hotness, "hotness", "choice of cached rows")
	captures.option(flags, &o.capture, "capture", "steps on GPUs as CUDA graphs")
	flags.Uint64Var(&o.cacheMiB, "cache-mib", 0, "memory of each GPU for cached features; 0: 30 % of the free memory")
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
			o.devices = append(o.devices, int(n))
		}
		return nil
	}
	for _, choice := range devices {
		if choice.word == text {
			o.device = choice.value
			return nil
		}
	}
	return fmt.Errorf("expected auto, cpu, cuda, or GPUs like cuda:0,1")
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
	partitions.option(flags, &o.partition, "partition", "seeds of a mini-batch of data in parts")
	readings.option(flags, &o.reading, "reading", "of other processes' parts: shared from the folder, or asked")
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
	flags.BoolVar(&o.times, "times", false, "where the time of the last epoch went, for each rank")
	flags.BoolVar(&o.plan, "plan", false, "print the use of a GPU's memory, and train nothing")
	flags.Func("gpu-memory", "`SIZE` of a GPU that need not be there, as 80G or 40GiB (default that of the first GPU, as far as "+
		"it is free)", o.setGPUMemory)
	flags.BoolVar(&o.quiet, "quiet", false, "only the closing table")
}

// limited are options that mean something to some kinds of models only.
var limited = map[string][]gnnmg.Architecture{
	"heads":           {gnnmg.ModelGAT, gnnmg.ModelGATv2, gnnmg.ModelTransformer},
	"edge-features":   {gnnmg.ModelGAT, gnnmg.ModelGATv2, gnnmg.ModelTransformer, gnnmg.ModelPNA, gnnmg.ModelGINE},
	"edge-categories": {gnnmg.ModelGAT, gnnmg.ModelGATv2, gnnmg.ModelTransformer, gnnmg.ModelPNA, gnnmg.ModelGINE},
	"train-eps":       {gnnmg.ModelGIN, gnnmg.ModelGINE},
	"edge-weights":    {gnnmg.ModelGCN, gnnmg.ModelGraphConv},
	"relations":       {gnnmg.ModelRGCN},
	"bases":           {gnnmg.ModelRGCN},
	"blocks":          {gnnmg.ModelRGCN},
	"aggregation": {gnnmg.ModelSAGE, gnnmg.ModelGIN, gnnmg.ModelGINE, gnnmg.ModelGraphConv, gnnmg.ModelRGCN,
		gnnmg.ModelEdge},
	"normalize": {gnnmg.ModelSAGE},
	"project":   {gnnmg.ModelSAGE},
	"no-root":   {gnnmg.ModelSAGE, gnnmg.ModelRGCN, gnnmg.ModelTransformer},
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
			refuse("--%s is not an option of the model %s", f.Name, models.of(o.model))
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
