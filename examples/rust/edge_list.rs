//! A data set from a text with one edge per line: opens it with settings, reads it, writes a result
//! with the nodes' names, saves all of it in the library's own format, and opens that, which is
//! faster.
//! `edge_list [<text> [<new folder>]]`, which writes a small text without arguments

mod common;

use gnnmg::*;
use std::error::Error;
use std::task::Poll;
use std::time::Duration;

/// Seven people by their names, as an export of a database has them.
const FOLLOWS: &str = "who;whom;since
ada;bob;2019
bob;cleo;2020
cleo;ada;2020
dan;bob;2021
eve;dan;2022
fay;eve;2023
gus;fay;2023
gus;bob;2024
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

/// The nodes' names in the text: one zero-terminated row each, or numbers.
fn names_in_text(graph: &Graph) -> Result<Vec<String>> {
    if let Ok(names) = graph.node_tensor(0, "original_name") {
        let rows = names.as_slice::<u8>()?.chunks(names.shape()[1]);
        return Ok(rows
            .map(|row| {
                String::from_utf8_lossy(row)
                    .trim_end_matches('\0')
                    .to_string()
            })
            .collect());
    }
    let ids = graph.node_tensor(0, "original_id")?; // all were integers
    Ok(ids.as_slice::<i64>()?.iter().map(i64::to_string).collect())
}

/// One line per node: its name in the text, and its number of edges.
fn write_results(
    graph: &Graph,
    names: &[String],
    path: &str,
) -> std::result::Result<(), Box<dyn Error>> {
    let mut lines = String::new();
    for (node, name) in names.iter().enumerate() {
        let edges = graph.in_edges(0, node as i64)?.sources.len();
        lines += &format!("{name}\t{edges}\n");
    }
    std::fs::write(path, lines)?;
    println!("edges of {} nodes written to {path}", names.len());
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

    // [open]
    // Names, or numbers of any size, become 0, 1, 2, ...
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
    // [open]
    describe(&data)?;
    let graph = data.graph()?;
    let names = names_in_text(&graph)?;
    println!("node 0 is {} in the text", names[0]);
    write_results(&graph, &names, "results.tsv")?;

    // [save]
    data.save(&folder)?; // whole or not at all

    // Mapped, not parsed.
    let again = Dataset::open(&context, &folder)?;
    // [save]
    describe(&again)?;
    Ok(())
}
