use crate::support::*;
use gnnmg::*;
use ndarray::{Array2, ArrayView2};

fn widths() -> ModelConfig {
    ModelConfig::new().input_dim(3).hidden_dim(4).output_dim(2)
}

#[test]
fn facts_keys_and_tensors() {
    let context = Context::new().unwrap();
    let mut model = Model::new(&context, None, &widths().norm(Norm::Batch)).unwrap();
    let info = model.info().unwrap();
    assert_eq!(
        (info.architecture, info.num_layers, info.dtype),
        (Architecture::Sage, 2, DataType::F32)
    );
    assert_eq!((info.input_dim, info.hidden_dim, info.output_dim), (3, 4, 2));
    let keys: Vec<(String, bool)> =
        model.tensor_keys().unwrap().iter().map(|key| (key.key.to_string(), key.trained)).collect();
    assert_eq!(keys.len(), info.num_tensors);
    assert!(keys[0].1 && keys.iter().any(|(_, trained)| !trained));
    let count: usize = keys
        .iter()
        .filter(|(_, trained)| *trained)
        .map(|(key, _)| model.tensor(key).unwrap().len())
        .sum();
    assert_eq!(count, info.num_parameters);
    assert_eq!(model.parameters().unwrap().len(), count);

    let key = "convs.0.lin_l.weight";
    model.set_tensor(key, &Array2::<f32>::ones((4, 3))).unwrap();
    model.tensor_mut(key).unwrap().view_mut::<f32, ndarray::Ix2>().unwrap()[(1, 2)] = 7.0;
    let weight = model.tensor(key).unwrap();
    let weight: ArrayView2<f32> = weight.view().unwrap();
    assert_eq!((weight.sum(), weight[(1, 2)]), (18.0, 7.0));
    expect(model.set_tensor(key, &[1.0f32; 12]), ErrorKind::InvalidArgument, "");
    expect(model.set_tensor("none", &[1.0f32]), ErrorKind::NotFound, "convs.0");
    expect(model.tensor("none"), ErrorKind::NotFound, "none");
    let buffer = keys.iter().find(|(_, trained)| !trained).unwrap();
    expect(model.gradient(&buffer.0), ErrorKind::NotFound, "");
    expect(
        Model::new(&context, None, &ModelConfig::new()),
        ErrorKind::InvalidArgument,
        "input_dim",
    );
}

#[test]
fn a_copy_is_a_model_of_its_own() {
    let context = Context::new().unwrap();
    let mut model = Model::new(&context, None, &widths()).unwrap();
    let copy = model.try_clone().unwrap();
    let before = copy.parameters().unwrap().as_slice::<f32>().unwrap().to_vec();
    assert_eq!(model.parameters().unwrap().as_slice::<f32>().unwrap(), before);
    model.parameters_mut().unwrap().as_mut_slice::<f32>().unwrap().fill(0.0);
    assert_eq!(copy.parameters().unwrap().as_slice::<f32>().unwrap(), before);
}

#[test]
fn a_loop_of_ones_own_learns() {
    let (context, graph, data) = planted(400);
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new().batch_size(64)).unwrap();
    let mut model = small_model(&context, &data);
    let before = model.evaluate(&data, Part::Test).unwrap();
    let adam = OptimizerConfig::new().optimizer(OptimizerKind::Adam).learning_rate(0.05);
    let mut optimizer = Optimizer::new(&mut model, &adam).unwrap();
    for _ in 0..5 {
        for batch in loader.epoch() {
            let logits = model.forward(&batch.unwrap()).unwrap();
            assert_eq!(logits.shape()[1], 4);
            assert!(model.backward(Loss::Auto).unwrap() > 0.0);
            optimizer.step(&mut model).unwrap();
        }
    }
    let after = finish(|| model.evaluate_timeout(&data, Part::Test, SOON)).unwrap();
    let first = model.evaluate_top_k(&data, Part::Test, 1).unwrap();
    assert_eq!((first.top_k_accuracy, first.loss), (after.accuracy, after.loss));
    let (_, matrix) = model.confusion(&data, Part::Test).unwrap();
    let (classes, counts) = (matrix.shape()[0], matrix.as_slice::<i64>().unwrap());
    let correct: i64 = (0..classes).map(|c| counts[c * classes + c]).sum();
    assert_eq!(correct as usize, after.correct);
    assert_eq!((after.task, after.count), (Task::Multiclass, 80));
    assert!(after.correct > before.correct && after.loss < before.loss, "{before:?} {after:?}");

    assert_eq!(optimizer.learning_rate().unwrap(), 0.05);
    optimizer.set_learning_rate(0.5).unwrap();
    assert_eq!(optimizer.learning_rate().unwrap(), 0.5);
    expect(optimizer.set_learning_rate(-1.0), ErrorKind::InvalidArgument, "-1");
    let mut other = model.try_clone().unwrap();
    expect(optimizer.step(&mut other), ErrorKind::InvalidArgument, "model");
}

