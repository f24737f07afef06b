//! A custom model, layer by layer under the names of its modules in Python: a linear encoder, two
//! convolutions of different kinds with a norm between, a linear head. It is trained, saved as a
//! state dict, and loaded into an equal stack. A second one ends in a readout.

mod common;

use gnnmg::*;

fn make_stack(context: &Context, data: &Dataset, seed: u64) -> Result<Model> {
    // [layers]
    let whole = ModelConfig::new()
        .architecture(Architecture::Layers) // input_dim is the data set's
        .seed(seed);
    let attention = ModelConfig::new()
        .architecture(Architecture::Gatv2)
        .output_dim(32) // four heads of eight columns, concatenated
        .heads(4);
    let sage = ModelConfig::new()
        .architecture(Architecture::Sage)
        .output_dim(32);
    let mut model = Model::new(context, data, &whole)?;
    model
        .add_linear("encoder", 48, true)?
        .add_activation(None, Activation::Relu)?
        .add_conv("conv1", &attention)?
        .add_norm("bn1", Norm::Batch, &NormConfig::new().epsilon(1e-3))?
        .add_activation("act1", Activation::Prelu)?
        .add_dropout(0.2)?
        .add_conv("conv2", &sage)?
        .add_activation(None, Activation::Elu)?
        .add_linear("head", 10, true)?;
    // [layers]
    Ok(model)
}

/// A head for graphs, of which only the shape is looked at here.
fn make_graph_stack(context: &Context) -> Result<Model> {
    let whole = ModelConfig::new()
        .architecture(Architecture::Layers)
        .input_dim(7);
    let conv = ModelConfig::new()
        .architecture(Architecture::Gin)
        .output_dim(16);
    let mut model = Model::new(context, None, &whole)?;
    model
        .add_conv("conv", &conv)?
        .add_readout("pool", Readout::Set2set, 3)? // 32 columns
        .add_linear("head", 2, true)?;
    Ok(model)
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 2000)?;
    // Two hops, as the stack has convolutions.
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;

    let model = make_stack(&context, &data, 1)?;
    let training = TrainerConfig::new().num_epochs(8).batch_size(256);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|_| ())?;
    let model = trainer.into_model()?;
    model.save("stack.pth")?;
    let keys: Vec<&str> = model
        .tensor_keys()?
        .iter()
        .map(|tensor| tensor.key)
        .collect();
    println!("keys: {}", keys.join(", "));

    let mut other = make_stack(&context, &data, 2)?;
    other.load("stack.pth")?;
    println!(
        "test accuracy {:.4}, of the one that was read {:.4}",
        model.evaluate(&data, Part::Test)?.accuracy,
        other.evaluate(&data, Part::Test)?.accuracy
    );

    let mut graphs = make_graph_stack(&context)?;
    let ModelInfo {
        num_layers,
        output_dim,
        ..
    } = graphs.info()?;
    println!("of graphs: {num_layers} convolution, {output_dim} results");
    // A layer that does not match is named, and nothing is added.
    if let Err(error) = graphs.add_conv("late", &ModelConfig::new().output_dim(8)) {
        println!("{error}");
    }
    Ok(())
}
