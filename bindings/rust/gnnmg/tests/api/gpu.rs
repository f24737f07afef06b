//! Models and mini-batches on GPUs give the CPU's results. `GNNMG_TEST_GPUS` is the number of GPUs
//! that must exist; without any the CPU is compared with itself.

use crate::support::{expect, planted, small_model, training};
use gnnmg::*;

struct Epoch {
    losses: Vec<f64>,
    ids: Vec<i64>,
    weights: Vec<f32>,
}

/// An epoch of a copy of the model; the results are copied to main memory.
fn epoch_on(
    (context, graph, data): &(Context, Graph, Dataset),
    first: &Model,
    device: DeviceType,
    index: usize,
) -> Epoch {
    let gpu = (device == DeviceType::Cuda).then_some(index);
    let sampler = Sampler::new(graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    let mut model = first.try_clone().unwrap();
    model.set_device(device, index).unwrap();
    let info = model.info().unwrap();
    assert_eq!((info.device, info.device_index), (device, index as i32));
    let config = LoaderConfig::new().batch_size(64).device(device).device_index(index);
    let mut loader = Loader::new(data, &sampler, &config).unwrap();
    let mut optimizer = Optimizer::new(&mut model, &OptimizerConfig::new()).unwrap();
    expect(model.set_device(DeviceType::Cpu, 0), ErrorKind::Busy, "an optimizer");
    let (mut losses, mut ids) = (Vec::new(), Vec::new());
    for batch in loader.epoch() {
        let batch = batch.unwrap();
        let nodes = batch.node_ids().unwrap();
        assert_eq!(nodes.gpu(), gpu);
        let here = nodes.to_host::<i64>(context).unwrap();
        ids.extend_from_slice(here.as_slice::<i64>().unwrap());
        if let Some(gpu) = gpu {
            let text = format!("a tensor lies on GPU {gpu}, expected main memory");
            expect(nodes.as_slice::<i64>(), ErrorKind::InvalidArgument, &text);
            let mut other = Graph::from_coo(context, nodes.len(), &[0], &[1]).unwrap();
            let refused = other.set_node_tensor(0, "far", &nodes);
            expect(refused, ErrorKind::InvalidArgument, "lies on a GPU");
            let apart = first.try_clone().unwrap();
            let text = "the model lies in main memory and the mini-batch on GPU";
            expect(apart.infer(&batch), ErrorKind::InvalidArgument, text);
        }
        model.forward(&batch).unwrap();
        losses.push(model.backward(Loss::Auto).unwrap());
        optimizer.step(&mut model).unwrap();
    }
    let weights = model.parameters().unwrap().to_host::<f32>(context).unwrap();
    model.parameters_mut().unwrap().copy_from(context, &weights).unwrap();
    assert_eq!(model.parameters().unwrap().gpu(), gpu);
    Epoch { losses, ids, weights: weights.as_slice::<f32>().unwrap().to_vec() }
}

fn num_gpus(context: &Context) -> usize {
    let gpus = context.devices().unwrap().len();
    if let Ok(wanted) = std::env::var("GNNMG_TEST_GPUS") {
        assert_eq!(gpus.to_string(), wanted);
    }
    gpus
}

#[test]
fn gpu_loops_come_to_what_the_cpu_does() {
    let world = planted(400);
    let mut model = small_model(&world.0, &world.2);
    let gpus = num_gpus(&world.0);
    let here = epoch_on(&world, &model, DeviceType::Cpu, 0);
    for index in 0..gpus.max(1) {
        let device = if gpus > 0 { DeviceType::Cuda } else { DeviceType::Cpu };
        let there = epoch_on(&world, &model, device, index);
        assert_eq!(there.ids, here.ids);
        assert_eq!(there.losses.len(), here.losses.len());
        for (a, b) in there.losses.iter().zip(&here.losses) {
            assert!((a - b).abs() < 1e-4, "{a} in place of {b}");
        }
        for (a, b) in there.weights.iter().zip(&here.weights) {
            assert!((a - b).abs() < 1e-3, "{a} in place of {b}");
        }
    }
    let kind = if gpus > 0 { ErrorKind::NotFound } else { ErrorKind::Dependency };
    expect(model.set_device(DeviceType::Cuda, gpus), kind, "argument 'index'");
}

#[test]
fn gpu_trainers_take_all_of_them() {
    let (context, graph, data) = planted(400);
    let model = small_model(&context, &data);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    let run = |device| {
        let config = training().device(device).num_ranks(0).batches_per_step(2);
        let replica = model.try_clone().unwrap();
        let mut trainer = Trainer::new(replica, &data, &sampler, &config).unwrap();
        let mut loss = 0.0;
        trainer.run(|epoch| loss = epoch.train_loss).unwrap();
        loss
    };
    let here = run(DeviceType::Cpu);
    if num_gpus(&context) > 0 {
        let there = run(DeviceType::Cuda);
        assert!((there - here).abs() < 1e-3, "{there} in place of {here}");
    }
}

/// Captured steps, products in bf16 and a feature cache on each GPU, or one that both share:
/// planned in advance, and reported for each rank afterwards.
#[test]
fn gpu_trainers_take_two_by_their_numbers() {
    let (context, graph, data) = planted(400);
    let model = small_model(&context, &data);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    if num_gpus(&context) < 2 {
        return;
    }
    for placement in [FeaturePlacement::Cached, FeaturePlacement::Split] {
        let config = training()
            .devices(&[1, 0])
            .batches_per_step(2)
            .graph_placement(GraphPlacement::Device)
            .feature_placement(placement)
            .cache_bytes(4096)
            .precision(Precision::Bf16)
            .capture(Capture::On);
        let replica = model.try_clone().unwrap();
        let mut trainer = Trainer::new(replica, &data, &sampler, &config).unwrap();
        let plan = trainer.memory_info(None).unwrap();
        assert_eq!(plan.feature_placement, placement);
        assert!(plan.fits && plan.capture_bytes > 0 && plan.num_cached > 0, "{plan:?}");
        trainer.run(|_epoch| ()).unwrap();
        let ranks = trainer.ranks().unwrap();
        let gpus: Vec<_> = ranks.iter().map(|rank| (rank.rank, rank.device)).collect();
        assert_eq!(gpus, [(0, 1), (1, 0)]);
        for rank in ranks {
            assert!(rank.num_rows_there > 0 && rank.num_rows_there < rank.num_rows, "{rank:?}");
            assert!(rank.times.compute > 0.0, "{rank:?}");
        }
    }
}
