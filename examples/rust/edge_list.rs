//! A data set from a text with an edge a line: opened with settings, read, written in the library's
//! own format, and opened again from there, which is the fast way from then on.
//! `edge_list [<text> [<new folder>]]`, without arguments a small text is made

mod common;

use gnnmg::*;
use std::error::Error;
use std::task::Poll;
use std::time::Duration;

/// Seven people by their account numbers, as an export of a database has them.
const FOLLOWS: &str = "who;whom;since
9000017;123;2019
123;4410;2020
4410;9000017;2020
55;123;2021
86;55;2022
7;86;2023
31;7;2023
31;123;2024
";

fn describe(data: &Dataset) -> Result<()> {
    let DatasetNames {
        name,
        features,
        labels,
        ..
    } = data.names()?;
    let DatasetInfo {
        num_nodes,
        num_edges,
        feature_dim,
        num_splits,
        ..
    } = data.info()?;
    let (features, labels) = (features.unwrap_or("none"), labels.unwrap_or("none"));
    println!(
        "{name}: {num_nodes} nodes, {num_edges} edges, features {features} ({feature_dim}), \
         labels {labels}, {num_splits} splits"
    );
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let text = match arguments.next() {
        Some(path) => path,
        None => {
            std::fs::write("follows.csv", FOLLOWS)?;
            "follows.csv".to_string()
        }
    };
    let folder = arguments.next().unwrap_or("follows".to_string());
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);

    // Account numbers become 0, 1, 2, ...
    let config = DatasetConfig::new()
        .format(Format::Edges)
        .undirected(true)
        .relabel(true);
    let data = loop {
        match Dataset::open_timeout(&context, &text, &config, Duration::from_millis(200))? {
            Poll::Ready(data) => break data,
            Poll::Pending => println!("still reading {text}"), // or a program shows its window
        }
    };
    describe(&data)?;
    let ids = data.graph()?.node_tensor(0, "original_id")?;
    println!("node 0 is {} in the text", ids.as_slice::<i64>()?[0]);

    data.save(&folder)?; // whole or not at all
    let again = Dataset::open(&context, &folder)?; // mapped, not parsed
    describe(&again)?;
    Ok(())
}
