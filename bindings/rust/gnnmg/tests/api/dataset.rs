use crate::support::*;
use gnnmg::*;
use std::time::Duration;

#[test]
fn facts_names_and_splits() {
    let (_context, _graph, mut data) = planted(100);
    let info = data.info().unwrap();
    assert_eq!((info.task, info.num_graphs, info.num_nodes), (Task::Multiclass, 1, 100));
    assert_eq!((info.feature_dim, info.num_classes, info.num_splits), (8, 4, 1));
    let names = data.names().unwrap();
    assert_eq!((names.features, names.labels), (Some("x"), Some("y")));
    let splits = data.splits().unwrap();
    assert_eq!((splits.len(), splits[0].0), (1, "random"));
    let split = &splits[0].1;
    assert_eq!(
        (split.index, split.num_train, split.num_validation, split.num_test),
        (0, 60, 20, 20)
    );

    data.add_split("mine", &[3, 1], &[2], &[]).unwrap();
    assert_eq!(data.split(Part::Train).unwrap().as_slice::<i64>().unwrap(), [1, 3]);
    assert!(data.split(Part::Test).unwrap().is_empty());
    let random = data.select_split("random", 0).unwrap();
    assert_eq!(random.split(Part::Test).unwrap().len(), 20);
    assert!(data.split(Part::Test).unwrap().is_empty());
    data.add_split("later", &[4], &[], &[]).unwrap();
    expect(random.select_split("later", 0), ErrorKind::NotFound, "mine");
    expect(data.select_split("random", 1), ErrorKind::NotFound, "mine");
    expect(data.select_split("random", usize::MAX), ErrorKind::NotFound, "");
    drop(data);
    let mut data = random.select_split(None, 0).unwrap();
    drop(random);
    expect(data.add_split("bad", &[100], &[], &[]), ErrorKind::Range, "100");
    expect(data.add_split("bad", &[1], &[1], &[]), ErrorKind::Format, "1");
}

#[test]
fn folds_hold_each_id_out_once() {
    let (_context, _graph, mut data) = planted(100);
    data.add_folds("folds", &FoldsConfig::new().num_folds(5).held_out(Part::Test)).unwrap();
    let mut seen = Vec::new();
    for k in 0..5 {
        let fold = data.select_split("folds", k).unwrap();
        seen.extend_from_slice(fold.split(Part::Test).unwrap().as_slice::<i64>().unwrap());
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..100).collect::<Vec<i64>>());
}

#[test]
fn weights_of_classes_and_nodes() {
    let (_context, _graph, mut data) = planted(80);
    expect(data.class_weights(), ErrorKind::NotFound, "");
    data.set_class_weights(&[1.0, 2.0, 0.0, 1.0][..]).unwrap();
    let weights = data.class_weights().unwrap();
    assert_eq!(weights.as_slice::<f64>().unwrap(), [1.0, 2.0, 0.0, 1.0]);
    data.balance_classes().unwrap();
    assert_eq!(data.class_weights().unwrap().len(), 4);
    data.set_class_weights(None).unwrap();
    expect(data.class_weights(), ErrorKind::NotFound, "");
    expect(data.set_class_weights(&[1.0][..]), ErrorKind::InvalidArgument, "4");

    data.set_sample_weights(Some(&vec![0.5f32; 80])).unwrap();
    assert_eq!(data.sample_weights().unwrap().as_slice::<f64>().unwrap(), [0.5; 80]);
    data.set_sample_weights(None).unwrap();
    expect(data.sample_weights(), ErrorKind::NotFound, "");
    expect(data.set_sample_weights(Some(&[1.0f32; 3])), ErrorKind::InvalidArgument, "80");
}

