//! Predictions while training goes on: threads answer the lines of standard input, each of which
//! lists ids of nodes, and another thread trains and hands over a snapshot after each epoch. A line
//! that has begun keeps the predictor it began with.

mod common;

use gnnmg::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

struct Service<'data> {
    data: &'data Dataset,
    current: Mutex<Arc<Predictor>>,
    snapshots: AtomicUsize,
    answers: AtomicUsize,
    failures: AtomicUsize,
}

fn predictor(trainer: &TrainerHandle, data: &Dataset) -> Result<Predictor> {
    let drawn = PredictorConfig::new().fanouts(&[10, 10]);
    Predictor::new(&trainer.snapshot()?, data, &drawn)
}

impl Service<'_> {
    // [publish]
    /// After each epoch. Readers keep the old predictor until they are done.
    fn publish(&self, trainer: &TrainerHandle) {
        if let Ok(next) = predictor(trainer, self.data) {
            *self.current.lock().unwrap() = Arc::new(next);
            self.snapshots.fetch_add(1, Ordering::Relaxed);
        }
    }
    // [publish]

    fn answer(&self, line: &str) -> Result<String> {
        let ids: Vec<i64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let newest = Arc::clone(&self.current.lock().unwrap());
        // [answer]
        // An error names an id that is no node.
        let classes: Vec<i64> = newest.run(&ids, Output::Classes)?;
        // [answer]
        let texts: Vec<String> = ids
            .iter()
            .zip(classes)
            .map(|(id, class)| format!("{id}: class {class}"))
            .collect();
        Ok(texts.join(", "))
    }

    fn work(&self) {
        let mut line = String::new();
        while std::io::stdin().read_line(&mut line).unwrap_or(0) > 0 {
            match self.answer(&line) {
                Ok(text) => {
                    self.answers.fetch_add(1, Ordering::Relaxed);
                    println!("{text}");
                }
                Err(error) => {
                    self.failures.fetch_add(1, Ordering::Relaxed);
                    println!("error: {error}");
                }
            }
            line.clear();
        }
    }
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 3000)?;
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(32))?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let config = TrainerConfig::new().num_epochs(5).batch_size(256);
    let mut trainer = Trainer::new(model, &data, &sampler, &config)?;
    let remote = trainer.remote();
    let service = Service {
        data: &data,
        current: Mutex::new(Arc::new(predictor(&remote, &data)?)), // the untrained model, at first
        snapshots: AtomicUsize::new(1),
        answers: AtomicUsize::new(0),
        failures: AtomicUsize::new(0),
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| service.work());
        }
        trainer.run(|_| service.publish(&remote))
    })?;
    println!(
        "{} answers, {} failures, {} snapshots",
        service.answers.into_inner(),
        service.failures.into_inner(),
        service.snapshots.into_inner()
    );
    Ok(())
}
