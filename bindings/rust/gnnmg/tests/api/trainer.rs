use crate::support::*;
use gnnmg::*;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Mutex};

#[test]
fn run_calls_a_closure_that_borrows() {
    let mut trainer = small_trainer(&training());
    let mut losses = Vec::new();
    trainer
        .run(|epoch| losses.push((epoch.epoch, epoch.train_loss, epoch.validation.is_some())))
        .unwrap();
    assert_eq!(losses.iter().map(|loss| loss.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(losses[2].1 < losses[0].1 && losses[0].2, "{losses:?}");
    let plan = trainer.memory_info(Some(80_000_000_000)).unwrap();
    assert!(plan.fits && plan.bounded && plan.total_bytes > plan.step_bytes);
    assert_eq!(trainer.memory_info(None).unwrap_err().kind(), ErrorKind::NotFound);
    let times = trainer.rank_info(0).unwrap();
    let busy = times.times.compute + times.times.reduce + times.times.optimizer;
    assert!(times.times.compute > 0.0 && times.idle_seconds > 0.0);
    assert!((busy + times.idle_seconds - times.times.total).abs() < 1e-9, "{times:?}");
    let ranks: Vec<i32> = trainer.ranks().unwrap().iter().map(|rank| rank.rank).collect();
    assert_eq!(ranks, [0]);
    assert_eq!(trainer.rank_info(9).unwrap_err().kind(), ErrorKind::NotFound);
    let progress = trainer.progress().unwrap();
    assert_eq!((progress.state, progress.num_epochs), (TrainerState::Finished, 3));
    let metrics = finish(|| trainer.evaluate_timeout(Part::Test, SOON)).unwrap();
    assert_eq!(metrics.count, 80);
    assert_eq!(trainer.evaluate(Part::Test).unwrap().loss, metrics.loss);
    let (same, matrix) = trainer.confusion(Part::Test).unwrap();
    let counts = matrix.as_slice::<i64>().unwrap().to_vec();
    assert_eq!((same.loss, counts.iter().sum::<i64>()), (metrics.loss, 80));
    assert_eq!(trainer.model().info().unwrap().hidden_dim, 8);
    let mut model = trainer.into_model().unwrap();
    model.parameters_mut().unwrap();
}

#[test]
fn start_and_wait_in_slices() {
    let mut trainer = small_trainer(&training());
    let seen = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&seen);
    trainer.start(move |_| *counter.lock().unwrap() += 1).unwrap();
    finish(|| trainer.wait_timeout(SOON)).unwrap();
    assert_eq!(*seen.lock().unwrap(), 3);
    trainer.start(|_| ()).unwrap();
    trainer.wait().unwrap();
}

#[test]
fn weights_are_busy_while_they_are_trained() {
    let mut trainer = small_trainer(&training().num_epochs(1_000_000));
    trainer.start(|_| ()).unwrap();
    expect(trainer.model().parameters(), ErrorKind::Busy, "model");
    expect(trainer.evaluate(Part::Test), ErrorKind::Busy, "");
    trainer.remote().cancel();
    expect(trainer.wait(), ErrorKind::Cancelled, "");
    trainer.model().parameters().unwrap();
}

#[test]
fn an_error_of_the_closure_ends_training() {
    let mut trainer = small_trainer(&training());
    let result = trainer.run(|epoch| match epoch.epoch {
        1 => Err("the disk is full"),
        _ => Ok(()),
    });
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Callback);
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the disk is full");
    let mut rest = Vec::new();
    trainer.run(|epoch| rest.push(epoch.epoch)).unwrap();
    assert_eq!(rest, [2]);
}

#[test]
fn a_panic_of_the_closure_goes_on_in_run() {
    let mut trainer = small_trainer(&training());
    let run = AssertUnwindSafe(|| trainer.run(|_| -> () { panic!("oh") }));
    let payload = catch_unwind(run).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"oh"));
    trainer.run(|_| ()).unwrap();

    let mut trainer = small_trainer(&training());
    trainer.start(|_| -> () { panic!("oh again") }).unwrap();
    let payload = catch_unwind(AssertUnwindSafe(|| trainer.wait())).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"oh again"));
}

