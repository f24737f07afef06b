//! Fine-tuning: a model of ten classes is trained and saved; a second one, for other data of five
//! classes, takes over all weights but those of its new head. Its first layer is frozen, its loss
//! is the program's own, and a closure sets the learning rate.

mod common;

use gnnmg::*;

const EPOCHS: usize = 6;

fn small_model(context: &Context, data: &Dataset) -> Result<Model> {
    Model::new(context, data, &ModelConfig::new().hidden_dim(32))
}

/// Trains a model of ten classes, and saves its weights.
fn pretrain(context: &Context) -> Result<()> {
    let (graph, data) = common::planted_data(context, 4000)?;
    let training = TrainerConfig::new()
        .num_epochs(EPOCHS)
        .batch_size(256)
        .optimizer(OptimizerKind::Rmsprop)
        .label_smoothing(0.1);
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let mut trainer = Trainer::new(small_model(context, &data)?, &data, &sampler, &training)?;
    trainer.run(|_| ())?;
    trainer.into_model()?.save("pretrained.pth")
}

/// Other data, of five classes.
fn new_data(context: &Context) -> Result<(Graph, Dataset)> {
    let planted = PlantedConfig::new()
        .num_nodes(2000)
        .num_classes(5)
        .num_features(64);
    let data = Dataset::planted(context, &planted, &SplitConfig::new())?;
    Ok((data.graph()?, data))
}

// [loss]
/// The focal loss with gamma 1, -(1 - p) log p: easy nodes count less.
fn focal(batch: &mut LossBatch<'_, f32>) {
    let classes = batch.classes.expect("the data set has classes");
    for (i, &label) in classes.iter().enumerate() {
        let Ok(label) = usize::try_from(label) else {
            continue;
        };
        let range = i * batch.columns..(i + 1) * batch.columns;
        let row = &batch.logits[range.clone()];
        let share: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
        let sum: f64 = share.iter().sum();
        let (p, weight) = (share[label] / sum, batch.weights[i]);
        batch.loss -= weight * (1.0 - p) * p.ln();
        let slope = weight * (1.0 - p - p * p.ln());
        for (c, out) in batch.gradient[range].iter_mut().enumerate() {
            let wanted = if c == label { 1.0 } else { 0.0 };
            *out = (slope * (share[c] / sum - wanted)) as f32;
        }
    }
}
// [loss]

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    pretrain(&context)?;
    let (graph, data) = new_data(&context)?;
    let mut model = small_model(&context, &data)?;
    // [load]
    // The log lists the tensors of the head, whose shapes differ.
    model.load_with("pretrained.pth", &ModelFileConfig::new().partial(true))?;
    // [load]
    // [freeze]
    model.set_trainable("convs.0.*", false)?;
    // [freeze]
    let key = "convs.0.lin_l.weight";
    let before = model.tensor(key)?.as_slice::<f32>()?.to_vec();

    let training = TrainerConfig::new()
        .num_epochs(EPOCHS)
        .batch_size(256)
        .keep_best(false)
        .device(DeviceType::Cpu); // a loss of the program's own
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    // [set loss]
    trainer.set_loss(focal)?;
    // [set loss]
    let remote = trainer.remote();
    // [rate]
    trainer.run(|epoch| {
        let (number, rate, loss) = (epoch.epoch + 1, epoch.learning_rate, epoch.train_loss);
        println!("epoch {number}  rate {rate:.4}  loss {loss:.4}");
        if number as usize == EPOCHS / 2 {
            remote.set_learning_rate(0.001)?;
        }
        Ok::<(), Error>(())
    })?;
    // [rate]
    let accuracy = trainer.evaluate(Part::Test)?.accuracy;
    let same = trainer.model().tensor(key)?.as_slice::<f32>()? == before;
    println!(
        "test accuracy {accuracy:.4}, first layer unchanged: {}",
        i32::from(same)
    );
    assert!(same && accuracy > 0.5);
    Ok(())
}
