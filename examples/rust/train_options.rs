//! The command line of `train`.

use gnnmg::*;
use std::fmt::Display;
use std::process::exit;
use std::str::FromStr;
use std::time::Duration;

const HELP: &str = "Usage: train [OPTION]... DATASET

Trains a model for classes (or numbers) of nodes, or of graphs with --readout, evaluates it on the
test part of the split, and says where the time went. DATASET is a folder or file in any format that libgnnmg reads, or
planted[:NODES], products[:NODES]: a graph that is generated in memory.

Data
  --split NAME[:INDEX]   split to use (default: the first of the data set)
  --random-split T,V     draw a split instead: fractions for training and validation
  --balance-classes      every class counts the same in the loss, however rare it is
Model
  --model M              sage, gcn, gat, gatv2, gin, gine, rgcn, transformer, pna, graphconv,
                         edge (sage)
  --heads N              of gat, gatv2, transformer, dividing the hidden width (1)
  --input I              features, embedding (a learned row a node), nodes (rgcn: a row of weights
                         for each node and relation) (features, if there are any, else nodes for
                         rgcn and embedding for all others)
  --relations N          of rgcn: types of edges (those of the data set)
  --bases N, --blocks N  of rgcn: how the relations' matrices are made (0: each whole)
  --readout R            results for graphs: none, sum, mean, max, attention, set2set, sort (none)
  --jumping J            none, last, cat, max, lstm, scores (none; last with --readout)
  --layers N             layers (2)
  --hidden N             hidden width (64)
  --aggregation A        of sage, gin, gine, graphconv, rgcn, edge: mean, max, sum,
                         default (default: sum for gin and gine, else mean)
  --norm N               none, batch, layer, graph (none)
  --dropout P            on hidden rows (0.5)
  --input-dropout P      on features (0)
  --output-dropout P     on what the last linear layer reads, or on each score (0)
  --edge-dropout P       leave out edges, in training, of each layer (0)
  --node-dropout P       leave out nodes, in training, with all their edges (0)
Sampling
  --fanouts A,B,...      neighbours a hop, nearest to the seeds first; or \"full\" (10,10)
Training
  --epochs N             epochs (20); 0: evaluate what --load reads
  --batch-size N         seeds a mini-batch; \"all\": one mini-batch an epoch (1024)
  --batch-nodes N        of graphs: nodes a mini-batch at most; 0: any number (0)
  --batches-per-step N   mini-batches a step, all ranks together (number of ranks)
  --optimizer O          adam, adamw, sgd (adam)
  --lr X                 learning rate (0.003)
  --weight-decay X       (0)
  --schedule S           constant, cosine, step, plateau (constant)
  --patience N           stop after N evaluations without a better one; 0: never (0)
  --metric M             accuracy, auc, loss: what the best epoch is chosen by (accuracy)
  --ranks N              replicas, each in a thread of its own (1)
  --deterministic        the same bits for any number of ranks and threads
  --seed N               of weights, order, samples, dropout and random split (1)
  --runs N               train N times with seeds counting up; prints mean and error (1)
Several processes: started by torchrun, srun or mpirun they find each other, or by hand with
  --processes N, --process R, --host H, --port P, --token-file FILE
  --deadline S           seconds that ranks wait for a late one (30)
Output: of process 0 alone
  --save FILE            weights, .safetensors or .pth
  --load FILE            weights to start from
  --checkpoints DIR      checkpoints after each epoch
  --resume               go on from the newest whole checkpoint in there, if there is one
  --log FILE             one JSON object an epoch
  --quiet                only the closing table
  --help, --version
";

/// Words of the command line and what they stand for.
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
const INPUTS: Words<Input> = &[
    ("features", Input::Features),
    ("embedding", Input::Embedding),
    ("nodes", Input::Nodes),
];
const READOUTS: Words<Readout> = &[
    ("none", Readout::None),
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
pub const METRICS: Words<Metric> = &[
    ("accuracy", Metric::Accuracy),
    ("loss", Metric::Loss),
    ("auc", Metric::RocAuc),
];

/// The word for a value.
pub fn word<T: PartialEq>(words: Words<T>, value: T) -> &'static str {
    let found = words.iter().find(|(_, known)| *known == value);
    found.map_or("?", |(word, _)| word)
}

