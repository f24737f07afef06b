//! Serves all parts of a graph to trainers on other machines until its input ends, like the program
//! gnnmg-server.
//! `server [<folder of parts> [<address> [<token file> [<certificate> <key> <authority>]]]]`
//!
//! Without arguments it generates a graph, divides it into four parts, and trains in this process
//! with all data from the server.

mod common;

use gnnmg::*;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// A trainer on any machine: it needs the addresses of the servers and no file of the graph.
fn train_beside(context: &Context, port: i32) -> Result<()> {
    let addresses = format!("127.0.0.1:{port}");
    // [served]
    let asking = ServedConfig::new().patience(Duration::from_secs(60));
    let data = Dataset::open_served(context, &addresses, None, &asking)?;
    // [served]
    let sampler = Sampler::new(&data.graph()?, &SamplerConfig::new())?;
    let model = Model::new(context, &data, &ModelConfig::new().hidden_dim(32))?;
    let training = TrainerConfig::new()
        .evaluation(Evaluation::Sampled)
        .num_epochs(20);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|_| ())?;
    let metrics = trainer.evaluate(Part::Test)?;
    println!("test accuracy over the server {:.3}", metrics.accuracy);
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().map_or("parts", String::as_str);
    let address = arguments.get(1).map_or("127.0.0.1:0", String::as_str); // port 0: a free one
    let token_file = arguments.get(2).map(Path::new);
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    if arguments.is_empty() {
        let data = common::planted_data(&context, 2000)?.1;
        let division = PartsConfig::new().num_parts(4).no_hotness();
        data.save_parts(folder, None, &division)?;
    }

    // [create]
    let config = ServerConfig::new();
    let server = Server::open(&context, folder, None, address, token_file, &config)?;
    // [create]
    // [tls]
    if let [_, _, _, certificate, key, authority] = &arguments[..] {
        server.set_tls(certificate, key, authority)?;
    }
    // [tls]
    // [start]
    server.start()?;
    // [start]

    // [info]
    let info = server.info()?;
    println!("serving {} of {} parts", info.num_served, info.num_parts);
    if arguments.len() > 1 {
        println!("at port {}", info.port); // else it is another each time
    }
    // [info]
    if arguments.is_empty() {
        train_beside(&context, info.port)?;
    } else {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    }

    // [shutdown]
    server.shutdown()?;
    println!("answered {} questions", server.info()?.num_reads);
    // [shutdown]
    Ok(())
}
