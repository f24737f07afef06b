//! GPUs: lists them, trains on all of them, and runs a pass on the first. Without a GPU it prints
//! the reason and does the same on the CPU.

mod common;

use gnnmg::*;

/// Computes the model's result for the first mini-batch on `device` and prints it.
fn print_results(
    context: &Context,
    data: &Dataset,
    sampler: &Sampler,
    model: &mut Model,
    device: DeviceType,
) -> Result<()> {
    let plan = LoaderConfig::new().device(device).shuffle(false);
    let mut loader = Loader::new(data, sampler, &plan)?;
    model.set_device(device, 0)?;
    let batch = loader.next_batch()?.expect("there are nodes to train on");
    let there = model.infer(&batch)?;
    let here = there.to_host::<f32>(context)?;
    let row: Vec<String> = here.as_slice::<f32>()?[..there.shape()[1]]
        .iter()
        .map(|score| format!("{score:.2}"))
        .collect();
    println!("scores {}", row.join(" "));
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    // [devices]
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
    // [devices]

    let (graph, data) = common::planted_data(&context, 5000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(32))?;
    let config = TrainerConfig::new()
        .num_ranks(0) // one per GPU, or one on the CPU
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
            epoch
                .validation
                .as_ref()
                .map_or(f64::NAN, |found| found.accuracy)
        );
    })?;
    let metrics = trainer.evaluate(Part::Test)?;
    println!("test accuracy {:.4}", metrics.accuracy);
    let mut model = trainer.into_model()?;
    let on_gpu = context.why_no_device()?.is_none();
    let device = if on_gpu {
        DeviceType::Cuda
    } else {
        DeviceType::Cpu
    };
    print_results(&context, &data, &sampler, &mut model, device)?;
    Ok(())
}