/// What is said on the command line. Settings of the library are written where they belong at once.
pub struct Options {
    pub dataset: String,
    pub split: Option<(String, usize)>,
    pub random_split: Option<(f64, f64)>,
    pub balance_classes: bool,
    pub model: ModelConfig,
    pub architecture: Architecture,
    pub aggregation: Aggregation,
    /// What the model reads; `None`: what the data set has.
    pub input: Option<Input>,
    pub readout: Readout,
    /// `None`: what suits the readout.
    pub jumping: Option<Jumping>,
    pub blocks: usize,
    pub layers: usize,
    pub fanouts: Vec<i64>,
    pub training: TrainerConfig,
    pub metric: Metric,
    pub ranks: usize,
    pub seed: u64,
    pub runs: u64,
    pub comm: CommConfig,
    pub by_hand: bool,
    pub host: String,
    pub token_file: Option<String>,
    pub save: Option<String>,
    pub load: Option<String>,
    pub checkpoints: Option<String>,
    pub resume: bool,
    pub log: Option<String>,
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
            balance_classes: false,
            model: ModelConfig::new().hidden_dim(64).dropout(0.5),
            architecture: Architecture::Sage,
            aggregation: Aggregation::Default,
            input: None,
            readout: Readout::None,
            jumping: None,
            blocks: 0,
            layers: 2,
            fanouts: vec![10, 10],
            training: TrainerConfig::new().num_epochs(20).learning_rate(0.003),
            metric: Metric::Accuracy,
            ranks: 1,
            seed: 1,
            runs: 1,
            comm: CommConfig::new(),
            by_hand: false,
            host: "127.0.0.1".to_string(),
            token_file: std::env::var("GNNMG_TOKEN_FILE").ok(),
            save: None,
            load: None,
            checkpoints: None,
            resume: false,
            log: None,
            quiet: false,
        }
    }

    /// Reads the command line. Prints help or what is wrong and ends the program where that is what
    /// the command line comes to.
    pub fn parse() -> Self {
        let mut options = Self::defaults();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                None if options.dataset.is_empty() => options.dataset = argument,
                None => fail("one data set, please"),
                Some(name) => options = options.with(name, &mut arguments),
            }
        }
        if options.dataset.is_empty() {
            fail("which data set?");
        }
        if options.fanouts.is_empty() {
            options.fanouts = vec![-1; options.layers];
        }
        if options.resume && options.checkpoints.is_none() {
            fail("--resume needs --checkpoints");
        }
        if options.checkpoints.is_some() && options.runs > 1 {
            fail("--checkpoints are of one run");
        }
        options
    }

    fn with(mut self, name: &str, rest: &mut dyn Iterator<Item = String>) -> Self {
        let flag = matches!(
            name,
            "balance-classes" | "deterministic" | "resume" | "quiet" | "help" | "version"
        );
        let given = if flag { None } else { rest.next() };
        let text = given.as_deref().unwrap_or_else(|| match flag {
            true => "",
            false => fail(&format!("--{name} needs a value")),
        });
        let (model, training, comm) =
            (self.model.clone(), self.training.clone(), self.comm.clone());
        match name {
            "split" => self.split = Some(split(text)),
            "random-split" => self.random_split = Some(fractions(text)),
            "balance-classes" => self.balance_classes = true,
            "model" => self.architecture = choose(name, text, MODELS),
            "heads" => self.model = model.heads(number(name, text, 1)),
            "input" => self.input = Some(choose(name, text, INPUTS)),
            "relations" => self.model = model.num_relations(number(name, text, 1)),
            "bases" => self.model = model.num_bases(number(name, text, 0)),
            "blocks" => self.blocks = number(name, text, 0),
            "readout" => self.readout = choose(name, text, READOUTS),
            "jumping" => self.jumping = Some(choose(name, text, JUMPINGS)),
            "layers" => self.layers = number(name, text, 1),
            "hidden" => self.model = model.hidden_dim(number(name, text, 1)),
            "aggregation" => self.aggregation = choose(name, text, AGGREGATIONS),
            "norm" => self.model = model.norm(choose(name, text, NORMS)),
            "dropout" => self.model = model.dropout(number(name, text, 0.0)),
            "input-dropout" => self.model = model.input_dropout(number(name, text, 0.0)),
            "output-dropout" => self.model = model.output_dropout(number(name, text, 0.0)),
            "edge-dropout" => self.model = model.edge_dropout(number(name, text, 0.0)),
            "node-dropout" => self.model = model.node_dropout(number(name, text, 0.0)),
            "fanouts" if text == "full" => self.fanouts.clear(),
            "fanouts" => self.fanouts = text.split(',').map(|n| number(name, n, -1)).collect(),
            "epochs" => self.training = training.num_epochs(number(name, text, 0)),
            "batch-size" if text == "all" => self.training = training.batch_size(usize::MAX),
            "batch-nodes" => self.training = training.batch_nodes(number(name, text, 0)),
            "batch-size" => self.training = training.batch_size(number(name, text, 1)),
            "batches-per-step" => self.training = training.batches_per_step(number(name, text, 1)),
            "optimizer" => self.training = training.optimizer(choose(name, text, OPTIMIZERS)),
            "lr" => self.training = training.learning_rate(number(name, text, 0.0)),
            "weight-decay" => self.training = training.weight_decay(number(name, text, 0.0)),
            "schedule" => self.training = training.schedule(choose(name, text, SCHEDULES)),
            "patience" => self.training = training.early_stop_patience(number(name, text, 0)),
            "metric" => self.metric = choose(name, text, METRICS),
            "ranks" => self.ranks = number(name, text, 1),
            "deterministic" => self.training = training.deterministic(true),
            "seed" => self.seed = number(name, text, 0),
            "runs" => self.runs = number(name, text, 1),
            "processes" => {
                self.by_hand = true;
                self.comm = comm.num_processes(number(name, text, 1));
            }
            "process" => self.comm = comm.process_rank(number(name, text, 0)),
            "host" => self.host = text.to_string(),
            "port" => self.comm = comm.port(number(name, text, 1)),
            "token-file" => self.token_file = given,
            "deadline" => {
                let time = Duration::try_from_secs_f64(number(name, text, 0.001));
                let time = time.unwrap_or(Duration::MAX);
                (self.training, self.comm) = (training.deadline(time), comm.deadline(time));
            }
            "save" => self.save = given,
            "load" => self.load = given,
            "checkpoints" => self.checkpoints = given,
            "resume" => self.resume = true,
            "log" => self.log = given,
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
