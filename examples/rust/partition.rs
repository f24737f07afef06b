//! Divides a data set into parts, for graphs that are too large for one machine: prints the cut,
//! the balance of the parts, and the rows that a mini-batch of each part would read from the
//! others.
//! `partition [<data set> [<new folder> [<parts>]]]`, which generates a graph without arguments
//!
//! After an interruption run the program again with the same arguments to continue.

mod common;

use gnnmg::*;
use std::error::Error;
use std::time::Duration;

fn print_log(context: &Context) {
    for message in context.messages() {
        println!("  {}", message.text);
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let data = match arguments.next() {
        Some(path) => Dataset::open(&context, path)?,
        None => common::planted_data(&context, 5000)?.1,
    };
    let folder = arguments.next().unwrap_or("parts".to_string());
    let num_parts = arguments.next().map_or(Ok(4), |number| number.parse())?;

    // [save]
    let config = PartsConfig::new()
        .num_parts(num_parts)
        .fanouts(&[15, 10, 5]) // the planned training has these
        .batch_size(256);
    let time = Duration::from_millis(500);
    while data
        .save_parts_timeout(&folder, None, &config, time)?
        .is_pending()
    {
        print_log(&context); // prints each step
    }
    // [save]
    print_log(&context);

    // [facts]
    // All parts in one process: the same data set as before.
    let whole = Dataset::open(&context, &folder)?;
    let all = whole.parts_info()?;
    println!(
        "{} parts, {:.1} % of {} edges cut",
        all.num_parts,
        100.0 * all.cut,
        all.num_edges
    );
    println!(
        "largest part / mean: nodes {:.3}, edges {:.3}, training ids {:.3}",
        all.node_balance, all.edge_balance, all.train_balance
    );
    // [facts]

    // [part]
    let cache_rows = all.num_nodes / 5;
    for (p, part) in whole.parts(cache_rows)?.iter().enumerate() {
        print!(
            "part {p}: {} nodes, {} edges, {} training ids",
            part.num_nodes, part.num_edges, part.num_train
        );
        if part.hotness {
            print!(
                "; a mini-batch reads {:.0} rows, {:.0} of other parts, \
                 a cache of {cache_rows} rows has {:.0} %",
                part.batch_rows,
                part.remote_rows,
                100.0 * part.hit_rate
            );
        }
        println!();
    }
    // [part]

    // [book]
    let book = whole.book()?;
    let part_of = book.as_slice::<i32>()?;
    let last = part_of.len() - 1;
    println!(
        "node 0 is in part {}, node {last} in part {}",
        part_of[0], part_of[last]
    );
    // [book]

    // [share]
    // The size of the cache for rows of other parts.
    let asking = OpenPartsConfig::new().cache_bytes(64 << 20);
    // The data set trains as `whole` does. Without a job it has all parts.
    let share = Dataset::open_parts(&context, None, &folder, &asking)?;
    assert_eq!(share.parts_info()?.own_parts, all.num_parts);
    // [share]
    Ok(())
}
