//! A training that changes its framework: it begins with PyTorch Geometric's layers and Adam,
//! continues with a trainer of DGL's layers on two ranks, and returns. Weights and the optimizer's
//! state go through files as `torch.save()` writes them, so that either end may be in Python.

mod common;

use gnnmg::*;

const STEPS: usize = 5;

fn make_trainer(
    context: &Context,
    data: &Dataset,
    sampler: &Sampler,
    framework: Framework,
    ranks: usize,
) -> Result<Trainer> {
    let layers = ModelConfig::new()
        .framework(framework)
        .hidden_dim(32)
        .dtype(DataType::F64);
    // A trainer that uses all nodes in each step, so that the sampling does not matter.
    let training = TrainerConfig::new()
        .num_ranks(ranks)
        .batch_size(2000 / ranks)
        .num_epochs(100);
    Trainer::new(
        Model::new(context, data, &layers)?,
        data,
        sampler,
        &training,
    )
}

fn train(trainer: &mut Trainer, name: &str) -> Result<()> {
    let mut loss = 0.0;
    for _ in 0..STEPS {
        loss = trainer.step()?.expect("there are more epochs");
    }
    println!("{name}: loss {loss:.4}");
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 2000)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[-1, -1]))?; // all neighbors

    let mut trainer = make_trainer(&context, &data, &sampler, Framework::Pyg, 1)?;
    train(&mut trainer, "begun")?;
    trainer.model_mut().save("model.pth")?;
    trainer.optimizer()?.save("optimizer.pth")?;

    // [move in]
    let mut other = make_trainer(&context, &data, &sampler, Framework::Dgl, 2)?;
    let file = ModelFileConfig::new().other_framework(true); // the files have PyG's layers
    other.model_mut().load_with("model.pth", &file)?;
    other.optimizer()?.load_with("optimizer.pth", &file)?;
    // [move in]
    train(&mut trainer, "stayed")?;
    train(&mut other, "moved")?;

    other.model_mut().save_with("model.pth", &file)?;
    other.optimizer()?.save_with("optimizer.pth", &file)?;
    let mut third = make_trainer(&context, &data, &sampler, Framework::Pyg, 1)?;
    third.model_mut().load("model.pth")?;
    third.optimizer()?.load("optimizer.pth")?;
    train(&mut trainer, "stayed")?;
    train(&mut third, "back")?;

    let (wanted, found) = (trainer.model().parameters()?, third.model().parameters()?);
    let pairs = wanted
        .as_slice::<f64>()?
        .iter()
        .zip(found.as_slice::<f64>()?);
    let same = pairs.fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs())) < 1e-9;
    println!(
        "{}",
        if same {
            "the same weights"
        } else {
            "other weights"
        }
    );
    assert!(same);
    Ok(())
}
