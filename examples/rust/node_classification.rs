//! Node classification from a folder or file, or, without an argument, on a generated graph:
//! `node_classification [<path>]`

use gnnmg::*;

fn main() -> Result<()> {
    let context = Context::new()?;
    let result = train(&context);
    for said in context
        .messages()
        .filter(|said| said.level != LogLevel::Info)
    {
        eprintln!("warning: {}", said.text);
    }
    result
}

fn train(context: &Context) -> Result<()> {
    let data = match std::env::args().nth(1) {
        Some(path) => {
            // [open]
            Dataset::open(context, path)?
            // [open]
        }
        None => {
            let planted = PlantedConfig::new().num_nodes(5000);
            Dataset::planted(context, &planted, &SplitConfig::new())?
        }
    };

    // The list of fan-outs begins next to the seeds; widths come from the data.
    // [sampler]
    let sampler = Sampler::new(&data.graph()?, &SamplerConfig::new().fanouts(&[10, 5]))?;
    // [sampler]
    // [model]
    let layers = ModelConfig::new()
        .architecture(Architecture::Sage)
        .hidden_dim(64)
        .dropout(0.5);
    let model = Model::new(context, &data, &layers)?;
    // [model]

    // Two replicas share each step.
    // [train]
    let training = TrainerConfig::new()
        .num_ranks(2)
        .batch_size(256)
        .num_epochs(8);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|epoch| {
        let best = if epoch.best { " *" } else { "" };
        let loss = epoch.train_loss;
        let accuracy = epoch
            .validation
            .as_ref()
            .map_or(f64::NAN, |found| found.accuracy);
        println!(
            "epoch {:2}  loss {loss:.4}  validation accuracy {accuracy:.4}{best}",
            epoch.epoch + 1
        );
    })?;
    // [train]

    // [evaluate]
    let metrics = trainer.evaluate(Part::Test)?;
    let Metrics {
        accuracy,
        correct,
        count,
        ..
    } = metrics;
    println!("test accuracy {accuracy:.4} ({correct} of {count})");
    // [evaluate]
    trainer.model_mut().save("sage.safetensors")
}
