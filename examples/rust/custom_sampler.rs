//! A custom sampler: a closure chooses a node's fan-out by its layer and the library draws. Two
//! ranks train with it.

mod common;

use gnnmg::*;
use std::sync::Arc;

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let planted = PlantedConfig::new().num_nodes(5000);
    let data = Dataset::planted(&context, &planted, &SplitConfig::new())?;
    let graph = Arc::new(data.graph()?);

    // [callback]
    let fanouts = [8, 4];
    let inner = Arc::clone(&graph);
    let config = SamplerConfig::new().num_layers(fanouts.len());
    let sampler = Sampler::custom(&graph, &config, move |layer, sink| {
        // sink.add_edges() would add edges of any other choice.
        let fanout = fanouts[layer.number];
        inner.sample_neighbors(0, layer.targets, fanout, false, layer.key, sink)
    })?;
    // [callback]

    let layers = ModelConfig::new().num_layers(fanouts.len()).hidden_dim(64);
    let model = Model::new(&context, &data, &layers)?;
    let training = TrainerConfig::new()
        .num_ranks(2)
        .batch_size(256)
        .num_epochs(5);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    // The closure runs on this thread, while it waits here; Context::lend lends more.
    trainer.run(|_| ())?;
    println!(
        "test accuracy {:.4}",
        trainer.evaluate(Part::Test)?.accuracy
    );
    Ok(())
}
