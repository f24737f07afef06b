//! One model trained by several processes that name each other themselves, without a launcher:
//! `peers <host> <port> <processes> <number of this one> [<token file>]`
//!
//! Another address than this machine's own needs the token: 32 secret bytes in a file of mode 0600.

mod common;

use gnnmg::*;
use std::error::Error;
use std::path::Path;
use std::task::Poll;
use std::time::Duration;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, processes, number, rest @ ..] = arguments.as_slice() else {
        return Err("peers <host> <port> <processes> <number of this one> [<token file>]".into());
    };
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);

    // [join]
    let config = CommConfig::new()
        .port(port.parse()?) // address of process 0
        .num_processes(processes.parse()?)
        .process_rank(number.parse()?);
    let mut meeting = Meeting::new().host(host);
    if let Some(file) = rest.first() {
        meeting = meeting.token_file(Path::new(file));
    }
    let second = Duration::from_secs(1);
    let comm = loop {
        match Comm::join_timeout(&context, &meeting, &config, second)? {
            Poll::Ready(comm) => break comm,
            Poll::Pending => println!("waiting for the others"),
        }
    };
    // [join]

    let (graph, data) = common::planted_data(&context, 4000)?; // the same on each
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(32))?;
    let training = TrainerConfig::new().num_epochs(5).batch_size(256);
    let mut trainer = Trainer::with_comm(model, &data, &sampler, &comm, &training)?;
    trainer.run(|_| ())?; // steps are shared by all
    let accuracy = trainer.evaluate(Part::Test)?.accuracy; // equal on all
    println!("process {number} of {processes}: test accuracy {accuracy:.4}");

    drop(trainer);
    comm.shutdown()?; // else the first to leave would abort the others
    Ok(())
}
