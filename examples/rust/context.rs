//! Settings and information of a context: threads, a limit for its memory, options, errors, and
//! messages, which the library keeps for its host because it never prints.

mod common;

use gnnmg::*;

fn main() -> Result<()> {
    let (major, minor, patch) = version();
    let header = ffi::GNNMG_VERSION;
    println!("libgnnmg {major}.{minor}.{patch}, compiled with the header of {header}");

    // 64 MiB for graphs, mini-batches, rows of results.
    let config = ContextConfig::new().num_threads(1).memory_limit(64 << 20);
    let context = Context::with_config(&config)?;
    for SettingInfo { name, help, .. } in settings("context")? {
        println!("{name} = {}: {help}", context.option(name)?);
    }
    context.set_option("log_level", "info")?;

    // A graph that does not fit is an ordinary error: the program continues.
    if let Err(error) = Graph::log_normal(&context, &LogNormalConfig::new()) {
        println!("{}: {error}", error.kind());
        if let Some(rank) = error.rank() {
            println!("rank {rank} has failed");
        }
        if let Some(number) = error.raw_os_error() {
            println!("errno is {number}");
        }
    }
    let (_graph, data) = common::planted_data(&context, 5000)?; // this one fits
    let info = context.info()?;
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "{} threads on {} cores, LibTorch {}, {:.1} of {:.0} MiB taken",
        info.num_threads,
        info.num_cores,
        info.torch_version,
        mebibytes(info.memory_used),
        mebibytes(info.memory_limit)
    );

    data.save("planted")?;
    Dataset::open(&context, "planted")?; // says so in the log
    for message in context.messages() {
        if message.dropped_before > 0 {
            println!("({} lost)", message.dropped_before);
        }
        println!("level {}: {}", i32::from(message.level), message.text);
    }
    Ok(())
}
