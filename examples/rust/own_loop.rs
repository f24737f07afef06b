//! A custom training loop over two ranks, with one thread each and, if there are two, one GPU each:
//! batches, forward, backward, one all-reduce, one update. It gives the same numbers as
//! `Trainer::run`.

mod common;

use gnnmg::*;

const RANKS: i32 = 2;
const EPOCHS: usize = 5;

fn train(data: &Dataset, sampler: &Sampler, mut model: Model, mut comm: Comm) -> Result<Model> {
    let rank = comm.rank()?;
    // [loader]
    let place = model.info()?;
    let plan = LoaderConfig::new()
        .batch_size(256)
        .rank(rank)
        .world_size(RANKS as usize)
        .device(place.device) // same as the model
        .device_index(place.device_index as usize);
    let mut loader = Loader::new(data, sampler, &plan)?;
    // [loader]
    let mut optimizer = Optimizer::new(&mut model, &OptimizerConfig::new())?;

    for epoch in 1..=EPOCHS {
        let (mut loss, mut steps) = (0.0, 0);
        // [loop]
        for batch in loader.epoch() {
            let batch = batch?;
            model.forward(&batch)?;
            loss += model.backward(Loss::Auto)?; // this rank's share of the step's
            if batch.info()?.last_of_step {
                // Every rank gets here once per step.
                comm.all_reduce(&mut model.gradients_mut()?, Reduce::Sum)?;
                optimizer.step(&mut model)?;
                steps += 1;
            }
        }
        // [loop]
        comm.all_reduce(&mut loss, Reduce::Sum)?;
        if rank == 0 {
            println!(
                "epoch {epoch}  mean loss of a step {:.4}",
                loss / f64::from(steps)
            );
        }
    }
    comm.shutdown()?;
    Ok(model)
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 5000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let on_gpus = context.devices()?.len() >= RANKS as usize;
    println!(
        "{RANKS} ranks on {}",
        if on_gpus { "GPUs" } else { "the CPU" }
    );
    let first = Model::new(&context, &data, &ModelConfig::new())?;

    let comms = Comm::group(&context, RANKS as usize, &CommConfig::new())?;
    let models = std::thread::scope(|scope| {
        let (data, sampler) = (&data, &sampler);
        let mut threads = Vec::new();
        for (rank, comm) in comms.into_iter().enumerate() {
            let mut replica = first.try_clone()?;
            // [device]
            if on_gpus {
                replica.set_device(DeviceType::Cuda, rank)?;
            }
            // [device]
            threads.push(scope.spawn(move || train(data, sampler, replica, comm)));
        }
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().expect("a rank panicked"));
        ended.collect::<Result<Vec<Model>>>()
    })?;
    println!(
        "test accuracy {:.4}",
        models[0].evaluate(&data, Part::Test)?.accuracy
    );
    Ok(())
}
