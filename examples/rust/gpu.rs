//! GPUs: which there are, and training on all of them; where there is none, why, and training on
//! the CPU instead.

mod common;

use gnnmg::*;

fn main() -> Result<()> {
    let context = Context::new()?;
    let gibibytes = |bytes: usize| bytes as f64 / f64::from(1 << 30);
    for (i, gpu) in context.devices()?.iter().enumerate() {
        let (major, minor) = gpu.capability;
        println!(
            "GPU {i}: {} ({}), {:.1} of {:.1} GiB free, {} multiprocessors, capability {major}.{minor}",
            gpu.name,
            gpu.bus_id,
            gibibytes(gpu.free_memory),
            gibibytes(gpu.total_memory),
            gpu.multiprocessors
        );
    }
    if let Some(why) = context.why_no_device()? {
        println!("no GPU: {why}");
    }

    let (graph, data) = common::planted_data(&context, 5000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(32))?;
    let config = TrainerConfig::new()
        .num_ranks(0) // one a GPU, all of them; without any, one on the CPU
        .num_epochs(5)
        .batch_size(256)
        .batches_per_step(8) // the same steps on up to 8 GPUs
        .graph_placement(GraphPlacement::Device) // a copy on each GPU
        .feature_placement(FeaturePlacement::Cached) // hot rows on it, the rest pinned
        .cache_bytes(64 << 20);
    let mut trainer = Trainer::new(model, &data, &sampler, &config)?;
    trainer.run(|epoch| {
        println!(
            "epoch {}  validation accuracy {:.4}",
            epoch.epoch + 1,
            epoch.validation_accuracy
        );
    })?;
    let metrics = trainer.evaluate(Split::Test)?;
    println!("test accuracy {:.4}", metrics.accuracy);
    Ok(())
}
