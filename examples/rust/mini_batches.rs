//! Mini-batches for another framework: seeds, nodes, features, labels and the edges of each layer
//! are exported as views without copying. Counts the contents of an epoch.

mod common;

use gnnmg::*;
use ndarray::{ArrayView1, ArrayView2};

/// The place of the framework's code.
fn look_into(batch: &Batch) -> Result<()> {
    let info = batch.info()?;
    // [batch]
    let (nodes, features, labels) = (batch.node_ids()?, batch.features()?, batch.labels()?);
    // The seeds, then their neighbors; a row for each of these; the labels of the seeds.
    let ids: ArrayView1<i64> = nodes.view()?;
    let rows: ArrayView2<f32> = features.view()?;
    let classes: ArrayView1<i64> = labels.view()?;
    // [batch]
    println!(
        "batch {} of step {}: {} seeds, {} nodes; node {} is of class {}, x[0] {:.3}",
        info.number,
        info.step,
        info.num_seeds,
        info.num_nodes,
        ids[0],
        classes[0],
        rows[(0, 0)]
    );
    for layer in 0..info.num_layers {
        let BlockInfo {
            num_sources,
            num_targets,
            num_edges,
            ..
        } = batch.block_info(layer)?;
        println!(
            "  layer {layer}: {num_sources} sources, {num_targets} targets, {num_edges} edges"
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 3000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;

    // Any nodes; Loader::new takes those of the split.
    let seeds: Vec<i64> = (0..600).map(|i| 5 * i).collect();
    let config = LoaderConfig::new().batch_size(256).num_threads(2);
    let mut loader = Loader::from_seeds(&data, &sampler, &seeds, &config)?;
    let LoaderInfo {
        epoch,
        num_batches,
        num_steps,
        ..
    } = loader.info()?;
    let num_layers = sampler.num_layers()?; // the number that a model needs
    println!("epoch {epoch}: {num_batches} mini-batches in {num_steps} steps, {num_layers} layers");

    for batch in loader.epoch() {
        look_into(&batch?)?;
    }

    loader.start(0, 1)?; // epoch 0 once more, from its second step
    assert_eq!(loader.epoch().count(), 2);

    loader.remote().cancel(); // allowed on any thread: ends the loader
    let error = loader.next_batch().expect_err("the loader was canceled");
    println!("after the cancel: {}", error.kind());
    Ok(())
}
