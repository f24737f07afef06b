use crate::support::*;
use gnnmg::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn ids(tensor: Tensor) -> Vec<i64> {
    tensor.as_slice::<i64>().unwrap().to_vec()
}

#[test]
fn a_closure_that_asks_the_library_draws_as_the_library() {
    let (_context, graph, data) = planted(300);
    let built_in =
        Sampler::new(&graph, &SamplerConfig::new().fanouts(&[3]).edge_ids(true)).unwrap();
    let graph = Arc::new(graph);
    let inner = Arc::clone(&graph);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let config = SamplerConfig::new().num_layers(1).edge_ids(true);
    let custom = Sampler::custom(&graph, &config, move |layer, sink| {
        seen.lock().unwrap().push((layer.number, layer.epoch, layer.batch, layer.targets.to_vec()));
        inner.sample_neighbors(0, layer.targets, 3, false, layer.key, sink)
    })
    .unwrap();
    let mine = custom.sample(Some(&data), &[5, 6, 7], 11, 2, 9).unwrap();
    let theirs = built_in.sample(Some(&data), &[5, 6, 7], 11, 2, 9).unwrap();
    assert_eq!(ids(mine.node_ids().unwrap()), ids(theirs.node_ids().unwrap()));
    let (a, b) = (mine.block(0).unwrap(), theirs.block(0).unwrap());
    assert_eq!(ids(a.edge_ids.unwrap()), ids(b.edge_ids.unwrap()));
    assert_eq!(*asked.lock().unwrap(), [(0, 2, 9, vec![5, 6, 7])]);
}

#[test]
fn a_closure_adds_edges_of_its_own() {
    let context = Context::new().unwrap();
    let graph = ring(&context, 10);
    let config = SamplerConfig::new().num_layers(1);
    let sampler = Sampler::custom(&graph, &config, |layer, sink| {
        let far: Vec<i64> = layer.targets.iter().map(|v| (v + 5) % 10).collect();
        sink.add_edges(&far, layer.targets, None)
    })
    .unwrap();
    let batch = sampler.sample(None, &[1, 2], 0, 0, 0).unwrap();
    assert_eq!(ids(batch.node_ids().unwrap()), [1, 2, 6, 7]);
    assert!(batch.block(0).unwrap().edge_ids.is_none());
    expect(sampler.sample(None, &[10], 0, 0, 0), ErrorKind::Range, "10");
}

#[test]
fn uneven_edges_and_unknown_nodes_are_errors() {
    let context = Context::new().unwrap();
    let graph = ring(&context, 4);
    let config = SamplerConfig::new().num_layers(1);
    let uneven = Sampler::custom(&graph, &config, |_, sink| sink.add_edges(&[1, 2], &[1], None));
    let error = uneven.unwrap().sample(None, &[1], 0, 0, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Callback);
    let cause = std::error::Error::source(&error).unwrap().downcast_ref::<Error>().unwrap();
    assert_eq!(cause.kind(), ErrorKind::InvalidArgument, "{cause}");
    let wrong = Sampler::custom(&graph, &config, |_, sink| sink.add_edges(&[77], &[1], None));
    expect(wrong.unwrap().sample(None, &[1], 0, 0, 0), ErrorKind::Callback, "77");
}

#[test]
fn an_error_of_a_closure_is_the_source() {
    let context = Context::new().unwrap();
    let graph = ring(&context, 4);
    let sampler = Sampler::custom(&graph, &SamplerConfig::new().num_layers(1), |_, _| {
        Err(std::io::Error::other("the index is gone"))
    });
    let error = sampler.unwrap().sample(None, &[1], 0, 0, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Callback);
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the index is gone");
}

