//! A custom loss: cross-entropy with smoothed labels, whose gradient with respect to the logits is
//! passed to the model. The optimizer is the library's, with a decreasing learning rate.

mod common;

use gnnmg::*;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

const CLASSES: usize = 10;

/// Cross-entropy of a row against 0.9 for the class and the rest for all, and its gradient.
fn smoothed(row: ArrayView1<f32>, class: i64) -> (f64, [f64; CLASSES]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
    let (mut loss, mut gradient) = (0.0, [0.0; CLASSES]);
    for (c, &x) in row.iter().enumerate() {
        let wanted = 0.1 / CLASSES as f64 + if c as i64 == class { 0.9 } else { 0.0 };
        let log_share = f64::from(x - largest) - sum.ln();
        loss -= wanted * log_share;
        gradient[c] = log_share.exp() - wanted;
    }
    (loss, gradient)
}

/// Forward, loss, backward; returns the mini-batch's mean loss.
fn backward(model: &mut Model, batch: &Batch) -> Result<f64> {
    // [own loss]
    let (logits, labels) = (model.forward(batch)?, batch.labels()?);
    let rows: ArrayView2<f32> = logits.view()?;
    let classes = labels.as_slice::<i64>()?;
    let (mut loss, seeds) = (0.0, classes.len() as f64);
    let mut by_logits = Array2::<f32>::zeros(rows.raw_dim());
    for ((row, &class), mut out) in rows
        .rows()
        .into_iter()
        .zip(classes)
        .zip(by_logits.rows_mut())
    {
        let (of_row, gradient) = smoothed(row, class);
        loss += of_row;
        for (to, from) in out.iter_mut().zip(gradient) {
            *to = (from / seeds) as f32;
        }
    }
    model.backward_from(&by_logits)?;
    // [own loss]
    Ok(loss / seeds)
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 4000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let mut model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(64))?;
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new().batch_size(256))?;
    let rule = OptimizerConfig::new()
        .optimizer(OptimizerKind::Adamw)
        .learning_rate(0.01)
        .weight_decay(1e-4);
    let mut optimizer = Optimizer::new(&mut model, &rule)?;

    for epoch in 1..=6 {
        let (mut loss, mut norm, mut steps) = (0.0, 0.0, 0);
        for batch in loader.epoch() {
            loss += backward(&mut model, &batch?)?;
            let gradient = model.gradient("convs.0.lin_l.weight")?;
            let squares = gradient
                .view::<f32, ndarray::Ix2>()?
                .mapv(|g| f64::from(g * g));
            norm = squares.sum_axis(Axis(0)).sum().sqrt();
            drop(gradient); // borrows the model
            optimizer.step(&mut model)?; // the gradients are 0 again
            steps += 1;
        }
        let rate = optimizer.learning_rate()?;
        optimizer.set_learning_rate(0.7 * rate)?;
        let loss = loss / f64::from(steps);
        println!("epoch {epoch}  rate {rate:.4}  loss {loss:.4}  |gradient| {norm:.4}");
    }
    optimizer.save("optimizer.pth")?; // a dict of PyTorch's AdamW
    optimizer.load("optimizer.pth")?;
    println!(
        "test accuracy {:.4}",
        model.evaluate(&data, Part::Test)?.accuracy
    );
    Ok(())
}
