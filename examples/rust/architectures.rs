//! The kinds of models side by side on one data set: GraphSAGE, GCN, GAT, GATv2 and GIN, with the
//! same sampler, split and seed. Prints parameters, accuracy and the seconds of an epoch.

mod common;

use gnnmg::*;

fn main() -> Result<()> {
    let kinds = [
        ("GraphSAGE", Architecture::Sage, 1),
        ("GCN", Architecture::Gcn, 1),
        ("GAT", Architecture::Gat, 4),
        ("GATv2", Architecture::Gatv2, 4),
        ("GIN", Architecture::Gin, 1),
    ];
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 4000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;

    for (name, architecture, heads) in kinds {
        // [architecture]
        // Heads, of those that attend, divide hidden_dim.
        let layers = ModelConfig::new()
            .architecture(architecture)
            .hidden_dim(32)
            .heads(heads);
        let model = Model::new(&context, &data, &layers)?;
        // [architecture]
        let parameters = model.info()?.num_parameters;

        let training = TrainerConfig::new().num_epochs(5).batch_size(256);
        let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
        let mut seconds = 0.0;
        trainer.run(|epoch| seconds += epoch.times.total / epoch.num_epochs as f64)?;
        let accuracy = trainer.evaluate(Part::Test)?.accuracy;
        println!(
            "{name:<9} {parameters:6} parameters, test accuracy {accuracy:.4}, {seconds:.2} s an epoch"
        );
    }
    Ok(())
}
