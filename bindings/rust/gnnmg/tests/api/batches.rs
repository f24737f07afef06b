use crate::support::*;
use gnnmg::*;
use ndarray::{ArrayView1, ArrayView2};

fn loader(data: &Dataset, graph: &Graph, config: LoaderConfig) -> Loader {
    let sampler = SamplerConfig::new().fanouts(&[3, 3]).edge_ids(true);
    Loader::new(data, &Sampler::new(graph, &sampler).unwrap(), &config.batch_size(25)).unwrap()
}

#[test]
fn an_epoch_has_every_seed_once_with_its_own_rows() {
    let (_context, graph, data) = planted(200);
    let (x, y) = (graph.node_tensor(0, "x").unwrap(), data.labels().unwrap());
    let (x, y): (ArrayView2<f32>, ArrayView1<i64>) = (x.view().unwrap(), y.view().unwrap());
    let mut loader = loader(&data, &graph, LoaderConfig::new());
    let plan = loader.info().unwrap();
    assert_eq!((plan.num_seeds, plan.num_batches, plan.num_steps, plan.epoch), (120, 5, 5, 0));

    let mut seen = Vec::new();
    for batch in loader.epoch() {
        let batch = batch.unwrap();
        let info = batch.info().unwrap();
        let (seeds, nodes) = (batch.seeds().unwrap(), batch.node_ids().unwrap());
        let (features, labels) = (batch.features().unwrap(), batch.labels().unwrap());
        let nodes = nodes.as_slice::<i64>().unwrap();
        let rows: ArrayView2<f32> = features.view().unwrap();
        let labels = labels.as_slice::<i64>().unwrap();
        assert_eq!((rows.nrows(), labels.len()), (info.num_nodes, info.num_seeds));
        for (&node, row) in nodes.iter().zip(rows.rows()) {
            assert_eq!(row, x.row(node as usize));
        }
        for (&seed, &label) in seeds.as_slice::<i64>().unwrap().iter().zip(labels) {
            assert_eq!(label, y[seed as usize]);
            seen.push(seed);
        }
        assert_eq!(batch.weights().unwrap().as_slice::<f64>().unwrap(), vec![1.0; info.num_seeds]);
        assert_eq!(info.num_layers, 2);
        let (block, sizes) = (batch.block(1).unwrap(), batch.block_info(1).unwrap());
        assert_eq!(sizes.num_targets, info.num_seeds);
        assert_eq!(block.indptr.len(), sizes.num_targets + 1);
        assert_eq!(block.indices.as_slice::<i32>().unwrap().len(), sizes.num_edges);
        assert_eq!(block.edge_ids.unwrap().len(), sizes.num_edges);
        expect(batch.block(2), ErrorKind::NotFound, "2");
        expect(batch.block_info(2), ErrorKind::NotFound, "2");
        expect(batch.sparse_features(), ErrorKind::Unsupported, "dense");
        expect(batch.graph_ptr(), ErrorKind::NotFound, "");
    }
    seen.sort_unstable();
    assert_eq!(seen, data.split(Part::Train).unwrap().as_slice::<i64>().unwrap());
    assert_eq!(loader.epoch().count(), 5);
    assert_eq!(loader.info().unwrap().epoch, 2);
}

#[test]
fn arrays_live_after_loader_and_batch() {
    let (context, graph, data) = planted(200);
    let mut kept = Vec::new();
    for batch in loader(&data, &graph, LoaderConfig::new()).epoch() {
        kept.push(batch.unwrap().features().unwrap());
    }
    drop((context, graph, data));
    for features in kept {
        assert!(features.as_slice::<f32>().unwrap().iter().all(|value| value.is_finite()));
    }
}

#[test]
fn an_iterator_that_is_left_goes_on_where_it_was() {
    let (_context, graph, data) = planted(200);
    let mut loader = loader(&data, &graph, LoaderConfig::new());
    assert_eq!(loader.epoch().take(2).count(), 2);
    assert_eq!(loader.epoch().count(), 3);
    loader.start(7, 3).unwrap();
    let numbers = loader.epoch().map(|batch| batch.unwrap().info().unwrap());
    let numbers: Vec<_> = numbers.map(|info| (info.epoch, info.number)).collect();
    assert_eq!(numbers, [(7, 3), (7, 4)]);
    expect(loader.start(0, 6), ErrorKind::InvalidArgument, "step is 6");
}

