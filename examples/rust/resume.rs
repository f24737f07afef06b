//! A training that may be interrupted: stopped in the middle of an epoch, saved, and continued by
//! another trainer, which gets the same weights, bit for bit, as an uninterrupted one.

mod common;

use gnnmg::*;
use std::path::Path;

fn make_trainer(context: &Context, data: &Dataset, sampler: &Sampler) -> Result<Trainer> {
    let layers = ModelConfig::new().hidden_dim(32).dropout(0.5);
    let model = Model::new(context, data, &layers)?;
    let training = TrainerConfig::new()
        .num_ranks(2)
        .num_epochs(4)
        .batch_size(128);
    Trainer::new(model, data, sampler, &training)
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 4000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;

    let mut straight = make_trainer(&context, &data, &sampler)?;
    straight.run(|_| ())?;

    // The same in pieces: one epoch and three steps, one step at a time ...
    let mut first = make_trainer(&context, &data, &sampler)?;
    // [checkpoints]
    first.set_checkpoints(
        Path::new("run"),
        &CheckpointConfig::new().every_steps(5).keep(2),
    )?;
    // [checkpoints]
    first.set_record(Record::JsonLines, Path::new("run.jsonl"))?;
    while let Some(loss) = first.step()? {
        let ProgressInfo {
            epoch,
            step,
            num_steps,
            ..
        } = first.progress()?;
        println!("epoch {epoch} step {step} of {num_steps}: loss {loss:.4}");
        if epoch == 1 && step == 3 {
            break; // whenever the program likes
        }
    }
    first.save("pause")?; // a folder, whole or not at all
    drop(first);

    // ... and the rest in another trainer, as in a process that was started later.
    let mut second = make_trainer(&context, &data, &sampler)?;
    // [load]
    // Or "run": the newest one that is whole.
    second.load("pause")?;
    // [load]
    // [stop]
    second.start(|_| ())?;
    second.remote().stop(); // a Ctrl-C handler would do this: all ranks end after one step
    second.wait()?;
    // This call continues the training.
    second.run(|_| ())?;
    // [stop]

    let (wanted, found) = (straight.model().parameters()?, second.model().parameters()?);
    let (wanted, found) = (wanted.as_slice::<f32>()?, found.as_slice::<f32>()?);
    let same = wanted
        .iter()
        .zip(found)
        .all(|(a, b)| a.to_bits() == b.to_bits());
    println!(
        "{} weights, {}",
        wanted.len(),
        if same {
            "the same bits"
        } else {
            "which differ"
        }
    );
    Ok(())
}
