//! A trained model in use: the classes of a few nodes, with their probabilities. In a folder without
//! a file of weights the program trains a model, saves it, and starts itself again, so that a fresh
//! process predicts.

mod common;

use gnnmg::*;
use std::path::Path;
use std::process::Command;

const WEIGHTS: &str = "sage.safetensors";

fn train_and_save(model: Model, graph: &Graph, data: &Dataset) -> Result<()> {
    let sampler = Sampler::new(graph, &SamplerConfig::new())?;
    let config = TrainerConfig::new().num_epochs(8).batch_size(256);
    let mut trainer = Trainer::new(model, data, &sampler, &config)?;
    trainer.run(|_| ())?;
    trainer.into_model()?.save(WEIGHTS)
}

fn predict(model: &Model, data: &Dataset) -> Result<()> {
    // [predict]
    // A copy of the weights; it answers any number of threads.
    let drawn = PredictorConfig::new().fanouts(&[10, 10]).seed(7);
    let predictor = Predictor::new(model, data, &drawn)?;
    let ids = [7, 42, 1001];
    let probability: Vec<f32> = predictor.run(&ids, Output::Probabilities)?;
    let most_likely: Vec<i64> = predictor.run(&ids, Output::Classes)?;
    // [predict]
    let columns = probability.len() / ids.len();
    for (i, (id, class)) in ids.iter().zip(most_likely).enumerate() {
        let share = probability[i * columns + class as usize];
        println!("node {id}: class {class}, probability {share:.2}");
    }

    // [info]
    let info = predictor.info()?;
    println!(
        "{} calls over {} nodes, {} classes, rows of {} numbers before the last layer",
        info.num_calls, info.num_ids, info.output_dim, info.embedding_dim
    );
    // [info]
    // [free]
    drop(predictor);
    // [free]
    Ok(())
}

fn main() -> Result<()> {
    let trained = Path::new(WEIGHTS).exists();
    {
        let context = Context::new()?;
        let _warnings = common::Warnings::of(&context);
        let (graph, data) = common::planted_data(&context, 3000)?;
        if trained {
            // The file has settings and weights.
            return predict(&Model::open(&context, WEIGHTS)?, &data);
        }
        let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(32))?;
        train_and_save(model, &graph, &data)?;
        println!("trained, and saved {WEIGHTS}");
    }
    let program = std::env::current_exe().expect("the program has a path");
    let again = Command::new(program)
        .status()
        .expect("the program starts again");
    assert!(again.success());
    Ok(())
}
