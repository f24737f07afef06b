//! Classification of whole graphs by GIN, over two ranks:
//! `graph_classification [<folder or file>] [--folds] [--epochs <number>] [--batch-nodes <number>]`
//!
//! Without a path, on generated graphs. Trains on 80 % of the graphs and prints loss and validation
//! accuracy of each epoch, and the accuracy on the last 10 % at the end. With `--folds`, trains
//! ten models at once, each on nine of ten folds, and prints mean and deviation at the epoch with
//! the best mean. With `--batch-nodes` a mini-batch has graphs up to this number of nodes, instead of
//! 16 graphs.

mod common;

use gnnmg::*;
use ndarray::{Array2, ArrayViewMut1};
use std::error::Error;

const FOLDS: usize = 10;

/// Two kinds of graphs of 8 to 20 nodes: a ring with a chord at every third node, or two stars whose
/// centers are joined.
fn generated(context: &Context) -> Result<Dataset> {
    let (mut sources, mut targets, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    let mut starts = vec![0];
    for g in 0..300i64 {
        let (first, nodes, class) = (starts[g as usize], 8 + g * 7 % 13, g % 2);
        for i in 0..nodes {
            let next = match class {
                0 => (i + 1) % nodes,
                _ if i < 2 => 1 - i,
                _ => i % 2,
            };
            let chord = (class == 0 && i % 3 == 0).then_some((i + nodes / 2) % nodes);
            for end in std::iter::once(next).chain(chord) {
                sources.extend([first + i, first + end]);
                targets.extend([first + end, first + i]);
            }
        }
        classes.push(class);
        starts.push(first + nodes);
    }
    let num_nodes = starts[starts.len() - 1] as usize;
    let mut graph = Graph::from_coo(context, num_nodes, &sources, &targets)?;
    graph.set_node_tensor(0, "x", &Array2::<f32>::ones((num_nodes, 1)))?;
    Dataset::from_graphs(&graph, &starts, "x", Some(&classes), Task::Multiclass, 2)
}

struct Options {
    epochs: usize,
    /// Nodes of a mini-batch at most; 0: 16 graphs.
    batch_nodes: usize,
}

/// Trains a new model on the chosen split.
fn train(
    context: &Context,
    data: &Dataset,
    options: &Options,
    seed: u64,
    on_epoch: impl FnMut(&EpochInfo) + Send,
) -> Result<Trainer> {
    // [sampler]
    let sampler = Sampler::graphs(data, &SamplerConfig::new().num_layers(4))?;
    // [sampler]
    // [model]
    let layers = ModelConfig::new()
        .architecture(Architecture::Gin)
        .num_layers(4) // the sampler's number of hops
        .hidden_dim(64)
        .norm(Norm::Batch)
        .readout(Readout::Sum) // a row a graph from those of its nodes
        .jumping(Jumping::Scores) // scores of the features and of every layer
        .output_dropout(0.5)
        .seed(seed);
    let model = Model::new(context, data, &layers)?;
    // [model]
    let training = TrainerConfig::new()
        .num_ranks(2)
        .batch_size(match options.batch_nodes {
            0 => 16, // graphs, on each rank
            _ => usize::MAX,
        })
        .batch_nodes(options.batch_nodes)
        .num_epochs(options.epochs)
        .schedule(Schedule::Step) // half the rate every 50 epochs
        .seed(seed);
    let mut trainer = Trainer::new(model, data, &sampler, &training)?;
    trainer.run(on_epoch)?;
    Ok(trainer)
}

fn cross_validate(context: &Context, data: &mut Dataset, options: &Options) -> Result<()> {
    let epochs = options.epochs;
    // [folds]
    // Those of scikit-learn, which GIN's authors measured with.
    let folds = FoldsConfig::new().num_folds(FOLDS).numpy_legacy(true);
    data.add_folds("folds", &folds)?;
    let mut curves = Array2::<f64>::zeros((FOLDS, epochs)); // accuracy on the held-out fold
    let train_fold = |k: usize, mut curve: ArrayViewMut1<f64>| -> Result<Trainer> {
        let fold = data.select_split("folds", k)?; // shares the data
        train(context, &fold, options, k as u64, |epoch| {
            curve[epoch.epoch as usize] = epoch
                .validation
                .as_ref()
                .map_or(f64::NAN, |found| found.accuracy);
        })
    };
    std::thread::scope(|scope| {
        let folds: Vec<_> = curves
            .rows_mut()
            .into_iter()
            .enumerate()
            .map(|(k, curve)| scope.spawn(move || train_fold(k, curve)))
            .collect();
        folds
            .into_iter()
            .try_for_each(|fold| fold.join().expect("a fold").map(drop))
    })?;
    // [folds]
    for (k, curve) in curves.rows().into_iter().enumerate() {
        let accuracy = curve[epochs - 1];
        println!(
            "fold {:2}  accuracy after the last epoch {accuracy:.4}",
            k + 1
        );
    }
    let means: Vec<f64> = curves
        .columns()
        .into_iter()
        .map(|c| c.sum() / FOLDS as f64)
        .collect();
    let best = (0..epochs).fold(0, |best, e| if means[e] > means[best] { e } else { best });
    let mean = means[best];
    let squares = curves
        .column(best)
        .mapv(|accuracy| (accuracy - mean).powi(2))
        .sum();
    let (deviation, tail) = ((squares / FOLDS as f64).sqrt(), epochs.min(10));
    let last = means[epochs - tail..].iter().sum::<f64>() / tail as f64;
    println!(
        "accuracy {mean:.4} +- {deviation:.4} over folds at epoch {}, the best of the mean; \
         last {tail}: {last:.4}",
        best + 1
    );
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (mut path, mut by_folds) = (None, false);
    let mut options = Options {
        epochs: 30,
        batch_nodes: 0,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--folds" => by_folds = true,
            "--epochs" | "--batch-nodes" => {
                let number = arguments.next().ok_or("a number, please")?.parse()?;
                match argument.as_str() {
                    "--epochs" => options.epochs = number,
                    _ => options.batch_nodes = number,
                }
            }
            _ => path = Some(argument),
        }
    }
    if !(1..=1000).contains(&options.epochs) {
        return Err("--epochs: expected 1 to 1000".into());
    }

    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let mut data = match path {
        Some(path) => Dataset::open(&context, path)?,
        None => generated(&context)?,
    };
    let DatasetInfo {
        num_graphs,
        num_nodes,
        feature_dim,
        num_classes,
        ..
    } = data.info()?;
    let size = num_nodes as f64 / num_graphs as f64;
    println!(
        "{num_graphs} graphs of {size:.1} nodes in the mean, {feature_dim} features, \
         {num_classes} classes"
    );
    if by_folds {
        return Ok(cross_validate(&context, &mut data, &options)?);
    }

    let split = SplitConfig::new()
        .train_fraction(0.8)
        .validation_fraction(0.1)
        .seed(1);
    data.add_random_split("random", &split)?;
    let mut trainer = train(&context, &data, &options, 1, |epoch| {
        let best = if epoch.best { " *" } else { "" };
        let loss = epoch.train_loss;
        let accuracy = epoch
            .validation
            .as_ref()
            .map_or(f64::NAN, |found| found.accuracy);
        println!(
            "epoch {:2}  loss {loss:.4}  validation accuracy {accuracy:.4}{best}",
            epoch.epoch + 1
        );
    })?;
    let Metrics {
        accuracy,
        correct,
        count,
        ..
    } = trainer.evaluate(Part::Test)?;
    println!("test accuracy {accuracy:.4} ({correct} of {count} graphs)");
    Ok(())
}