#[test]
fn saved_and_opened_it_is_the_same() {
    let (context, graph, data) = planted(120);
    let folder = Folder::new();
    let path = folder.join("data");
    finish(|| data.save_timeout(&path, SOON)).unwrap();
    expect(data.save(&path), ErrorKind::InvalidArgument, "exists");
    let config = DatasetConfig::new().format(Format::Gnnmg).map_files(false);
    let opened = finish(|| Dataset::open_timeout(&context, &path, &config, SOON)).unwrap();
    assert_eq!(opened.info().unwrap(), data.info().unwrap());
    let (x, y) = (opened.graph().unwrap().node_tensor(0, "x").unwrap(), graph);
    let original = y.node_tensor(0, "x").unwrap();
    assert_eq!(x.as_slice::<f32>().unwrap(), original.as_slice::<f32>().unwrap());
    let again = Dataset::open(&context, &path).unwrap();
    assert_eq!(again.labels().unwrap().as_slice::<i64>().unwrap().len(), 120);
    expect(Dataset::open(&context, folder.join("none")), ErrorKind::NotFound, "none");
}

#[test]
fn parts_are_the_same_data_set() {
    let (context, _graph, data) = planted(300);
    let folder = Folder::new();
    let path = folder.join("parts");
    let other = PartsConfig::new().num_parts(2).seed(3).edge_ids(true);
    let config = other.clone().fanouts(&[5, 3]).batch_size(32);
    finish(|| data.save_parts_timeout(&path, None, &config, SOON)).unwrap();
    data.save_parts(&path, None, &config).unwrap(); // complete, so it stays
    expect(data.save_parts(&path, None, &other), ErrorKind::Mismatch, "parts");
    let as_parts = DatasetConfig::new().format(Format::Parts);
    let opened = Dataset::open_with(&context, &path, &as_parts).unwrap();
    assert_eq!(opened.info().unwrap(), data.info().unwrap());

    let facts = opened.parts_info().unwrap();
    assert_eq!((facts.num_parts, facts.num_nodes), (2, 300));
    assert_eq!(facts.num_edges, opened.graph().unwrap().num_edges(0).unwrap());
    assert!(facts.cut > 0.0 && facts.cut < 0.6, "{facts:?}");
    assert!(facts.node_balance >= 1.0 && facts.node_balance < 1.06, "{facts:?}");
    let book = opened.book().unwrap();
    assert_eq!(book.shape(), [300]);
    let book = book.as_slice::<i32>().unwrap();
    let parts = opened.parts(300).unwrap();
    assert_eq!(parts.len(), 2);
    for (p, part) in (0..).zip(&parts) {
        assert_eq!(part.num_nodes, book.iter().filter(|&&of| of == p).count());
        // The cache has room for all.
        assert!(part.hotness && part.batch_rows > 32.0 && part.hit_rate > 0.999, "{part:?}");
    }
    assert_eq!(parts.iter().map(|part| part.num_edges).sum::<usize>(), facts.num_edges);
    assert_eq!(parts.iter().map(|part| part.cut_edges).sum::<usize>(), facts.cut_edges);
    assert_eq!(parts.iter().map(|part| part.num_train).sum::<usize>(), 180);
    assert_eq!(opened.part_info(1, 0).unwrap().unwrap().hit_rate, 0.0);
    assert_eq!(opened.part_info(2, 0).unwrap(), None);
    assert_eq!(opened.part_info(usize::MAX, 0).unwrap(), None);

    expect(data.parts_info(), ErrorKind::NotFound, "parts");
    expect(data.parts(0), ErrorKind::NotFound, "parts");
    expect(data.book(), ErrorKind::NotFound, "parts");
}

#[test]
fn parts_can_be_given() {
    let (context, _graph, data) = planted(60);
    let folder = Folder::new();
    let path = folder.join("given");
    let (config, given) = (PartsConfig::new().num_parts(3), [0, 1, 2].repeat(20));
    data.save_parts(&path, &given[..], &config.clone().no_hotness()).unwrap();
    let opened = Dataset::open(&context, &path).unwrap();
    assert_eq!(opened.book().unwrap().as_slice::<i32>().unwrap(), given);
    assert!(!opened.part_info(0, 10).unwrap().unwrap().hotness);

    let again = |given: &[i32], config: &PartsConfig| data.save_parts(&path, given, config);
    let two = PartsConfig::new();
    expect(again(&given, &two), ErrorKind::Range, "expected 0 to 1");
    expect(again(&given[..59], &config), ErrorKind::InvalidArgument, "59");
    expect(again(&[], &config), ErrorKind::InvalidArgument, "60");
    let slack = config.clone().set("slack", "2");
    expect(again(&given, &slack), ErrorKind::InvalidArgument, "node_slack");
    let named = config.clone().set("a", "\0");
    expect(again(&given, &named), ErrorKind::InvalidArgument, "NUL");
    let many = PartsConfig::new().num_parts(usize::MAX);
    expect(again(&given, &many), ErrorKind::InvalidArgument, "num_parts");
}

