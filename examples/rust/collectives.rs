//! Collectives of ranks, one thread each: broadcast, all-gather, all-to-all, barrier; and the error
//! on the others when one of them finds bad data and gives up.

mod common;

use gnnmg::*;
use std::time::Duration;

const RANKS: usize = 3;

/// Works on two communicators, and returns how many results are wrong and the second one: dropped
/// here, it would be an abort of its own.
fn work(mut comm: Comm, mut other: Comm) -> Result<(usize, Comm)> {
    let rank = comm.rank()? as i64;
    let mut wrong = 0;

    let mut seed = if rank == 0 { 42i64 } else { 0 };
    comm.broadcast(&mut seed, 0)?; // rank 0's to all
    wrong += usize::from(seed != 42);

    let ours = vec![rank; rank as usize + 1]; // any sizes
    let mut theirs: Vec<Vec<i64>> = (1..=RANKS).map(|size| vec![0; size]).collect();
    comm.all_gather(&ours, &mut theirs)?;
    for (r, list) in theirs.iter().enumerate() {
        wrong += list.iter().filter(|&&number| number != r as i64).count();
    }

    let out: Vec<i64> = (0..RANKS as i64).map(|r| 10 * rank + r).collect(); // row of rank r
    let mut incoming = vec![0i64; RANKS];
    comm.all_to_all(&out, &mut incoming)?;
    for (r, &number) in incoming.iter().enumerate() {
        wrong += usize::from(number != 10 * r as i64 + rank);
    }

    comm.barrier()?; // waits until all ranks are here
    comm.shutdown()?; // all leave together

    if rank == 1 {
        other.remote().cancel(); // this rank cannot go on: nobody shall wait for it
    } else if let Err(error) = other.barrier() {
        println!("rank {rank}: {}: {error}", error.kind());
    } else {
        wrong += 1;
    }
    Ok((wrong, other))
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    // A later rank is named in an error.
    let config = CommConfig::new().deadline(Duration::from_secs(60));
    let comms = Comm::group(&context, RANKS, &config)?;
    let others = Comm::group(&context, RANKS, &CommConfig::new())?;

    let threads: Vec<_> = comms
        .into_iter()
        .zip(others)
        .map(|(comm, other)| std::thread::spawn(move || work(comm, other)))
        .collect();
    let ended = threads
        .into_iter()
        .map(|thread| thread.join().expect("a rank panicked"));
    let ended = ended.collect::<Result<Vec<_>>>()?;
    println!(
        "{} results are wrong",
        ended.iter().map(|(wrong, _)| wrong).sum::<usize>()
    );
    Ok(())
}
