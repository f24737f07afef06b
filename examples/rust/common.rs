//! Common parts of several examples.

use gnnmg::*;

/// Prints the library's warnings on standard error when it goes out of scope. It goes out of scope
/// before the context, also in a program that fails.
#[allow(dead_code)]
pub struct Warnings<'context>(&'context Context);

#[allow(dead_code)]
impl<'context> Warnings<'context> {
    pub fn of(context: &'context Context) -> Self {
        Warnings(context)
    }

    pub fn print(&self) {
        for message in self.0.messages() {
            if matches!(message.level, LogLevel::Warning | LogLevel::Error) {
                eprintln!("warning: {}", message.text);
            }
        }
    }
}

impl Drop for Warnings<'_> {
    fn drop(&mut self) {
        self.print();
    }
}

/// A generated graph and a data set around it.
#[allow(dead_code)]
pub fn planted_data(context: &Context, num_nodes: usize) -> Result<(Graph, Dataset)> {
    let config = PlantedConfig::new().num_nodes(num_nodes);
    let data = Dataset::planted(context, &config, &SplitConfig::new())?;
    Ok((data.graph()?, data))
}

/// Test metrics of a small model after a number of epochs.
#[allow(dead_code)]
pub fn train_small_model(
    context: &Context,
    data: &Dataset,
    sampler: &Sampler,
    num_epochs: usize,
) -> Result<Metrics> {
    let model = Model::new(context, data, &ModelConfig::new().hidden_dim(32))?;
    let training = TrainerConfig::new()
        .num_epochs(num_epochs)
        .batch_size(256)
        .keep_best(false);
    let mut trainer = Trainer::new(model, data, sampler, &training)?;
    trainer.run(|_| ())?;
    trainer.evaluate(Part::Test)
}
