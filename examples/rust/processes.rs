//! One process of a job that a launcher has started (torchrun, srun, mpirun, a loop of the shell):
//! they meet, add up a number, and leave together.

mod common;

use gnnmg::*;

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    // [join]
    let mut comm = Comm::from_env(&context, &CommConfig::new())?;
    let (rank, size) = (comm.rank()?, comm.world_size()?);
    // [join]

    let mut sum = [rank as f32 + 1.0];
    comm.all_reduce(&mut sum, Reduce::Sum)?;
    println!("process {rank} of {size}: the sum is {:.0}", sum[0]);

    // Without it the first process to leave would abort the others.
    comm.shutdown()
}
