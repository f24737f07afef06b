//! The command line of `train`.

use crate::train_plan;
use gnnmg::*;
use std::fmt::Display;
use std::process::exit;
use std::str::FromStr;
use std::time::Duration;

const HELP: &str = "Usage: train [OPTION]... DATASET

Trains a model for classes (or numbers) of nodes, or of graphs with --readout, on every format
that libgnnmg reads, evaluates it on the test part of the split, and says where the time went.

DATASET is a folder or file, or a graph that is generated in memory:
  planted[:NODES]        ten classes, noisy features (50000 nodes)
  products[:NODES]       shaped like a co-purchase network, planted labels (244903 nodes)
or served:HOST:PORT,...  by programs gnnmg-server, which have its parts

Data
  --split NAME[:INDEX]   split to use (default: the first of the data set)
  --random-split T,V     draw a split instead: fractions for training and validation
  --normalize-rows       divide each node's features by their sum
  --no-edges             drop all edges, to measure the graph's benefit
  --balance-classes      every class counts the same in the loss, however rare it is
Model
  --model M              sage, gcn, gat, gatv2, gin, gine, rgcn, transformer, pna, graphconv,
                         edge (sage)
  --heads N              of gat, gatv2, transformer, dividing the hidden width (1)
  --edge-features        gat, gatv2, transformer, pna read the edges' features; gine always does
  --edge-weights         gcn, graphconv read the edges' weights
  --node-categories N,.. features are numbers of categories, so many a column: learned rows
  --edge-categories N,.. the same of the edges' features
  --input I              features, embedding (a learned row a node), nodes (rgcn: a row of
                         weights for each node and relation) (features, if there are any,
                         else nodes for rgcn and embedding for all others)
  --relations N          of rgcn: types of edges (those of the data set)
  --bases N, --blocks N  of rgcn: how the relations' matrices are made (0: each whole)
  --readout R            results for graphs: sum, mean, max, attention, set2set, sort (none)
  --sort-rows N          of the readout sort (30)
  --jumping J            none, last, cat, max, lstm, scores (none; last with --readout)
  --layers N             layers (2)
  --hidden N             hidden width (64)
  --aggregation A        of sage, gin, gine, graphconv, rgcn, edge: mean, max, sum,
                         default (default: sum for gin, gine, graphconv, max for edge,
                         else mean)
  --activation A         relu, elu, leaky, gelu, tanh, prelu, silu, sigmoid,
                         none (relu)
  --norm N               none, batch, layer, graph (none)
  --skip S               none, linear, residual (none)
  --init I               pyg, glorot, dgl: law of the initial weights (pyg)
  --dropout P            on hidden rows (0.5)
  --input-dropout P      on features (0)
  --output-dropout P     on the input of the last linear layer, or on each score (0)
  --edge-dropout P       leave out edges, in training, of each layer (0)
  --node-dropout P       leave out nodes, in training, with all their edges (0)
  --normalize            scale each layer's rows to unit length
  --project              a linear layer on the sources first
  --no-root              leave out a node's own row
  --train-eps            of gin, gine: learn how much a node's own row counts
  --double               double precision
Sampling
  --fanouts A,B,...      neighbors per hop, nearest to the seeds first; or \"full\" (10,10)
  --expansion E          once, every-layer (once)
  --draw D               draw of neighbors: uniform, labor, labor-once (uniform)
  --replace              draw with replacement
