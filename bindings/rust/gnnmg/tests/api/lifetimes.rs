//! Objects dropped in any order, at any moment, on any thread; nothing is left afterwards.

use crate::support::*;
use gnnmg::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// Waits until a context's objects have freed all memory.
fn expect_all_given_back(context: &Context) {
    let used = || context.info().unwrap().memory_used;
    assert!(becomes_true(|| used() == 0), "{} bytes are left behind", used());
}

#[test]
fn nothing_is_left_behind() {
    let (context, graph, data) = planted(300);
    assert!(context.info().unwrap().memory_used > 0);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[3, 3])).unwrap();
    for _ in 0..20 {
        let config = LoaderConfig::new().batch_size(20).num_threads(2);
        let mut loader = Loader::new(&data, &sampler, &config).unwrap();
        let kept: Vec<Batch> = loader.epoch().take(3).map(Result::unwrap).collect();
        let rows = kept[1].features().unwrap();
        drop((loader, kept));
        assert!(rows.as_slice::<f32>().unwrap()[0].is_finite());
    }
    drop((sampler, data, graph));
    expect_all_given_back(&context);
}

#[test]
fn dropped_in_any_order() {
    for order in 0..24 {
        let (context, graph, data) = planted(60);
        let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
        let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new()).unwrap();
        let mut slots: [Option<Box<dyn std::any::Any + Send>>; 4] = [
            Some(Box::new(context)),
            Some(Box::new(graph)),
            Some(Box::new(data)),
            Some(Box::new(sampler)),
        ];
        let (mut left, mut code) = (vec![0, 1, 2, 3], order);
        while !left.is_empty() {
            let next = left.remove(code % left.len());
            code /= left.len() + 1;
            let object = slots[next].take();
            std::thread::spawn(move || drop(object)).join().unwrap();
        }
        assert_eq!(loader.next_batch().unwrap().unwrap().info().unwrap().num_seeds, 36);
    }
}

#[test]
fn loaders_cancelled_and_dropped_at_every_moment() {
    let (context, graph, data) = planted(400);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[5, 5])).unwrap();
    for moment in 0..60 {
        let config = LoaderConfig::new().batch_size(16).num_threads(moment % 3);
        let mut loader = Loader::new(&data, &sampler, &config).unwrap();
        let remote = loader.remote();
        let begin = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begin.wait();
                std::thread::sleep(Duration::from_micros(40 * moment as u64));
                remote.cancel();
            });
            begin.wait();
            for batch in loader.epoch() {
                if let Err(error) = batch {
                    assert_eq!(error.kind(), ErrorKind::Cancelled);
                }
            }
        });
    }
    drop((sampler, data, graph));
    expect_all_given_back(&context);
}

#[test]
fn trainers_cancelled_and_dropped_at_every_moment() {
    for moment in 0..20 {
        let mut trainer = small_trainer(&training().num_ranks(1 + moment % 2).num_epochs(1000));
        let remote = trainer.remote();
        let watcher = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(700 * moment as u64));
            match moment % 3 {
                0 => remote.stop(),
                _ => remote.cancel(),
            }
        });
        let started = trainer.start(|_| ());
        let ended = match moment % 4 {
            0 => started, // and dropped while it runs
            _ => started.and_then(|()| trainer.wait_timeout(SOON)).map(drop),
        };
        if let Err(error) = ended {
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
        }
        drop(trainer);
        watcher.join().unwrap();
    }
}

#[test]
fn a_closure_whose_destructor_panics_is_no_crash() {
    struct Bad(Arc<AtomicUsize>);
    impl Drop for Bad {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            panic!("in a destructor");
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let bad = Bad(Arc::clone(&dropped));
    let mut trainer = small_trainer(&training().num_epochs(1));
    trainer
        .start(move |_| {
            let _ = &bad;
        })
        .unwrap();
    trainer.wait().unwrap();
    drop(trainer);
    let gone = becomes_true(|| {
        Context::new().unwrap(); // a release waits for a call
        dropped.load(Ordering::SeqCst) == 1
    });
    assert!(gone, "the closure was not dropped");
}

#[test]
fn many_threads_sample_at_once() {
    let (_context, graph, data) = planted(200);
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let batches = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (sampler, data, batches) = (&sampler, &data, &batches);
            scope.spawn(move || {
                for round in 0..20 {
                    let batch = sampler.sample(Some(data), &[1, 2, number], 0, 0, round).unwrap();
                    assert_eq!(batch.info().unwrap().num_seeds, 3);
                    batches.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(batches.load(Ordering::SeqCst), 80);
}