#[test]
fn an_optimizer_goes_on_from_its_file() {
    let (context, graph, data) = planted(200);
    let folder = Folder::new();
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let batch = sampler.sample(Some(&data), &[1, 2, 3], 0, 0, 0).unwrap();
    let adam = OptimizerConfig::new().optimizer(OptimizerKind::Adam).learning_rate(0.1);
    let step = |model: &mut Model, optimizer: &mut Optimizer| {
        model.forward(&batch).unwrap();
        model.backward(Loss::Auto).unwrap();
        optimizer.step(model).unwrap();
        model.parameters().unwrap().as_slice::<f32>().unwrap().to_vec()
    };
    let mut model = small_model(&context, &data);
    let mut optimizer = Optimizer::new(&mut model, &adam).unwrap();
    step(&mut model, &mut optimizer);
    let file = folder.join("adam.pth");
    optimizer.save(&file).unwrap();
    finish(|| optimizer.save_timeout(&file, &ModelFileConfig::new(), SOON)).unwrap();

    // Without the moments of the first step, the second would be another.
    let (mut same, mut other) = (model.try_clone().unwrap(), model.try_clone().unwrap());
    let mut fresh = Optimizer::new(&mut other, &adam).unwrap();
    let mut again = Optimizer::new(&mut same, &adam).unwrap();
    again.load(&file).unwrap();
    finish(|| again.load_timeout(&file, &ModelFileConfig::new(), SOON)).unwrap();
    let wanted = step(&mut model, &mut optimizer);
    assert_eq!(step(&mut same, &mut again), wanted);
    assert_ne!(step(&mut other, &mut fresh), wanted);

    // GraphSAGE's layers have another order in the other framework.
    let there = ModelFileConfig::new().other_framework(true);
    again.save_with(folder.join("there.pth"), &there).unwrap();
    expect(again.load(folder.join("there.pth")), ErrorKind::Format, "misshapen");
    again.load_with(folder.join("there.pth"), &there).unwrap();
    expect(again.load(folder.join("none.pth")), ErrorKind::NotFound, "none.pth");
    std::fs::write(folder.join("bad.pth"), "nonsense").unwrap();
    expect(again.load(folder.join("bad.pth")), ErrorKind::Format, "bad.pth");
    expect(again.save(folder.join("no/where.pth")), ErrorKind::NotFound, "where");
}

#[test]
fn a_loss_of_ones_own_gives_its_gradient() {
    let (context, graph, data) = planted(100);
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let batch = sampler.sample(Some(&data), &[1, 2, 3], 0, 0, 0).unwrap();
    let mut model = small_model(&context, &data);
    expect(model.backward(Loss::Auto), ErrorKind::NotFound, "");
    let plain = model.infer(&batch).unwrap();
    expect(model.backward(Loss::Auto), ErrorKind::NotFound, "");
    let logits = model.forward(&batch).unwrap();
    assert_eq!(plain.as_slice::<f32>().unwrap(), logits.as_slice::<f32>().unwrap());
    model.backward_from(&Array2::<f32>::from_elem((3, 4), 0.5)).unwrap();
    let bias = model.gradient("convs.1.lin_l.bias").unwrap();
    assert_eq!(bias.as_slice::<f32>().unwrap(), [1.5; 4]);
    assert!(model.gradients().unwrap().as_slice::<f32>().unwrap().iter().any(|g| *g != 0.0));
    model.gradients_mut().unwrap().as_mut_slice::<f32>().unwrap().fill(0.0);
    assert_eq!(model.gradient("convs.1.lin_l.bias").unwrap().as_slice::<f32>().unwrap(), [0.0; 4]);
    model.forward(&batch).unwrap();
    expect(model.backward_from(&[1.0f32]), ErrorKind::InvalidArgument, "");
}