#[test]
fn next_waits_no_longer_than_it_is_told() {
    let (_context, graph, data) = planted(100);
    let sampler = Sampler::custom(&graph, &SamplerConfig::new().num_layers(1), |_, _| {
        std::thread::sleep(SOON * 3)
    });
    let sampler = sampler.unwrap();
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new()).unwrap();
    let batch = finish(|| loader.next_batch_timeout(SOON)).unwrap().unwrap();
    assert_eq!(batch.info().unwrap().num_seeds, 60);
    assert!(finish(|| loader.next_batch_timeout(SOON)).unwrap().is_none());
}

#[test]
fn cancelled_from_elsewhere_it_says_so_until_the_next_start() {
    let (_context, graph, data) = planted(200);
    let mut loader = loader(&data, &graph, LoaderConfig::new());
    let remote = loader.remote();
    std::thread::spawn(move || remote.cancel()).join().unwrap();
    expect(loader.next_batch(), ErrorKind::Cancelled, "");
    let mut epoch = loader.epoch();
    expect(epoch.next().unwrap(), ErrorKind::Cancelled, "");
    assert!(epoch.next().is_none());
    loader.start(0, 0).unwrap();
    assert_eq!(loader.epoch().count(), 5);
    drop(loader);
    remote.cancel(); // stale: of no effect
}

#[test]
fn ranks_share_a_step() {
    let (_context, graph, data) = planted(200);
    let mut weights = 0.0;
    for rank in 0..2 {
        let config = LoaderConfig::new().rank(rank).world_size(2);
        let mut loader = loader(&data, &graph, config);
        assert_eq!(loader.info().unwrap().num_steps, 3);
        let last = loader.epoch().last().unwrap().unwrap().info().unwrap();
        assert!(last.last_of_step);
        weights += last.loss_weight;
    }
    assert!((weights - 1.0).abs() < 1e-12);
}

#[test]
fn any_seeds_and_no_data() {
    let (_context, graph, _data) = planted(100);
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let seeds: Vec<i64> = (0..10).collect();
    let config = LoaderConfig::new().batch_size(4).shuffle(false).num_threads(0);
    let mut loader = Loader::from_seeds(None, &sampler, &seeds, &config).unwrap();
    let batch = loader.next_batch().unwrap().unwrap();
    assert_eq!(batch.seeds().unwrap().as_slice::<i64>().unwrap(), [0, 1, 2, 3]);
    expect(batch.features(), ErrorKind::NotFound, "");
    expect(batch.labels(), ErrorKind::NotFound, "");
    expect(batch.weights(), ErrorKind::NotFound, "");
    let bad = Loader::from_seeds(None, &sampler, &[100], &config);
    expect(bad, ErrorKind::Range, "100");
}

#[test]
fn sparse_features_stay_sparse() {
    let context = Context::new().unwrap();
    let mut graph = ring(&context, 3);
    graph.set_node_csr(0, "x", 5, &[0, 1, 1, 3], &[4, 0, 2], &[1.0, 2.0, 3.0]).unwrap();
    let data = Dataset::from_graph(&graph, "x", None, Task::None, 0).unwrap();
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[0])).unwrap();
    let batch = sampler.sample(Some(&data), &[2, 0], 0, 0, 0).unwrap();
    assert!(batch.info().unwrap().sparse_features);
    let features = batch.sparse_features().unwrap();
    assert_eq!(features.num_columns, 5);
    assert_eq!(features.indptr.as_slice::<i64>().unwrap(), [0, 2, 3]);
    assert_eq!(features.indices.as_slice::<i32>().unwrap(), [0, 2, 4]);
    assert_eq!(features.values.as_slice::<f32>().unwrap(), [2.0, 3.0, 1.0]);
    expect(batch.features(), ErrorKind::Unsupported, "sparse");
}
