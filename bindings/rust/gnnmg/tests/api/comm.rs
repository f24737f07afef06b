use crate::support::*;
use gnnmg::*;
use ndarray::Array2;
use std::time::Duration;

/// Runs a closure on each end of a group of `n`, a thread each.
fn ranks<T: Send>(n: usize, work: impl Fn(Comm) -> T + Sync) -> Vec<T> {
    let context = Context::new().unwrap();
    let ends = Comm::group(&context, n, &CommConfig::new()).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = ends.into_iter().map(|end| scope.spawn(|| work(end))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn arrays_of_all_kinds_are_reduced() {
    ranks(3, |mut comm| {
        let rank = comm.rank().unwrap();
        assert_eq!(comm.world_size().unwrap(), 3);
        let mut number = rank as f64;
        comm.all_reduce(&mut number, Reduce::Mean).unwrap();
        assert_eq!(number, 1.0);
        let mut list = vec![rank as i64, 10];
        comm.all_reduce(&mut list, Reduce::Max).unwrap();
        assert_eq!(list, [2, 10]);
        let mut part = [1i32, rank as i32, 1];
        comm.all_reduce(&mut part[1..2], Reduce::Min).unwrap();
        assert_eq!(part, [1, 0, 1]);
        let mut matrix = Array2::<f32>::from_elem((2, 2), rank as f32);
        finish(|| comm.all_reduce_timeout(&mut matrix, Reduce::Sum, SOON)).unwrap();
        assert_eq!(matrix.sum(), 12.0);
        let mut owned = Tensor::from_vec(vec![rank as u8], &[1]).unwrap();
        comm.all_reduce(&mut owned, Reduce::Sum).unwrap();
        assert_eq!(owned.as_slice::<u8>().unwrap(), [3]);
        comm.shutdown().unwrap();
    });
}

#[test]
fn everything_else_that_ranks_do() {
    ranks(3, |mut comm| {
        let rank = comm.rank().unwrap() as i64;
        let mut seed = [if rank == 1 { 42i64 } else { 0 }];
        comm.broadcast(&mut seed, 1).unwrap();
        assert_eq!(seed, [42]);
        seed[0] = rank;
        finish(|| comm.broadcast_timeout(&mut seed, 2, SOON)).unwrap();
        assert_eq!(seed, [2]);

        let mine = vec![rank; rank as usize + 1];
        let mut all = [vec![0i64; 1], vec![0; 2], vec![0; 3]];
        comm.all_gather(&mine, &mut all).unwrap();
        assert_eq!(all, [vec![0; 1], vec![1; 2], vec![2; 3]]);
        let mut again = [vec![9i64; 1], vec![9; 2], vec![9; 3]];
        finish(|| comm.all_gather_timeout(&mine, &mut again, SOON)).unwrap();
        assert_eq!(again, all);
        let few = comm.all_gather(&mine, &mut all[..2]);
        expect(few, ErrorKind::InvalidArgument, "outputs has 2 arrays, expected 3");

        let out = [10 * rank, 10 * rank + 1, 10 * rank + 2];
        let mut incoming = [0i64; 3];
        comm.all_to_all(&out, &mut incoming).unwrap();
        assert_eq!(incoming, [rank, 10 + rank, 20 + rank]);
        finish(|| comm.all_to_all_timeout(&out, &mut incoming, SOON)).unwrap();

        comm.barrier().unwrap();
        finish(|| comm.barrier_timeout(SOON)).unwrap();
        finish(|| comm.shutdown_timeout(SOON)).unwrap();
        expect(comm.barrier(), ErrorKind::Aborted, "shut");
    });
}

#[test]
fn who_gives_up_is_named_to_the_others() {
    let results = ranks(2, |mut comm| {
        if comm.rank().unwrap() == 1 {
            comm.remote().cancel();
            std::thread::sleep(SOON);
        }
        comm.barrier().unwrap_err()
    });
    assert!(matches!(results[0].kind(), ErrorKind::Aborted), "{:?}", results[0]);
    assert!(results[0].message().contains("rank 1"), "{}", results[0]);
}

#[test]
fn a_drop_without_a_shutdown_ends_the_wait_of_others() {
    let results = ranks(2, |mut comm| (comm.rank().unwrap() == 0).then(|| comm.barrier()));
    let error = results.into_iter().flatten().next().unwrap();
    expect(error, ErrorKind::Aborted, "rank 1");
}

#[test]
fn a_rank_that_does_not_come_is_a_timeout() {
    let context = Context::new().unwrap();
    let config = CommConfig::new().deadline(Duration::from_millis(200));
    let mut ends = Comm::group(&context, 2, &config).unwrap();
    expect(ends[0].barrier(), ErrorKind::Timeout, "1");
}

#[test]
fn sizes_of_groups_are_checked() {
    let context = Context::new().unwrap();
    for size in [0, 1025, usize::MAX] {
        expect(Comm::group(&context, size, &CommConfig::new()), ErrorKind::InvalidArgument, "size");
    }
}

#[test]
fn replicas_that_reduce_gradients_stay_equal() {
    let (context, graph, data) = planted(300);
    let sampler = Sampler::new(&graph, &SamplerConfig::new()).unwrap();
    let model = small_model(&context, &data);
    let ends = Comm::group(&context, 2, &CommConfig::new()).unwrap();
    let weights: Vec<Vec<f32>> = std::thread::scope(|scope| {
        let train = |mut comm: Comm, mut model: Model| {
            let config = LoaderConfig::new().batch_size(32).rank(comm.rank()?).world_size(2);
            let mut loader = Loader::new(&data, &sampler, &config)?;
            let mut optimizer = Optimizer::new(&mut model, &OptimizerConfig::new())?;
            for batch in loader.epoch() {
                let batch = batch?;
                model.forward(&batch)?;
                model.backward(Loss::Auto)?;
                if batch.info()?.last_of_step {
                    comm.all_reduce(&mut model.gradients_mut()?, Reduce::Sum)?;
                    optimizer.step(&mut model)?;
                }
            }
            comm.shutdown()?;
            let weights = model.parameters()?.as_slice::<f32>()?.to_vec();
            Ok::<_, Error>(weights)
        };
        let threads: Vec<_> = ends
            .into_iter()
            .map(|end| (end, model.try_clone().unwrap()))
            .map(|(end, model)| scope.spawn(move || train(end, model)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
    });
    assert_eq!(weights[0], weights[1]);
    assert_ne!(weights[0], model.parameters().unwrap().as_slice::<f32>().unwrap());
}