Training
  --epochs N             epochs (20); 0: evaluate the weights of --load
  --batch-size N         seeds a mini-batch; \"all\": one mini-batch an epoch (1024)
  --drop-last            leave out a last mini-batch that is short
  --batch-nodes N        of graphs: nodes a mini-batch at most; 0: any number (0)
  --batches-per-step N   mini-batches a step, all ranks together (number of ranks)
  --optimizer O          adam, adamw, sgd (adam)
  --lr X                 learning rate (0.003)
  --weight-decay X       (0)
  --weight-decay-layers N  of the first N layers alone (0: of all)
  --schedule S           constant, cosine, step, plateau (constant)
  --schedule-epochs N    epochs until step halves the rate (50)
  --clip X               limit of the gradient's norm; 0: none (0)
  --patience N           stop after N evaluations without a better one; 0: never (0)
  --metric M             accuracy, auc, loss: choice of the best epoch (accuracy)
  --evaluation E         full, sampled (full)
  --evaluate-every N     epochs between validations (1)
  --ranks N              replicas, each in a thread of its own (one a GPU, or one)
  --loader-threads N     threads a rank that sample and gather (1)
  --torch-threads N      threads a rank for dense products; 0: its share of the cores (0)
  --precision P          of products: float32, tf32 (on GPUs), bf16 (float32)
  --sync-batch-norm      batch norm over all ranks' mini-batches of a step together
  --deterministic        the same bits for any number of ranks and threads
  --seed N               of weights, order, samples, dropout and random split (1)
  --runs N               train N times with seeds counting up; prints mean and error (1)
  --vary-split           count the split's index up as well; where splits have no test part, as
                         folds have none, the runs' validations are averaged epoch by epoch
Devices
  --device D             auto, cpu, cuda, or the GPUs of the ranks: cuda:0,1 (auto)
  --graph-placement P    where GPUs read the graph: auto, device, pinned, host (auto)
  --feature-placement P  and features: auto, device, pinned, cached, split, host (auto)
  --feature-form F       how they are kept for GPUs: as-given, f16, bf16, int8 (as-given)
  --cache-mib N          memory of each GPU for cached features; 0: 30 % of the free memory (0)
  --hotness H            choice of cached rows: probability, degree, counting (probability)
  --gather-multiprocessors N  of a GPU, for features in main memory; 0: an eighth (0)
  --capture C            steps on GPUs as CUDA graphs: auto, off, on, unpadded (auto)
Several processes: started by torchrun, srun or mpirun they find each other, or by hand with
  --processes N          how many
  --process R            which of them this one is, from 0
  --host H               where process 0 is (127.0.0.1)
  --port P               where it listens
  --token-file FILE      secret of the job and of servers, needed beyond this machine
                         (GNNMG_TOKEN_FILE)
  --interface I          network interface to be reached at
  --deadline S           seconds that ranks wait for a late one (30)
A folder of parts, in several processes: that all share, or with some parts in each
  --partition P          seeds of a mini-batch: global, parts (of one part) (global)
  --reading R            of others' parts: auto, shared (from the folder), asked (auto)
  --server-patience S    seconds to wait for parts whose servers are all away (0)
  --insecure             processes and servers are asked without TLS beyond this machine
  --tls-cert FILE, --tls-key FILE, --tls-ca FILE  or by certificates, PEM
Output: of process 0 alone
  --save FILE            weights, .safetensors or .pth
  --load FILE            weights to start from
  --checkpoints DIR      checkpoints after each epoch, and on an interrupt; a folder
                         is of one training, which --resume goes on with
  --checkpoint-steps N   after so many steps instead
  --checkpoint-keep N    how many of the last stay, beside the best (3)
  --resume               go on from the newest whole checkpoint in there, if there is one
  --log FILE             one JSON object an epoch
  --tensorboard DIR      event files
  --times                where the time of the last epoch went, for each rank
  --plan                 print the use of a GPU's memory, and train nothing
  --gpu-memory SIZE      of a GPU that need not be there, as 80G or 40GiB (that of the first
                         GPU, as far as it is free)
  --quiet                only the closing table
  --help, --version
";

/// Words of the command line and their meaning.
pub type Words<T> = &'static [(&'static str, T)];

