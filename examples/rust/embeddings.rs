//! The model's result for every node, with full neighborhoods: by the model alone, by all ranks of
//! a trainer, and straight into files for NumPy. Then which nodes are most alike.

mod common;

use gnnmg::*;
use ndarray::{ArrayView1, ArrayView2};
use std::error::Error;
use std::task::Poll;
use std::time::Duration;

const NODES: usize = 3000;
const QUERIES: usize = 200;

fn cosine(a: ArrayView1<f32>, b: ArrayView1<f32>) -> f64 {
    let dot = |x: &ArrayView1<f32>, y: &ArrayView1<f32>| -> f64 {
        x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum()
    };
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, NODES)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let model = Model::new(&context, &data, &ModelConfig::new())?;
    let training = TrainerConfig::new()
        .num_ranks(2)
        .num_epochs(5)
        .batch_size(256);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|_| ())?;

    // [trainer]
    let by_ranks = trainer.embed()?; // each rank computes its share
    trainer.embed_to_file("by_ranks.npy")?;
    // [trainer]
    // [model]
    // Any model works, trained here or loaded.
    let model = trainer.into_model()?;
    let rows = model.embed(&data)?;
    // A file never needs all rows in memory.
    model.embed_to_file(&data, "rows.npy")?;
    // [model]

    let row: ArrayView2<f32> = rows.view()?;
    let other: ArrayView2<f32> = by_ranks.view()?;
    let apart = row
        .iter()
        .zip(other)
        .map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs());
    let difference = apart.fold(0.0, f64::max);
    println!("largest difference between the two: {difference:.1e}");
    assert!(difference < 1e-4);
    let size = |path| std::fs::metadata(path).map(|file| file.len());
    println!(
        "rows.npy has {} bytes, by_ranks.npy {}",
        size("rows.npy")?,
        size("by_ranks.npy")?
    );

    let y = graph.node_tensor(0, "y")?;
    let classes = y.as_slice::<i64>()?;
    let mut alike = 0;
    for v in 0..QUERIES {
        let (mut nearest, mut most) = (v, -2.0);
        for u in (0..NODES).filter(|&u| u != v) {
            let like = cosine(row.row(v), row.row(u));
            if like > most {
                (nearest, most) = (u, like);
            }
        }
        alike += usize::from(classes[nearest] == classes[v]);
    }
    println!("{alike} of {QUERIES} nodes are most like a node of their own class");

    // No time at all.
    let ended = match model.embed_timeout(&data, Duration::ZERO)? {
        Poll::Ready(_) => "OK".to_string(),
        Poll::Pending => {
            context.remote().cancel(); // allowed on any thread
            let ended = model.embed(&data); // the result of the cancellation
            ended.map_or_else(|error| error.kind().to_string(), |_| "OK".to_string())
        }
    };
    println!("in no time: {ended}");
    Ok(())
}
