use crate::support::*;
use gnnmg::*;

fn empty_stack(context: &Context, data: &Dataset, seed: u64) -> Model {
    let config = ModelConfig::new().architecture(Architecture::Layers).seed(seed);
    Model::new(context, data, &config).unwrap()
}

/// A convolution, a norm, a learned function, dropout, a linear head: all that a stack may have but
/// a readout.
fn stack(context: &Context, data: &Dataset, seed: u64) -> Result<Model> {
    let mut model = empty_stack(context, data, seed);
    let conv = ModelConfig::new().architecture(Architecture::Sage).output_dim(12);
    model
        .add_conv("conv1", &conv)?
        .add_norm("norm", Norm::Batch, None)?
        .add_norm(None, Norm::PairRows, &NormConfig::new().scale(2.0))?
        .add_activation("slope", Activation::Prelu)?
        .add_activation(None, Activation::Relu)?
        .add_dropout(0.1)?
        .add_linear("head", 4, false)?;
    Ok(model)
}

#[test]
fn layers_have_the_names_they_are_given() {
    let (context, _graph, data) = planted(100);
    let model = stack(&context, &data, 0).unwrap();
    let keys: Vec<&str> = model.tensor_keys().unwrap().iter().map(|tensor| tensor.key).collect();
    for name in ["conv1.", "norm.", "slope.", "head."] {
        assert!(keys.iter().any(|key| key.starts_with(name)), "{name} is not in {keys:?}");
    }
    assert!(!keys.contains(&"head.bias"), "{keys:?}");
    let info = model.info().unwrap();
    assert_eq!((info.architecture, info.input_dim, info.output_dim), (Architecture::Layers, 8, 4));
    assert_eq!(model.tensor("head.weight").unwrap().shape(), [4, 12]);
}

#[test]
fn a_stack_learns_and_goes_through_a_file() {
    let (context, graph, data) = planted(400);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4])).unwrap();
    let mut trainer =
        Trainer::new(stack(&context, &data, 1).unwrap(), &data, &sampler, &training()).unwrap();
    let mut losses = Vec::new();
    trainer.run(|epoch| losses.push(epoch.train_loss)).unwrap();
    assert!(losses[2] < losses[0], "{losses:?}");

    let folder = Folder::new();
    trainer.model_mut().save(folder.join("stack.pth")).unwrap();
    let mut other = stack(&context, &data, 2).unwrap();
    other.load(folder.join("stack.pth")).unwrap();
    let weights = |model: &Model| model.parameters().unwrap().as_slice::<f32>().unwrap().to_vec();
    assert_eq!(weights(&other), weights(trainer.model()));
}

#[test]
fn what_does_not_fit_is_named_and_not_added() {
    let (context, _graph, data) = planted(100);
    let mut model = empty_stack(&context, &data, 0);
    let conv = ModelConfig::new().architecture(Architecture::Gin).output_dim(6);
    model.add_conv("conv", &conv).unwrap();
    expect(model.add_conv("conv", &conv), ErrorKind::InvalidArgument, "conv");
    expect(model.add_linear("wide", usize::MAX, true), ErrorKind::InvalidArgument, "");
    expect(model.add_dropout(1.0), ErrorKind::InvalidArgument, "1");
    expect(model.add_norm("none", Norm::None, None), ErrorKind::InvalidArgument, "");
    let fast = NormConfig::new().momentum(2.0);
    expect(model.add_norm("fast", Norm::Batch, &fast), ErrorKind::InvalidArgument, "momentum is 2");
    expect(model.add_linear("a\0b", 2, true), ErrorKind::InvalidArgument, "NUL");
    model.add_readout("pool", Readout::Set2set, 2).unwrap();
    expect(model.add_readout(None, Readout::Sum, 0), ErrorKind::InvalidArgument, "readout");
    expect(model.add_conv("late", &conv), ErrorKind::InvalidArgument, "late");
    model.add_linear("head", 3, true).unwrap();
    assert_eq!(model.tensor("head.weight").unwrap().shape(), [3, 12]);
    expect(small_model(&context, &data).add_dropout(0.5), ErrorKind::InvalidArgument, "");
}

#[test]
fn once_a_stack_was_used_it_grows_no_more() {
    let (context, graph, data) = planted(100);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[2])).unwrap();
    let batch = sampler.sample(Some(&data), &[1, 2], 0, 0, 0).unwrap();
    let mut model = stack(&context, &data, 0).unwrap();
    assert_eq!(model.infer(&batch).unwrap().shape(), [2, 4]);
    expect(model.add_dropout(0.5), ErrorKind::Busy, "");
}

#[test]
fn lists_of_settings_reach_the_library() -> Result<()> {
    let (context, _graph, data) = planted(100);
    let parameters = |config: &ModelConfig| -> Result<usize> {
        Ok(Model::new(&context, &data, config)?.info()?.num_parameters)
    };
    let pna = ModelConfig::new().architecture(Architecture::Pna).hidden_dim(8);
    let one = pna.clone().reductions(&[PnaReduction::Sum]).scalers(&[PnaScaler::Identity]);
    let two = one.clone().reductions(&[PnaReduction::Sum, PnaReduction::Max]);
    let four = two.clone().scalers(&[PnaScaler::Identity, PnaScaler::Linear]);
    let (one, two, four) = (parameters(&one)?, parameters(&two)?, parameters(&four)?);
    assert!(one < two && two < four && four < parameters(&pna)?, "{one}, {two}, {four}");

    let atoms = ModelConfig::new().input_dim(2).hidden_dim(6).output_dim(3);
    let atoms = atoms.node_vocabulary(&[5, 7]);
    let bonds = atoms.clone().architecture(Architecture::Gine).edge_dim(4).edge_vocabulary(&[9]);
    let model = Model::new(&context, None, &bonds)?;
    let mut shapes = Vec::new();
    for tensor in model.tensor_keys()? {
        shapes.push(model.tensor(tensor.key)?.shape().to_vec());
    }
    for shape in [[5, 6], [7, 6], [9, 4]] {
        assert!(shapes.iter().any(|known| *known == shape), "{shape:?} is not in {shapes:?}");
    }
    Ok(())
}

#[test]
fn lists_that_no_model_has_are_refused() {
    let (context, _graph, data) = planted(100);
    let config = ModelConfig::new().hidden_dim(6);
    let new = |config: ModelConfig| Model::new(&context, &data, &config);
    let pna = config.clone().architecture(Architecture::Pna);
    let many = new(pna.clone().reductions(&[PnaReduction::Sum; 9]));
    expect(many, ErrorKind::InvalidArgument, "reductions");
    let many = new(config.clone().node_vocabulary(&[1; 17]));
    expect(many, ErrorKind::InvalidArgument, "node_vocabulary");
    let none = new(config.architecture(Architecture::Gine).edge_vocabulary(&[3, 0]));
    expect(none, ErrorKind::InvalidArgument, "edge_vocabulary");
    let unknown = new(pna.set("scalers", "identity,cubic"));
    expect(unknown, ErrorKind::InvalidArgument, "cubic");
}