#[test]
fn a_panic_of_a_sampler_goes_on_in_run() {
    let (context, graph, data) = planted(400);
    let config = SamplerConfig::new().num_layers(2);
    let sampler = Sampler::custom(&graph, &config, |layer, _| assert!(layer.epoch < 1, "epoch 1"));
    let model = small_model(&context, &data);
    let config = training().num_ranks(2).evaluate_every(0);
    let mut trainer = Trainer::new(model, &data, &sampler.unwrap(), &config).unwrap();
    let payload = catch_unwind(AssertUnwindSafe(|| trainer.run(|_| ()))).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"epoch 1"));
}

#[test]
fn the_closure_may_look_and_may_not_wait() {
    let mut trainer = small_trainer(&training().num_epochs(1));
    let remote = trainer.remote();
    let (_context, graph, data) = planted(60);
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let mut calls = 0;
    trainer
        .run(|_| {
            calls += 1;
            remote.progress()?;
            expect(sampler.sample(Some(&data), &[1], 0, 0, 0), ErrorKind::Busy, "");
            Ok::<(), Error>(())
        })
        .unwrap();
    assert_eq!(calls, 1);
}

#[test]
fn stopped_it_goes_on_where_it_was() {
    let mut trainer = small_trainer(&training().num_epochs(4));
    let remote = trainer.remote();
    let mut epochs = Vec::new();
    trainer
        .run(|epoch| {
            epochs.push(epoch.epoch);
            if epoch.epoch == 1 {
                remote.stop();
            }
        })
        .unwrap();
    assert!(epochs.len() < 4, "{epochs:?}");
    trainer.run(|epoch| epochs.push(epoch.epoch)).unwrap();
    assert_eq!(epochs, [0, 1, 2, 3]);
    drop(trainer);
    remote.stop();
    remote.cancel(); // stale: of no effect
    expect(remote.progress(), ErrorKind::Handle, "trainer");
}

#[test]
fn dropped_while_it_runs() {
    let mut trainer = small_trainer(&training().num_epochs(1_000_000));
    let counted = Arc::new(());
    let inner = Arc::clone(&counted);
    trainer.start(move |_| drop(Arc::clone(&inner))).unwrap();
    let model = trainer.into_model().unwrap();
    let free = becomes_true(|| match model.parameters() {
        Ok(parameters) => !parameters.is_empty(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Busy);
            false
        }
    });
    assert!(free, "the model is held for ever");
}

#[test]
fn step_by_step() {
    let mut trainer = small_trainer(&training().num_epochs(2));
    let mut steps = 0;
    while let Some(loss) = trainer.step().unwrap() {
        assert!(loss > 0.0);
        steps += 1;
    }
    assert_eq!(steps, 8); // 240 seeds in mini-batches of 64, twice
    assert!(matches!(finish(|| trainer.step_timeout(SOON)), Ok(None)));
}

#[test]
fn a_checkpoint_continues_bit_by_bit() {
    let folder = Folder::new();
    let weights = |trainer: &Trainer| {
        trainer.model().parameters().unwrap().as_slice::<f32>().unwrap().to_vec()
    };
    let config = training().keep_best(false);
    let mut whole = small_trainer(&config);
    whole.run(|_| ()).unwrap();

    let mut first = small_trainer(&config);
    for _ in 0..6 {
        first.step().unwrap();
    }
    finish(|| first.save_timeout(folder.join("six"), SOON)).unwrap();
    expect(first.save(folder.join("six")), ErrorKind::InvalidArgument, "exists");
    let mut second = small_trainer(&config);
    second.load(folder.join("six")).unwrap();
    second.run(|_| ()).unwrap();
    assert_eq!(weights(&second), weights(&whole));
    let mut third = small_trainer(&config);
    finish(|| third.load_timeout(folder.join("six"), SOON)).unwrap();
    expect(third.load(folder.join("none")), ErrorKind::NotFound, "none");
    let mut other = small_trainer(&training().seed(3));
    expect(other.load(folder.join("six")), ErrorKind::Mismatch, "seed");
}