#[test]
fn a_panic_of_a_closure_goes_on_in_the_call_that_waits() {
    let (_context, graph, data) = planted(200);
    let config = SamplerConfig::new().num_layers(2);
    let sampler = Sampler::custom(&graph, &config, |layer, _| {
        if layer.batch == 1 {
            panic!("batch {}", layer.batch);
        }
    })
    .unwrap();
    let text = |payload: Box<dyn std::any::Any + Send>| *payload.downcast::<String>().unwrap();
    let caught = std::panic::catch_unwind(|| sampler.sample(None, &[1], 0, 0, 1).map(drop));
    assert_eq!(text(caught.unwrap_err()), "batch 1");

    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new().batch_size(16)).unwrap();
    let first = loader.next_batch().unwrap().unwrap();
    assert_eq!(first.info().unwrap().number, 0);
    let work = std::panic::AssertUnwindSafe(|| loader.next_batch().map(drop));
    assert_eq!(text(std::panic::catch_unwind(work).unwrap_err()), "batch 1");
    expect(loader.next_batch(), ErrorKind::Callback, "");
}

#[test]
fn a_closure_is_dropped_once_whatever_becomes_of_it() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let freed = Arc::new(AtomicUsize::new(0));
    let context = Context::new().unwrap();
    let graph = ring(&context, 4);
    let make = |layers: usize| {
        let counted = Counted(Arc::clone(&freed));
        Sampler::custom(&graph, &SamplerConfig::new().num_layers(layers), move |_, _| {
            let _ = &counted;
        })
    };
    expect(make(99), ErrorKind::InvalidArgument, "at most 16");
    assert_eq!(freed.load(Ordering::SeqCst), 1);
    let sampler = make(1).unwrap();
    let loader = Loader::from_seeds(None, &sampler, &[1, 2], &LoaderConfig::new()).unwrap();
    drop(sampler);
    assert_eq!(freed.load(Ordering::SeqCst), 1);
    drop(loader);
    drop(context);
    let gone = becomes_true(|| {
        graph.num_nodes(0).unwrap(); // a release waits for a call on its context
        freed.load(Ordering::SeqCst) == 2
    });
    assert!(gone, "{} closures were dropped", freed.load(Ordering::SeqCst));
}

#[test]
fn a_closure_may_read_and_may_not_wait() {
    let context = Context::new().unwrap();
    let graph = Arc::new(ring(&context, 6));
    let plain = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let inner = Arc::clone(&graph);
    let sampler = Sampler::custom(&graph, &SamplerConfig::new().num_layers(1), move |_, sink| {
        assert_eq!(inner.num_nodes(0)?, 6);
        expect(plain.sample(None, &[1], 0, 0, 0), ErrorKind::Busy, "");
        sink.add_edges(&[0], &[1], Some(&[0]))
    });
    sampler.unwrap().sample(None, &[1], 0, 0, 0).unwrap();
}

#[test]
fn lent_threads_run_closures_too() {
    let (context, graph, data) = planted(2000);
    let graph = Arc::new(graph);
    let inner = Arc::clone(&graph);
    let threads = Arc::new(Mutex::new(std::collections::HashSet::new()));
    let seen = Arc::clone(&threads);
    let sampler =
        Sampler::custom(&graph, &SamplerConfig::new().num_layers(1), move |layer, sink| {
            seen.lock().unwrap().insert(std::thread::current().id());
            std::thread::sleep(std::time::Duration::from_millis(2));
            inner.sample_neighbors(0, layer.targets, 2, true, layer.key, sink)
        })
        .unwrap();
    let config = LoaderConfig::new().batch_size(32).num_threads(2).prefetch(4);
    let mut loader = Loader::new(&data, &sampler, &config).unwrap();
    let (over, mut seeds) = (AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                context.lend_for(SOON).unwrap();
            }
        });
        // The lent thread has its turn in the first epoch, or on a busy machine in one after it.
        while threads.lock().unwrap().len() < 2 && seeds.len() < 500 {
            let counts = loader.epoch().map(|batch| Ok(batch?.info()?.num_seeds));
            seeds.push(counts.sum::<Result<usize>>());
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(threads.lock().unwrap().len(), 2);
    assert!(seeds.iter().all(|count| matches!(count, Ok(1200))), "{seeds:?}");
}

#[test]
fn too_many_fanouts_are_an_error_and_no_overflow() {
    let context = Context::new().unwrap();
    let graph = ring(&context, 4);
    let config = SamplerConfig::new().fanouts(&[1; 17]);
    expect(Sampler::new(&graph, &config), ErrorKind::InvalidArgument, "at most 16");
}
