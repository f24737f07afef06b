//! GraphSAGE on the nodes of a data set, or else of a generated graph: `first [<folder or file>]`

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
        Some(path) => Dataset::open(context, path)?, // Planetoid, OGB, .npz, edge lists, ...
        None => {
            let planted = PlantedConfig::new().num_nodes(2000);
            Dataset::planted(context, &planted, &SplitConfig::new())?
        }
    };
    let layers = ModelConfig::new().hidden_dim(64).dropout(0.5);
    let model = Model::new(context, &data, &layers)?; // GraphSAGE, widths from the data

    let training = TrainerConfig::new()
        .num_ranks(2) // replicas that share each step
        .batch_size(64)
        .num_epochs(30);
    let mut trainer = Trainer::new(model, &data, None, &training)?; // 10 neighbors a layer
    trainer.run(|_epoch| ())?;

    let test = trainer.evaluate(Part::Test)?;
    println!("test accuracy {:.3} on {} nodes", test.accuracy, test.count);
    trainer.model_mut().save("sage.safetensors") // PyG's keys; or .pth
}