pub const MODELS: Words<Architecture> = &[
    ("sage", Architecture::Sage),
    ("gcn", Architecture::Gcn),
    ("gat", Architecture::Gat),
    ("gatv2", Architecture::Gatv2),
    ("gin", Architecture::Gin),
    ("gine", Architecture::Gine),
    ("rgcn", Architecture::Rgcn),
    ("transformer", Architecture::Transformer),
    ("pna", Architecture::Pna),
    ("graphconv", Architecture::Graphconv),
    ("edge", Architecture::Edge),
];
const DEVICES: Words<DeviceType> = &[
    ("auto", DeviceType::Auto),
    ("cpu", DeviceType::Cpu),
    ("cuda", DeviceType::Cuda),
];
const GRAPH_PLACEMENTS: Words<GraphPlacement> = &[
    ("auto", GraphPlacement::Auto),
    ("device", GraphPlacement::Device),
    ("pinned", GraphPlacement::Pinned),
    ("host", GraphPlacement::Host),
];
const FEATURE_PLACEMENTS: Words<FeaturePlacement> = &[
    ("auto", FeaturePlacement::Auto),
    ("device", FeaturePlacement::Device),
    ("pinned", FeaturePlacement::Pinned),
    ("cached", FeaturePlacement::Cached),
    ("split", FeaturePlacement::Split),
    ("host", FeaturePlacement::Host),
];
const FEATURE_FORMS: Words<FeatureForm> = &[
    ("as-given", FeatureForm::AsGiven),
    ("f16", FeatureForm::F16),
    ("bf16", FeatureForm::Bf16),
    ("int8", FeatureForm::Int8),
];
const HOTNESS: Words<Hotness> = &[
    ("probability", Hotness::Probability),
    ("degree", Hotness::Degree),
    ("counting", Hotness::Counting),
];
const CAPTURES: Words<Capture> = &[
    ("auto", Capture::Auto),
    ("off", Capture::Off),
    ("on", Capture::On),
    ("unpadded", Capture::Unpadded),
];
const PRECISIONS: Words<Precision> = &[
    ("float32", Precision::Float32),
    ("tf32", Precision::Tf32),
    ("bf16", Precision::Bf16),
];
/// Options without a value.
const FLAGS: &[&str] = &[
    "normalize-rows",
    "no-edges",
    "balance-classes",
    "edge-features",
    "edge-weights",
    "normalize",
    "project",
    "no-root",
    "train-eps",
    "double",
    "replace",
    "drop-last",
    "sync-batch-norm",
    "deterministic",
    "vary-split",
    "insecure",
    "resume",
    "times",
    "plan",
    "quiet",
    "help",
    "version",
];

const INPUTS: Words<Input> = &[
    ("features", Input::Features),
    ("embedding", Input::Embedding),
    ("nodes", Input::Nodes),
];
const READOUTS: Words<Readout> = &[
    ("sum", Readout::Sum),
    ("mean", Readout::Mean),
    ("max", Readout::Max),
    ("attention", Readout::Attention),
    ("set2set", Readout::Set2set),
    ("sort", Readout::Sort),
];
const JUMPINGS: Words<Jumping> = &[
    ("none", Jumping::None),
    ("last", Jumping::Last),
    ("cat", Jumping::Cat),
    ("max", Jumping::Max),
    ("lstm", Jumping::Lstm),
    ("scores", Jumping::Scores),
];
pub const AGGREGATIONS: Words<Aggregation> = &[
    ("default", Aggregation::Default),
    ("mean", Aggregation::Mean),
    ("max", Aggregation::Max),
    ("sum", Aggregation::Sum),
];
const ACTIVATIONS: Words<Activation> = &[
    ("relu", Activation::Relu),
    ("none", Activation::None),
    ("elu", Activation::Elu),
    ("leaky", Activation::LeakyRelu),
    ("gelu", Activation::Gelu),
    ("tanh", Activation::Tanh),
    ("prelu", Activation::Prelu),
    ("silu", Activation::Silu),
    ("sigmoid", Activation::Sigmoid),
];
const SKIPS: Words<Skip> = &[
    ("none", Skip::None),
    ("linear", Skip::Linear),
    ("residual", Skip::Residual),
];
const INITS: Words<WeightInit> = &[
    ("pyg", WeightInit::Pyg),
    ("glorot", WeightInit::Glorot),
    ("dgl", WeightInit::Dgl),
];
const EXPANSIONS: Words<Expansion> = &[
    ("once", Expansion::Once),
    ("every-layer", Expansion::EveryLayer),
];
const DRAWS: Words<Draw> = &[
    ("uniform", Draw::Uniform),
    ("labor", Draw::Labor),
    ("labor-once", Draw::LaborOnce),
];
const PARTITIONS: Words<Partition> = &[("global", Partition::Global), ("parts", Partition::Parts)];
const READINGS: Words<PartsReading> = &[
    ("auto", PartsReading::Auto),
    ("shared", PartsReading::Shared),
    ("asked", PartsReading::Asked),
];
const EVALUATIONS: Words<Evaluation> =
    &[("full", Evaluation::Full), ("sampled", Evaluation::Sampled)];