#[test]
fn weights_go_through_files() {
    let (context, _graph, data) = planted(100);
    let folder = Folder::new();
    let mut model = small_model(&context, &data);
    let mut other = Model::new(&context, &data, &ModelConfig::new().hidden_dim(8).seed(9)).unwrap();
    let weights = |model: &Model| model.parameters().unwrap().as_slice::<f32>().unwrap().to_vec();
    assert_ne!(weights(&model), weights(&other));
    model.save(folder.join("a.safetensors")).unwrap();
    other.load(folder.join("a.safetensors")).unwrap();
    assert_eq!(weights(&model), weights(&other));

    let opened = Model::open(&context, folder.join("a.safetensors")).unwrap();
    assert_eq!(weights(&model), weights(&opened));
    assert_eq!(model.settings().unwrap(), opened.settings().unwrap());
    let like = Model::new(&context, None, &opened.config().unwrap()).unwrap();
    assert_eq!(like.info().unwrap().hidden_dim, 8);
    expect(Model::open(&context, folder.join("none.pth")), ErrorKind::NotFound, "none.pth");
    let mut wide = Model::new(&context, &data, &ModelConfig::new().hidden_dim(9)).unwrap();
    expect(wide.load(folder.join("a.safetensors")), ErrorKind::Mismatch, "hidden_dim is 9");

    other.parameters_mut().unwrap().as_mut_slice::<f32>().unwrap().fill(1.0);
    let config = ModelFileConfig::new().format(ModelFormat::Pth);
    let named = config.clone().first_layer("conv1");
    finish(|| model.save_timeout(folder.join("b"), &named, SOON)).unwrap();
    finish(|| other.load_timeout(folder.join("b"), &config, SOON)).unwrap();
    assert_eq!(weights(&model), weights(&other));
    let dgl = ModelFileConfig::new().other_framework(true);
    model.save_with(folder.join("c.pth"), &dgl).unwrap();
    other.load_with(folder.join("c.pth"), &dgl).unwrap();
    let quoted = ModelFileConfig::new().first_layer(r#"my "own" \1"#);
    let saved = model.save_with(folder.join("quoted.pth"), &quoted);
    expect(saved, ErrorKind::InvalidArgument, r#"'my "own" \1'"#);
    expect(model.load(folder.join("none.pth")), ErrorKind::NotFound, "none.pth");
    std::fs::write(folder.join("d.safetensors"), "nonsense").unwrap();
    expect(model.load(folder.join("d.safetensors")), ErrorKind::Format, "d.safetensors");
    expect(model.save(folder.join("no/where.pth")), ErrorKind::NotFound, "where");
    let nul = std::path::Path::new("a\0b");
    expect(model.save(nul), ErrorKind::InvalidArgument, "NUL");
}

#[test]
fn embeddings_of_all_nodes() {
    let (context, _graph, data) = planted(100);
    let folder = Folder::new();
    let model = small_model(&context, &data);
    let rows = model.embed(&data).unwrap();
    assert_eq!(rows.shape(), [100, 4]);
    let again = finish(|| model.embed_timeout(&data, SOON)).unwrap();
    assert_eq!(again.as_slice::<f32>().unwrap(), rows.as_slice::<f32>().unwrap());
    let file = folder.join("rows.npy");
    model.embed_to_file(&data, &file).unwrap();
    let length = std::fs::metadata(&file).unwrap().len();
    assert!(length >= 100 * 4 * 4);
    finish(|| model.embed_to_file_timeout(&data, &file, SOON)).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().len(), length);
}
