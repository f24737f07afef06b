//! The help of `train`: a first page with examples, and the options of each topic: those of the
//! program, then those that are settings of the library.

use crate::train_options::{is_own, short_name};
use crate::train_settings::{Setting, Settings};

const FIRST_PAGE: &str = "\
Usage: train [OPTION]... DATASET

Trains a model for classes (or numbers) of nodes, or of graphs with --readout, on every
format that libgnnmg reads, evaluates it on the test part of the split, and prints where
the time went.

Examples
  train planted                                  on a generated graph
  train --ranks 2 --epochs 10 planted:20000      with two ranks that share each step
  train --model gcn --save gcn.safetensors cora  on the data set in the folder cora

DATASET is a folder or file, or a graph that is generated in memory:
  planted[:NODES]        ten classes, noisy features (50000 nodes)
  products[:NODES]       shaped like a co-purchase network, planted labels (244903 nodes)
or served:HOST:PORT,...  by programs gnnmg-server, which have its parts

The options that most trainings need, with their defaults
  --model M              sage, gcn, gat, gin and others (sage)
  --layers N, --hidden N layers, hidden width (2, 64)
  --fanouts A,B,...      neighbors per hop, nearest to the seeds first (10 a layer)
  --epochs N             epochs (20)
  --batch-size N         seeds a mini-batch (1024)
  --lr X                 learning rate (0.003)
  --ranks N              replicas, each in a thread of its own (one a GPU, or one)
  --save FILE            weights, .safetensors or .pth

All others, by topic: train --help=TOPIC
";

/// Name, options of the program, subject of the library's settings.
const TOPICS: &[(&str, &str, &str)] = &[
    (
        "data",
        "\
Data
  --split NAME[:INDEX]   split to use (default: the first of the data set)
  --random-split T,V     draw a split instead: fractions for training and validation
  --normalize-rows       divide each node's features by their sum
  --no-edges             drop all edges, to measure the graph's benefit
  --balance-classes      every class counts the same in the loss, however rare it is
of a folder or file
",
        "dataset",
    ),
    (
        "model",
        "\
Model
  --edge-features        --edge-dim -1: read the edges' features
  --no-root              --root-weight 0: leave out a node's own row
  --double               --dtype f64: double precision
",
        "model",
    ),
    (
        "sampling",
        "\
Sampling
  --fanouts full         all neighbors
",
        "sampler",
    ),
    (
        "training",
        "\
Training
  --epochs 0             evaluate the weights of --load
  --batch-size all       one mini-batch an epoch
  --seed N               of weights, order, samples, dropout and random split (1)
  --runs N               train N times with seeds counting up; prints mean and error (1)
  --vary-split           count the split's index up as well; where splits have no test part,
                         as folds have none, the runs' validations are averaged epoch by
                         epoch
  --device D             auto, cpu, cuda, or the GPUs of the ranks: cuda:0,1 (auto)
  --cache-mib N          memory of each GPU for cached features; 0: 30 % of the free memory (0)
",
        "trainer",
    ),
    (
        "processes",
        "\
Several processes: started by torchrun, srun or mpirun they find each other, or by hand with
  --processes N          how many
  --process R            which of them this one is, from 0
  --host H               where process 0 is (127.0.0.1)
  --port P               where it listens
  --token-file FILE      secret of the job and of servers, needed beyond this machine
                         (GNNMG_TOKEN_FILE)
  --interface I          network interface to be reached at
  --deadline S           seconds that ranks wait for a late one (30)
",
        "",
    ),
    (
        "parts",
        "\
A folder of parts, in several processes: that all share, or with some parts in each
  --partition parts      each mini-batch has seeds of one part
  --reading R            of others' parts: auto, shared (from the folder), asked (auto)
  --server-patience S    seconds to wait for parts whose servers are all away (0)
  --insecure             processes and servers are asked without TLS beyond this machine
  --tls-cert FILE, --tls-key FILE, --tls-ca FILE  or by certificates, PEM
",
        "",
    ),
    (
        "output",
        "\
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
  --confusion            precision, recall and F1 of each class
  --times                where the time of the last epoch went, for each rank
  --plan                 print the use of a GPU's memory, and train nothing
  --gpu-memory SIZE      of a GPU that need not be there, as 80G or 40GiB (that of the first
                         GPU, as far as it is free)
  --quiet                only the closing table
  --help[=TOPIC]         the options of a topic, or of all of them
  --version
",
        "",
    ),
];

pub fn knows(topic: &str) -> bool {
    topic == "all" || TOPICS.iter().any(|(name, ..)| *name == topic)
}

/// A setting: its names, its values, the default, and the lines of its help.
fn print_setting(setting: &Setting) {
    let (info, own) = (&setting.info, is_own(&setting.option));
    let short = short_name(setting.subject, info.name);
    let names = match (short, own) {
        (None, true) => return,
        (Some(short), true) => format!("--{short}"),
        (Some(short), false) => format!("--{short}, --{}", setting.option),
        (None, false) => format!("--{}", setting.option),
    };
    let comma = if info.values.is_empty() { "" } else { ", " };
    print!("  {names}  {}{comma}{}", info.kind, info.values);
    if !setting.value().is_empty() {
        print!(" ({})", setting.value());
    }
    println!();
    for line in info.help.lines() {
        println!("      {line}");
    }
}

/// Prints the options of a topic, of all of them, or the first page.
pub fn print(topic: Option<&str>, settings: &Settings) {
    let Some(topic) = topic else {
        let names: Vec<&str> = TOPICS.iter().map(|(name, ..)| *name).collect();
        println!("{FIRST_PAGE}  {}, all", names.join(", "));
        return;
    };
    for (_, options, subject) in TOPICS
        .iter()
        .filter(|(name, ..)| topic == *name || topic == "all")
    {
        print!("{options}");
        for setting in settings.0.iter().filter(|known| known.subject == *subject) {
            print_setting(setting);
        }
    }
}