const NORMS: Words<Norm> = &[
    ("none", Norm::None),
    ("batch", Norm::Batch),
    ("layer", Norm::Layer),
    ("graph", Norm::LayerGraph),
];
const OPTIMIZERS: Words<OptimizerKind> = &[
    ("adam", OptimizerKind::Adam),
    ("adamw", OptimizerKind::Adamw),
    ("sgd", OptimizerKind::Sgd),
];
const SCHEDULES: Words<Schedule> = &[
    ("constant", Schedule::Constant),
    ("cosine", Schedule::Cosine),
    ("step", Schedule::Step),
    ("plateau", Schedule::Plateau),
];
const METRICS: Words<Metric> = &[
    ("accuracy", Metric::Accuracy),
    ("loss", Metric::Loss),
    ("auc", Metric::RocAuc),
];

/// The word for a value.
pub fn word<T: PartialEq>(words: Words<T>, value: T) -> &'static str {
    let found = words.iter().find(|(_, known)| *known == value);
    found.map_or("?", |(word, _)| word)
}

/// The same for a metric, also one that no option chooses.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Rmse => "RMSE",
        other => word(METRICS, other),
    }
}

/// The command line. Settings of the library are stored in their configs directly.
pub struct Options {
    pub dataset: String,
    pub split: Option<(String, usize)>,
    pub random_split: Option<(f64, f64)>,
    pub normalize_rows: bool,
    pub no_edges: bool,
    pub balance_classes: bool,
    pub model: ModelConfig,
    pub architecture: Architecture,
    pub aggregation: Aggregation,
    /// Input of the model; `None`: from the data set.
    pub input: Option<Input>,
    pub readout: Readout,
    /// `None`: depends on the readout.
    pub jumping: Option<Jumping>,
    pub blocks: usize,
    pub layers: usize,
    pub hidden: usize,
    pub edge_features: bool,
    /// Categories of each column; none: numbers.
    pub node_categories: Vec<usize>,
    pub edge_categories: Vec<usize>,
    pub fanouts: Vec<i64>,
    pub sampling: SamplerConfig,
    pub training: TrainerConfig,
    pub schedule: Schedule,
    pub metric: Metric,
    /// 0: one per GPU, or one.
    pub ranks: usize,
    pub device: DeviceType,
    /// GPUs devices of the ranks; none: all devices.
    pub devices: Vec<i32>,
    pub seed: u64,
    pub runs: u64,
    pub vary_split: bool,
    pub comm: CommConfig,
    pub by_hand: bool,
    pub host: String,
    pub token_file: Option<String>,
    pub interface: Option<String>,
    /// Settings for data in parts.
    pub asking: ServedConfig,
    pub server_patience: Duration,
    pub tls_certificate: Option<String>,
    pub tls_key: Option<String>,
    pub tls_authority: Option<String>,
    pub save: Option<String>,
    pub load: Option<String>,
    pub checkpoints: Option<String>,
    pub checkpoint: CheckpointConfig,
    pub resume: bool,
    pub log: Option<String>,
    pub tensorboard: Option<String>,
    pub times: bool,
    pub plan: bool,
    /// Bytes; `None`: that of the first GPU, as far as it is free.
    pub gpu_memory: Option<usize>,
    pub quiet: bool,
}