#[test]
fn text_of_edges_with_settings() {
    let context = Context::new().unwrap();
    let folder = Folder::new();
    let path = folder.join("edges.csv");
    std::fs::write(&path, "from,to\n900,7\n7,30\n").unwrap();
    let config = DatasetConfig::new().format(Format::Edges).relabel(true).undirected(true);
    let data = Dataset::open_with(&context, &path, &config).unwrap();
    let graph = data.graph().unwrap();
    assert_eq!((graph.num_nodes(0).unwrap(), graph.num_edges(0).unwrap()), (3, 4));
    let ids = graph.node_tensor(0, "original_id").unwrap();
    assert_eq!(ids.as_slice::<i64>().unwrap(), [900, 7, 30]);
    assert_eq!(data.info().unwrap().task, Task::None);
    assert_eq!(data.names().unwrap().labels, None);
    expect(data.labels(), ErrorKind::NotFound, "");
    std::fs::write(folder.join("bad.csv"), "1,x\n2\n").unwrap();
    let bad = Dataset::open_with(&context, folder.join("bad.csv"), &config);
    expect(bad, ErrorKind::Format, "bad.csv");
}

#[test]
fn many_graphs_stand_side_by_side() {
    let context = Context::new().unwrap();
    let graph = Graph::from_coo(&context, 5, &[0i64, 2, 3], &[1, 3, 4]).unwrap();
    let labels = [1i64, 0];
    let data =
        Dataset::from_graphs(&graph, &[0, 2, 5], None, Some(&labels), Task::Multiclass, 2).unwrap();
    assert_eq!(data.info().unwrap().num_graphs, 2);
    assert_eq!(data.graph_ptr().unwrap().as_slice::<i64>().unwrap(), [0, 2, 5]);
    assert_eq!(data.labels().unwrap().as_slice::<i64>().unwrap(), [1, 0]);
    let crossing = Dataset::from_graphs(&graph, &[0, 3, 5], None, None, Task::None, 0);
    expect(crossing, ErrorKind::Range, "graph");
    let none = Dataset::from_graphs(&graph, &[], None, None, Task::None, 0);
    expect(none, ErrorKind::InvalidArgument, "graph_ptr");
    let config = SamplerConfig::new().num_layers(3);
    let sampler = Sampler::graphs(&data, &config).unwrap();
    assert_eq!(sampler.num_layers().unwrap(), 3);
    let batch = sampler.sample(Some(&data), &[1, 0], 0, 0, 0).unwrap();
    assert_eq!(batch.graph_ptr().unwrap().as_slice::<i64>().unwrap(), [0, 3, 5]);
}

#[test]
fn opening_can_be_given_up() {
    let context = Context::new().unwrap();
    let folder = Folder::new();
    let path = folder.join("edges.csv");
    let mut text = String::new();
    for edge in 0..400_000 {
        text += &format!("{},{}\n", edge % 5000, edge % 4999);
    }
    std::fs::write(&path, text).unwrap();
    let config = DatasetConfig::new();
    // On a busy machine the reader may be done before this thread has its turn; not every time.
    let given_up = (0..100).any(|_| {
        let opening = Dataset::open_timeout(&context, &path, &config, Duration::ZERO).unwrap();
        if opening.is_ready() {
            return false;
        }
        context.remote().cancel();
        match Dataset::open_with(&context, &path, &config) {
            Ok(_) => false,
            Err(error) => error.kind() == ErrorKind::Cancelled,
        }
    });
    assert!(given_up);
    Dataset::open_with(&context, &path, &config).unwrap();
}