#[test]
fn an_optimizers_state_goes_to_pytorch_and_back() {
    let folder = Folder::new();
    let (state, plain) = (folder.join("adam.pth"), ModelFileConfig::new());
    let mut trainer = small_trainer(&training());
    trainer.step().unwrap();
    trainer.optimizer().unwrap().save_with(&state, &plain).unwrap();
    finish(|| trainer.optimizer().unwrap().save_timeout(&state, &plain, SOON)).unwrap();
    let mut other = small_trainer(&training());
    other.optimizer().unwrap().load_with(&state, &plain).unwrap();
    finish(|| other.optimizer().unwrap().load_timeout(&state, &plain, SOON)).unwrap();
    // Writes exactly the state that it has read.
    other.optimizer().unwrap().save_with(folder.join("again.pth"), &plain).unwrap();
    assert_eq!(std::fs::read(&state).unwrap(), std::fs::read(folder.join("again.pth")).unwrap());
    let there = plain.other_framework(true);
    expect(other.optimizer().unwrap().load_with(&state, &there), ErrorKind::Format, "misshapen");
    expect(
        other.optimizer().unwrap().load_with(folder.join("none.pth"), &there),
        ErrorKind::NotFound,
        "none.pth",
    );
    other.run(|_| ()).unwrap();
}

#[test]
fn records_and_checkpoints_are_written() {
    let folder = Folder::new();
    let mut trainer = small_trainer(&training());
    let (lines, states) = (folder.join("epochs.jsonl"), folder.join("states"));
    trainer.set_record(Record::JsonLines, lines.as_path()).unwrap();
    trainer.set_record(Record::Tensorboard, folder.join("board").as_path()).unwrap();
    trainer.set_record(Record::Tensorboard, None).unwrap();
    trainer.set_checkpoints(states.as_path(), &CheckpointConfig::new().keep(1)).unwrap();
    trainer.run(|_| ()).unwrap();
    assert_eq!(std::fs::read_to_string(&lines).unwrap().lines().count(), 3);
    assert!(states.join("latest").exists() && !folder.join("board").exists());
    trainer.set_checkpoints(None, &CheckpointConfig::new()).unwrap();
    expect(trainer.set_record(Record::Other(9), lines.as_path()), ErrorKind::InvalidArgument, "9");
    expect(trainer.load(Path::new("a\0b")), ErrorKind::InvalidArgument, "NUL");
}

#[test]
fn embeddings_by_all_ranks() {
    let folder = Folder::new();
    let mut trainer = small_trainer(&training().num_ranks(2).num_epochs(1));
    trainer.run(|_| ()).unwrap();
    let rows = trainer.embed().unwrap();
    assert_eq!(rows.shape(), [400, 4]);
    let again = finish(|| trainer.embed_timeout(SOON)).unwrap();
    assert_eq!(again.as_slice::<f32>().unwrap(), rows.as_slice::<f32>().unwrap());
    trainer.embed_to_file(folder.join("rows.npy")).unwrap();
    finish(|| trainer.embed_to_file_timeout(folder.join("rows.npy"), SOON)).unwrap();
    assert!(folder.join("rows.npy").exists());
    expect(trainer.embed_to_file(folder.join("no/rows.npy")), ErrorKind::NotFound, "rows.npy");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (context, graph, data) = planted(100);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[2, 2, 2])).unwrap();
    let wrong = Trainer::new(small_model(&context, &data), &data, &sampler, &training());
    expect(wrong, ErrorKind::InvalidArgument, "layers");
    let ends = Comm::group(&context, 1, &CommConfig::new()).unwrap();
    let model = Model::new(&context, &data, &ModelConfig::new().num_layers(3)).unwrap();
    let own = Trainer::with_comm(model, &data, &sampler, &ends[0], &training());
    expect(own, ErrorKind::Unsupported, "");
}