pub fn fail(text: &str) -> ! {
    eprintln!("train: {text} (try --help)");
    exit(2);
}

fn number<T: FromStr + PartialOrd + Display>(name: &str, text: &str, least: T) -> T {
    match text.parse() {
        Ok(value) if value >= least => value,
        _ => fail(&format!(
            "--{name} {text}: expected a number of at least {least}"
        )),
    }
}

fn choose<T: Copy>(name: &str, text: &str, words: Words<T>) -> T {
    match words.iter().find(|(word, _)| *word == text) {
        Some((_, value)) => *value,
        None => {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            fail(&format!(
                "--{name} {text}: expected one of {}",
                known.join(" ")
            ))
        }
    }
}

impl Options {
    fn defaults() -> Self {
        Options {
            dataset: String::new(),
            split: None,
            random_split: None,
            normalize_rows: false,
            no_edges: false,
            balance_classes: false,
            model: ModelConfig::new().dropout(0.5),
            architecture: Architecture::Sage,
            aggregation: Aggregation::Default,
            input: None,
            readout: Readout::None,
            jumping: None,
            blocks: 0,
            layers: 2,
            hidden: 64,
            edge_features: false,
            node_categories: Vec::new(),
            edge_categories: Vec::new(),
            fanouts: vec![10, 10],
            sampling: SamplerConfig::new(),
            training: TrainerConfig::new()
                .num_epochs(20)
                .learning_rate(0.003)
                .schedule_step_epochs(50)
                .evaluate_every(1)
                .loader_threads(1)
                .torch_threads(0),
            schedule: Schedule::Constant,
            metric: Metric::Accuracy,
            ranks: 0,
            device: DeviceType::Auto,
            devices: Vec::new(),
            seed: 1,
            runs: 1,
            vary_split: false,
            comm: CommConfig::new(),
            by_hand: false,
            host: "127.0.0.1".to_string(),
            token_file: std::env::var("GNNMG_TOKEN_FILE").ok(),
            interface: None,
            asking: ServedConfig::new(),
            server_patience: Duration::ZERO,
            tls_certificate: None,
            tls_key: None,
            tls_authority: None,
            save: None,
            load: None,
            checkpoints: None,
            checkpoint: CheckpointConfig::new().keep(3),
            resume: false,
            log: None,
            tensorboard: None,
            times: false,
            plan: false,
            gpu_memory: None,
            quiet: false,
        }
    }

