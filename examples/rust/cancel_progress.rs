//! Training observed from outside: one thread waits for it, another one shows its progress and
//! cancels it after a while. The model keeps the weights learned so far.

mod common;

use gnnmg::*;
use std::time::Duration;

fn watch(trainer: TrainerHandle) -> Result<()> {
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(200));
        // [progress]
        let ProgressInfo {
            epoch,
            step,
            num_steps,
            loss,
            seeds_per_second,
            ..
        } = trainer.progress()?;
        println!(
            "epoch {epoch}, step {step} of {num_steps}, loss {loss:.4}, {seeds_per_second:.0} seeds/s"
        );
        // [progress]
    }
    trainer.cancel(); // stop() would end it between two steps
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let graph = Graph::planted(&context, &PlantedConfig::new())?;
    let mut data = Dataset::from_graph(&graph, "x", "y", Task::Multiclass, 0)?;
    data.add_random_split("random", &SplitConfig::new())?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let model = Model::new(&context, &data, &ModelConfig::new())?;
    let for_ever = TrainerConfig::new().num_epochs(1_000_000);
    let mut trainer = Trainer::new(model, &data, &sampler, &for_ever)?;

    let remote = trainer.remote();
    trainer.start(|_| ())?;
    let watcher = std::thread::spawn(move || watch(remote));
    let error = loop {
        // A program can handle its window, signals and other work after each wait.
        match trainer.wait_timeout(Duration::from_millis(100)) {
            Ok(state) => assert!(state.is_pending(), "a million epochs are done"),
            Err(error) => break error,
        }
    };
    watcher.join().expect("the watcher panicked")?;
    println!("{}: {error}", error.kind());

    let metrics = trainer.model_mut().evaluate(&data, Part::Test)?;
    println!("test accuracy so far {:.4}", metrics.accuracy);
    Ok(())
}
