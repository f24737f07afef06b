//! GraphSAGE on the nodes of a data set, by two ranks: `first <folder or file>`

use gnnmg::*;

fn main() -> Result<()> {
    let path = std::env::args().nth(1); // Planetoid, OGB, .npz, edge lists, ...
    let context = Context::new()?;
    let data = Dataset::open(&context, path.as_deref().unwrap_or("cora"))?;
    let sampler = Sampler::new(&data.graph()?, &SamplerConfig::new())?; // 10 and 10 neighbours
    let layers = ModelConfig::new().hidden_dim(64).dropout(0.5);
    let model = Model::new(&context, &data, &layers)?; // GraphSAGE, widths from the data

    let training = TrainerConfig::new()
        .num_ranks(2) // replicas that share each step
        .batch_size(64)
        .num_epochs(30);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|_epoch| ())?;

    let test = trainer.evaluate(Split::Test)?;
    println!("test accuracy {:.3} on {} nodes", test.accuracy, test.count);
    for said in context
        .messages()
        .filter(|said| said.level != LogLevel::Info)
    {
        eprintln!("warning: {}", said.text);
    }
    trainer.model_mut().save("sage.safetensors") // PyG's keys; or .pth
}