    /// Reads the command line. Prints help or an error and ends the program if the command line
    /// requires it.
    pub fn parse() -> Self {
        let mut options = Self::defaults();
        let mut arguments = std::env::args().skip(1);
        let mut given = Vec::new();
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                None if argument == "-h" => options = options.with("help", None, &mut arguments),
                None if options.dataset.is_empty() => options.dataset = argument,
                None => fail("one data set, please"),
                Some(option) => {
                    let (name, value) = match option.split_once('=') {
                        Some((name, value)) => (name, Some(value.to_string())),
                        None => (option, None),
                    };
                    options = options.with(name, value, &mut arguments);
                    given.push(name.to_string());
                }
            }
        }
        if options.dataset.is_empty() {
            fail("which data set?");
        }
        for name in &given {
            options.check_applies(name);
        }
        if options.fanouts.is_empty() {
            options.fanouts = vec![-1; options.layers.min(16)];
        }
        let gave = |name: &str| given.iter().any(|given| given == name);
        if gave("tls-cert") != gave("tls-key") || gave("tls-key") != gave("tls-ca") {
            fail("--tls-cert, --tls-key and --tls-ca belong together");
        }
        for name in ["resume", "checkpoint-steps"] {
            if gave(name) && options.checkpoints.is_none() {
                fail(&format!("--{name} needs --checkpoints"));
            }
        }
        if options.checkpoints.is_some() && options.runs > 1 {
            fail(&format!(
                "--checkpoints are of one run, not of {}",
                options.runs
            ));
        }
        if options.by_hand && !gave("port") {
            fail("--processes needs --port");
        }
        options
    }

    /// Options for some kinds of models only, or in combination with another option.
    fn check_applies(&self, name: &str) {
        use Architecture::*;
        let models: &[Architecture] = match name {
            "heads" => &[Gat, Gatv2, Transformer],
            "edge-features" | "edge-categories" => &[Gat, Gatv2, Transformer, Pna, Gine],
            "edge-weights" => &[Gcn, Graphconv],
            "relations" | "bases" | "blocks" => &[Rgcn],
            "aggregation" => &[Sage, Gin, Gine, Graphconv, Rgcn, Edge],
            "normalize" | "project" => &[Sage],
            "no-root" => &[Sage, Rgcn, Transformer],
            "train-eps" => &[Gin, Gine],
            "sort-rows" if self.readout != Readout::Sort => {
                fail("--sort-rows needs --readout sort")
            }
            "schedule-epochs" if self.schedule != Schedule::Step => {
                fail("--schedule-epochs needs --schedule step")
            }
            _ => return,
        };
        if !models.contains(&self.architecture) {
            let model = word(MODELS, self.architecture);
            fail(&format!("--{name} is not an option of the model {model}"));
        }
    }

    fn with(
        mut self,
        name: &str,
        value: Option<String>,
        rest: &mut dyn Iterator<Item = String>,
    ) -> Self {
        let flag = FLAGS.contains(&name);
        if flag && value.is_some() {
            fail(&format!("--{name} takes no value"));
        }
        let given = value.or_else(|| if flag { None } else { rest.next() });
        let text = given.as_deref().unwrap_or_else(|| match flag {
            true => "",
            false => fail(&format!("--{name} needs a value")),
        });
        let (model, training, comm) =
            (self.model.clone(), self.training.clone(), self.comm.clone());
        let (sampling, checkpoint) = (self.sampling.clone(), self.checkpoint.clone());
        match name {
            "split" => self.split = Some(split(text)),
            "random-split" => self.random_split = Some(fractions(text)),
            "normalize-rows" => self.normalize_rows = true,
            "no-edges" => self.no_edges = true,
            "balance-classes" => self.balance_classes = true,
            "model" => self.architecture = choose(name, text, MODELS),
            "heads" => self.model = model.heads(number(name, text, 1)),
            "edge-features" => self.edge_features = true,
            "edge-weights" => self.model = model.edge_weights(true),
            "node-categories" => self.node_categories = list(name, text, 1),
            "edge-categories" => self.edge_categories = list(name, text, 1),
            "input" => self.input = Some(choose(name, text, INPUTS)),
            "relations" => self.model = model.num_relations(number(name, text, 1)),
            "bases" => self.model = model.num_bases(number(name, text, 0)),
            "blocks" => self.blocks = number(name, text, 0),
            "readout" => self.readout = choose(name, text, READOUTS),
            "sort-rows" => self.model = model.sort_rows(number(name, text, 1)),
            "jumping" => self.jumping = Some(choose(name, text, JUMPINGS)),
            "layers" => self.layers = number(name, text, 1),
            "hidden" => self.hidden = number(name, text, 1),
            "aggregation" => self.aggregation = choose(name, text, AGGREGATIONS),
            "activation" => self.model = model.activation(choose(name, text, ACTIVATIONS)),
            "norm" => self.model = model.norm(choose(name, text, NORMS)),
            "skip" => self.model = model.skip(choose(name, text, SKIPS)),
            "init" => self.model = model.weight_init(choose(name, text, INITS)),
            "dropout" => self.model = model.dropout(share(name, text)),
            "input-dropout" => self.model = model.input_dropout(share(name, text)),
            "output-dropout" => self.model = model.output_dropout(share(name, text)),
            "edge-dropout" => self.model = model.edge_dropout(share(name, text)),
            "node-dropout" => self.model = model.node_dropout(share(name, text)),
            "normalize" => self.model = model.normalize(true),
            "project" => self.model = model.project(true),
            "no-root" => self.model = model.root_weight(false),
            "train-eps" => self.model = model.train_eps(true),
            "double" => self.model = model.dtype(DataType::F64),
            "fanouts" if text == "full" => self.fanouts.clear(),
            "fanouts" => self.fanouts = list(name, text, -1),
            "expansion" => self.sampling = sampling.expansion(choose(name, text, EXPANSIONS)),
            "draw" => self.sampling = sampling.draw(choose(name, text, DRAWS)),
            "replace" => self.sampling = sampling.replace(true),
            "epochs" => self.training = training.num_epochs(number(name, text, 0)),
            "batch-size" if text == "all" => self.training = training.batch_size(usize::MAX),
            "batch-nodes" => self.training = training.batch_nodes(number(name, text, 0)),
            "batch-size" => self.training = training.batch_size(number(name, text, 1)),
            "drop-last" => self.training = training.drop_last(true),
            "batches-per-step" => self.training = training.batches_per_step(number(name, text, 1)),
            "optimizer" => self.training = training.optimizer(choose(name, text, OPTIMIZERS)),
            "lr" => self.training = training.learning_rate(number(name, text, 0.0)),
            "weight-decay" => self.training = training.weight_decay(number(name, text, 0.0)),
            "weight-decay-layers" => {
                self.training = training.weight_decay_layers(number(name, text, 0))
            }
            "schedule" => {
                self.schedule = choose(name, text, SCHEDULES);
                self.training = training.schedule(self.schedule);
            }
            "schedule-epochs" => {
                self.training = training.schedule_step_epochs(number(name, text, 1))
            }
            "clip" => self.training = training.clip_norm(number(name, text, 0.0)),
            "patience" => self.training = training.early_stop_patience(number(name, text, 0)),
            "metric" => self.metric = choose(name, text, METRICS),
            "evaluation" => self.training = training.evaluation(choose(name, text, EVALUATIONS)),
            "evaluate-every" => self.training = training.evaluate_every(number(name, text, 1)),
            "ranks" => self.ranks = number(name, text, 1),
            "loader-threads" => self.training = training.loader_threads(number(name, text, 0)),
            "torch-threads" => self.training = training.torch_threads(number(name, text, 0)),
            "sync-batch-norm" => self.training = training.sync_batch_norm(true),
            "precision" => self.training = training.precision(choose(name, text, PRECISIONS)),
            "deterministic" => self.training = training.deterministic(true),
            "seed" => self.seed = number(name, text, 0),
            "runs" => self.runs = number(name, text, 1),
            "vary-split" => self.vary_split = true,
            "device" => (self.device, self.devices) = device(text),
            "graph-placement" => {
                self.training = training.graph_placement(choose(name, text, GRAPH_PLACEMENTS))
            }
            "feature-placement" => {
                self.training = training.feature_placement(choose(name, text, FEATURE_PLACEMENTS))
            }
            "feature-form" => {
                self.training = training.feature_form(choose(name, text, FEATURE_FORMS))
            }
            "cache-mib" => {
                self.training = training.cache_bytes(number::<usize>(name, text, 0) << 20)
            }
            "hotness" => self.training = training.hotness(choose(name, text, HOTNESS)),
            "gather-multiprocessors" => {
                self.training = training.gather_multiprocessors(number(name, text, 0))
            }
            "capture" => self.training = training.capture(choose(name, text, CAPTURES)),
            "processes" => {
                self.by_hand = true;
                self.comm = comm.num_processes(number(name, text, 1));
            }
            "process" => self.comm = comm.process_rank(number(name, text, 0)),
            "host" => self.host = text.to_string(),
            "port" => self.comm = comm.port(number(name, text, 1)),
            "token-file" => self.token_file = given,
            "interface" => self.interface = given,
            "deadline" => {
                let time = Duration::try_from_secs_f64(number(name, text, 0.001));
                let time = time.unwrap_or(Duration::MAX);
                (self.training, self.comm) = (training.deadline(time), comm.deadline(time));
            }
            "partition" => self.training = training.partition(choose(name, text, PARTITIONS)),
            "reading" => self.asking = self.asking.clone().reading(choose(name, text, READINGS)),
            "server-patience" => {
                let time = Duration::try_from_secs_f64(number(name, text, 0.0));
                self.server_patience = time.unwrap_or(Duration::MAX);
            }
            "insecure" => self.asking = self.asking.clone().insecure(true),
            "tls-cert" => self.tls_certificate = given,
            "tls-key" => self.tls_key = given,
            "tls-ca" => self.tls_authority = given,
            "save" => self.save = given,
            "load" => self.load = given,
            "checkpoints" => self.checkpoints = given,
            "checkpoint-steps" => self.checkpoint = checkpoint.every_steps(number(name, text, 1)),
            "checkpoint-keep" => self.checkpoint = checkpoint.keep(number(name, text, 1)),
            "resume" => self.resume = true,
            "log" => self.log = given,
            "tensorboard" => self.tensorboard = given,
            "times" => self.times = true,
            "plan" => self.plan = true,
            "gpu-memory" => self.gpu_memory = Some(gpu_memory(text)),
            "quiet" => self.quiet = true,
            "help" => {
                print!("{HELP}");
                exit(0);
            }
            "version" => {
                let (major, minor, patch) = version();
                println!("train, libgnnmg {major}.{minor}.{patch}");
                exit(0);
            }
            _ => fail(&format!("there is no option --{name}")),
        }
        self
    }
}

