//! Tensors that go to the crate `tch` and come from it, in one memory and one LibTorch.

use gnnmg::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn planted() -> (Context, Graph) {
    let context = Context::new().unwrap();
    let config = PlantedConfig::new().num_nodes(120).num_classes(4).num_features(8);
    let graph = Graph::planted(&context, &config).unwrap();
    (context, graph)
}

#[track_caller]
fn refused(result: Result<Tensor>, text: &str) {
    let error = result.unwrap_err();
    assert!(error.message().contains(text), "{error:?} says nothing of {text:?}");
    assert!(!error.message().contains('\n'), "{error:?}");
}

#[test]
fn tensors_go_over_and_come_back_in_one_memory() {
    let vec = vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let place = vec.as_ptr();
    let mut torch = Tensor::from_vec(vec, &[3, 2]).unwrap().into_tch().unwrap();
    assert_eq!((torch.data_ptr() as *const f32, torch.size()), (place, vec![3, 2]));
    let _ = torch.g_add_scalar_(1.0); // only tch owns it
    let back = Tensor::from_tch(torch).unwrap();
    assert_eq!(back.as_slice::<f32>().unwrap(), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!((back.as_slice::<f32>().unwrap().as_ptr(), back.shape()), (place, &[3, 2][..]));
    assert!(!back.is_read_only());
}

#[test]
fn all_types_and_empty_tensors_go_over() {
    fn there_and_back<T: Element + PartialEq + std::fmt::Debug>(vec: Vec<T>, kind: tch::Kind) {
        let torch = Tensor::from_vec(vec.clone(), &[vec.len()]).unwrap().into_tch().unwrap();
        assert_eq!(torch.kind(), kind);
        assert_eq!(Tensor::from_tch(torch).unwrap().as_slice::<T>().unwrap(), vec);
    }
    there_and_back(vec![1.5f32, -2.0], tch::Kind::Float);
    there_and_back(vec![1.5f64, -2.0], tch::Kind::Double);
    there_and_back(vec![1i64 << 40, -2], tch::Kind::Int64);
    there_and_back(vec![1i32 << 30, -2], tch::Kind::Int);
    there_and_back(vec![1u8, 255], tch::Kind::Uint8);
    there_and_back(vec![true, false], tch::Kind::Bool);
    there_and_back(Vec::<f32>::new(), tch::Kind::Float);
}

#[test]
fn what_the_library_shares_needs_a_promise() {
    let (context, graph) = planted();
    let features = graph.node_tensor(0, "x").unwrap();
    let place = features.as_slice::<f32>().unwrap().as_ptr();
    let error = graph.node_tensor(0, "x").unwrap().into_tch().unwrap_err();
    assert!(error.message().contains("into_tch_shared"), "{error}");
    // Nothing below writes to it.
    let torch = unsafe { features.into_tch_shared() }.unwrap();
    assert_eq!(torch.data_ptr() as *const f32, place);
    let sum = graph.node_tensor(0, "x").unwrap().as_slice::<f32>().unwrap().iter().sum::<f32>();
    drop((context, graph)); // the memory lives on
    let row = torch.get(0);
    drop(torch);
    assert_eq!(row.size(), [8]);
    assert!(row.sum(tch::Kind::Float).double_value(&[]).is_finite() && sum.is_finite());
}

#[test]
fn the_owner_goes_with_the_last_tensor_on_any_thread() {
    let owner: Arc<[f32]> = Arc::from([1.0, 2.0]);
    let tensor = Tensor::from_owner(Arc::clone(&owner), &[2]).unwrap();
    // Nothing below writes to it.
    let torch = unsafe { tensor.into_tch_shared() }.unwrap();
    let view = torch.narrow(0, 1, 1);
    drop(torch);
    assert_eq!(Arc::strong_count(&owner), 2);
    std::thread::spawn(move || assert_eq!(view.double_value(&[0]), 2.0)).join().unwrap();
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn results_of_torch_train_here() {
    let (context, mut graph) = planted();
    let x = graph.node_tensor(0, "x").unwrap();
    // Nothing below writes to it.
    let x = unsafe { x.into_tch_shared() }.unwrap();
    let wide = tch::Tensor::cat(&[&x, &x.square()], 1);
    let place = wide.data_ptr();
    graph.import_node_tensor(0, "wide", Tensor::from_tch(wide).unwrap()).unwrap();
    let there = graph.node_tensor(0, "wide").unwrap();
    assert_eq!(there.as_slice::<f32>().unwrap().as_ptr() as usize, place as usize);
    let mut data = Dataset::from_graph(&graph, "wide", "y", Task::Multiclass, 0).unwrap();
    data.add_random_split("random", &SplitConfig::new()).unwrap();
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(8)).unwrap();
    let config = TrainerConfig::new().num_epochs(2).torch_threads(1);
    let mut trainer = Trainer::new(model, &data, &sampler, &config).unwrap();
    trainer.run(|_| ()).unwrap();
}

#[test]
fn tensors_that_others_hold_are_refused() {
    let torch = || tch::Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
    let kept = torch();
    refused(Tensor::from_tch(kept.shallow_clone()), "copy()");
    refused(Tensor::from_tch(kept.narrow(0, 0, 2)), "copy()");
    assert!(Tensor::from_tch(kept.copy()).is_ok());
    let part = kept.narrow(0, 1, 2);
    drop(kept);
    assert_eq!(Tensor::from_tch(part).unwrap().as_slice::<f32>().unwrap(), [2.0, 3.0]);

    let weight = torch().set_requires_grad(true);
    let result = weight.exp(); // the graph of gradients keeps it
    let graph = result.sum(tch::Kind::Float);
    refused(Tensor::from_tch(result), "copy()");
    graph.backward();
    refused(Tensor::from_tch(weight.grad()), "copy()");
    assert!(Tensor::from_tch(weight.detach().copy()).is_ok());
}

#[test]
fn tensors_that_the_library_has_no_place_for_are_refused() {
    use tch::{Device::Cpu, Kind};
    refused(Tensor::from_tch(tch::Tensor::new()), "undefined");
    let turned = tch::Tensor::zeros([2, 3], (Kind::Float, Cpu)).tr();
    refused(Tensor::from_tch(turned), "contiguous");
    refused(Tensor::from_tch(tch::Tensor::zeros([1, 1, 1, 1, 2], (Kind::Float, Cpu))), "dim");
    refused(Tensor::from_tch(tch::Tensor::zeros([2], (Kind::ComplexFloat, Cpu))), "type");
    refused(
        Tensor::from_tch(tch::Tensor::eye(3, (Kind::Float, Cpu)).to_sparse_sparse_dim(2)),
        "layout",
    );
}

#[test]
fn a_process_has_one_libtorch() {
    let context = Context::new().unwrap();
    let _ = tch::Tensor::from_slice(&[1.0f32]) + 1.0;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let torch: BTreeSet<&str> = files.filter(|path| path.ends_with("/libtorch_cpu.so")).collect();
    assert_eq!(torch.len(), 1, "{torch:?}");
    drop(context);
}
