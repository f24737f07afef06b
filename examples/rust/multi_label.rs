//! Several yes-or-no questions about each node, some without an answer, and the metrics of such a
//! task on every part of the split. Training ends early, and keeps the epoch with the best ROC-AUC.

mod common;

use gnnmg::*;
use ndarray::Array2;

const NODES: usize = 2500;

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let planted = PlantedConfig::new().num_nodes(NODES);
    let mut graph = Graph::planted(&context, &planted)?;

    // Is the class below 5? even? 7? One node in five has no answer to the last.
    let y = graph.node_tensor(0, "y")?;
    let class = y.as_slice::<i64>()?;
    let answers = Array2::from_shape_fn((NODES, 3), |(v, question)| {
        let yes = match question {
            0 => class[v] < 5,
            1 => class[v] % 2 == 0,
            _ if v % 5 == 3 => return f32::NAN,
            _ => class[v] == 7,
        };
        f32::from(u8::from(yes))
    });
    graph.set_node_tensor(0, "answers", &answers)?;
    let mut data = Dataset::from_graph(&graph, "x", "answers", Task::Binary, 0)?;
    data.add_random_split("random", &SplitConfig::new())?;

    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(32))?;
    let training = TrainerConfig::new()
        .num_epochs(40)
        .batch_size(256)
        .best_by(Metric::RocAuc)
        .early_stop_patience(2); // validations without getting better
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|epoch| {
        let best = if epoch.best { " *" } else { "" };
        let loss = epoch.train_loss;
        let area = epoch
            .validation
            .as_ref()
            .map_or(f64::NAN, |found| found.roc_auc);
        println!(
            "epoch {:2}  loss {loss:.4}  validation ROC-AUC {area:.4}{best}",
            epoch.epoch + 1
        );
    })?; // the best weights stay

    let parts = [
        ("train", Part::Train),
        ("validation", Part::Validation),
        ("test", Part::Test),
    ];
    for (name, part) in parts {
        let of = trainer.evaluate(part)?;
        println!(
            "{name:<10}  {} answers, accuracy {:.4}, ROC-AUC {:.4}, average precision {:.4}, F1 {:.4}",
            of.count, of.accuracy, of.roc_auc, of.average_precision, of.f1_macro
        );
    }
    Ok(())
}
