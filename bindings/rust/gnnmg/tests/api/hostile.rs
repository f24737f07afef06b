//! Careless and hostile programs: panics on panics, objects left in odd places, handles used after
//! their objects.

use crate::processes::expect_leaves;
use crate::support::*;
use gnnmg::*;
use std::cell::RefCell;
use std::panic::{catch_unwind, panic_any, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A payload of a panic whose destructor panics as well, with another of its kind so many times.
struct Bomb(usize);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Bomb(self.0 - 1));
        }
    }
}

#[track_caller]
fn expect_bomb<T>(work: impl FnOnce() -> T) {
    let payload = catch_unwind(AssertUnwindSafe(|| drop(work()))).expect_err("it did not panic");
    let bomb = payload.downcast::<Bomb>().expect("it panicked with something else");
    std::mem::forget(bomb);
}

/// In a process of their own, as such payloads are leaked.
#[test]
fn panics_whose_payloads_panic_do_not_cross_into_c() {
    expect_leaves("hostile::bombs_in_calls");
    expect_leaves("hostile::bombs_in_destructors");
}

#[test]
#[ignore = "a process that another test starts"]
fn bombs_in_calls() {
    let (context, graph, data) = planted(400);
    let config = SamplerConfig::new().num_layers(2);
    let sampler = Sampler::custom(&graph, &config, |_, _| -> () { panic_any(Bomb(3)) }).unwrap();
    expect_bomb(|| sampler.sample(None, &[1], 0, 0, 0));
    // Several at once: all but one are dropped where they come up.
    for _ in 0..5 {
        let config = LoaderConfig::new().batch_size(8).num_threads(2).prefetch(8);
        let mut loader = Loader::new(&data, &sampler, &config).unwrap();
        expect_bomb(|| loader.next_batch());
        drop(loader); // dropped here too, with leftovers of its threads
    }
    let config = training().num_ranks(2).num_epochs(1).evaluate_every(0);
    let mut trainer = Trainer::new(small_model(&context, &data), &data, &sampler, &config).unwrap();
    expect_bomb(|| trainer.run(|_| ()));
    expect_bomb(|| trainer.step());
}

#[test]
#[ignore = "a process that another test starts"]
fn bombs_in_destructors() {
    let context = Context::new().unwrap();
    let graph = ring(&context, 4);
    let bomb = Mutex::new(Some(Bomb(3)));
    let config = SamplerConfig::new().num_layers(1);
    let sampler = Sampler::custom(&graph, &config, move |_, _| drop(bomb.lock())).unwrap();
    sampler.sample(None, &[1], 0, 0, 0).unwrap();
    drop(sampler);
    graph.num_nodes(0).unwrap(); // a release waits for a call on its context
    let owner: Vec<f32> = vec![1.0, 2.0];
    struct Owner(Vec<f32>, #[allow(dead_code)] Bomb);
    impl AsRef<[f32]> for Owner {
        fn as_ref(&self) -> &[f32] {
            &self.0
        }
    }
    drop(Tensor::from_owner(Owner(owner, Bomb(3)), &[2]).unwrap());
}

#[test]
fn an_older_failure_is_not_taken_for_that_of_later_work() {
    let mut trainer = small_trainer(&training());
    let remote = trainer.remote();
    // The closure cancels and then panics: the call returns one of the two, and neither remains.
    let first = catch_unwind(AssertUnwindSafe(|| {
        trainer.run(|_| -> () {
            remote.cancel();
            panic!("the first");
        })
    }));
    if let Ok(result) = first {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    }
    let error = trainer.run(|_| Err("the second")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Callback, "{error}");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the second");
}

#[test]
fn objects_of_a_thread_go_with_it() {
    thread_local! {
        static KEPT: RefCell<Vec<Box<dyn std::any::Any>>> = const { RefCell::new(Vec::new()) };
    }
    let context = Arc::new(Context::new().unwrap());
    let inner = Arc::clone(&context);
    let trainer = std::thread::spawn(move || {
        let graph = ring(&inner, 50);
        let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
        let mut trainer = small_trainer(&training().num_epochs(1_000_000));
        trainer.start(|_| ()).unwrap();
        let remote = trainer.remote();
        // An error first, whose text is this thread's and goes before or after the rest.
        expect(sampler.sample(None, &[50], 0, 0, 0), ErrorKind::Range, "50");
        KEPT.with(|kept| {
            kept.borrow_mut().extend([Box::new(trainer) as Box<dyn std::any::Any>]);
            kept.borrow_mut().push(Box::new((graph, sampler)));
        });
        remote
    })
    .join()
    .unwrap();
    let stale =
        becomes_true(|| matches!(trainer.progress(), Err(e) if e.kind() == ErrorKind::Handle));
    assert!(stale, "the trainer outlives its thread");
    assert!(becomes_true(|| context.info().unwrap().memory_used == 0));
}

#[test]
fn handles_of_objects_that_come_and_go() {
    let (context, graph, data) = planted(200);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[3, 3])).unwrap();
    let current = Mutex::new(None::<(TrainerHandle, LoaderHandle, CommHandle, ContextHandle)>);
    let (over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for number in 0..2 {
            let (current, over, asked) = (&current, &over, &asked);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let handles = *current.lock().unwrap();
                    let Some((trainer, loader, comm, context)) = handles else { continue };
                    if let Err(error) = trainer.progress() {
                        assert_eq!(error.kind(), ErrorKind::Handle, "{error}");
                    }
                    if asked.fetch_add(1, Ordering::Relaxed) % 7 == number {
                        trainer.cancel();
                        loader.cancel();
                        comm.cancel();
                        context.cancel();
                    }
                }
            });
        }
        for round in 0..60 {
            let own = Context::new().unwrap();
            let model = small_model(&context, &data);
            let mut trainer = Trainer::new(model, &data, &sampler, &training()).unwrap();
            let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new()).unwrap();
            let comm = Comm::group(&own, 1, &CommConfig::new()).unwrap().remove(0);
            *current.lock().unwrap() =
                Some((trainer.remote(), loader.remote(), comm.remote(), own.remote()));
            let (ran, next) = (trainer.run(|_| ()), loader.next_batch());
            for error in [ran.err(), next.err()].into_iter().flatten() {
                assert_eq!(error.kind(), ErrorKind::Cancelled, "round {round}: {error}");
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(asked.into_inner() > 0);
}

#[test]
fn a_rank_that_panics_ends_the_wait_of_the_others() {
    let context = Context::new().unwrap();
    let mut ends = Comm::group(&context, 2, &CommConfig::new()).unwrap();
    let (mut other, mut mine) = (ends.remove(1), ends.remove(0));
    let (left, both_left) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        other.barrier().unwrap();
        both_left.recv().unwrap();
        panic!("rank 1 is gone");
    });
    mine.barrier().unwrap();
    left.send(()).unwrap();
    let error = mine.barrier().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Aborted | ErrorKind::PeerLost), "{error}");
    thread.join().unwrap_err();
}