/// Up to 16 integers with commas between.
fn list<T: FromStr + PartialOrd + Display>(name: &str, text: &str, least: T) -> Vec<T> {
    let values: Vec<T> = text
        .split(',')
        .map_while(|value| value.parse().ok().filter(|value| *value >= least))
        .collect();
    if values.len() != text.split(',').count() || values.len() > 16 {
        fail(&format!(
            "--{name} {text}: expected up to 16 integers of at least {least} with commas between"
        ));
    }
    values
}

/// A kind of device, or `cuda:` and the GPUs of the ranks.
fn device(text: &str) -> (DeviceType, Vec<i32>) {
    match text.strip_prefix("cuda:") {
        Some(numbers) => (DeviceType::Cuda, list("device cuda:", numbers, 0)),
        None => (choose("device", text, DEVICES), Vec::new()),
    }
}

fn gpu_memory(text: &str) -> usize {
    let size = train_plan::size(text);
    size.unwrap_or_else(|| {
        fail(&format!(
            "--gpu-memory {text}: expected a size such as 80G, 40GiB or 512MB"
        ))
    })
}

fn share(name: &str, text: &str) -> f64 {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => value,
        _ => fail(&format!("--{name} {text}: expected a number from 0 to 1")),
    }
}

/// `NAME` or `NAME:INDEX`.
fn split(text: &str) -> (String, usize) {
    match text.rsplit_once(':') {
        Some((name, index)) => (
            name.to_string(),
            number("split NAME:INDEX with the index", index, 0),
        ),
        None => (text.to_string(), 0),
    }
}

fn fractions(text: &str) -> (f64, f64) {
    let parts: Vec<f64> = text
        .split(',')
        .map_while(|part| part.parse().ok())
        .collect();
    match parts.as_slice() {
        [train, validation] if *train > 0.0 && *validation >= 0.0 && train + validation <= 1.0 => {
            (*train, *validation)
        }
        _ => fail(&format!(
            "--random-split {text}: expected two fractions like 0.6,0.2"
        )),
    }
}
