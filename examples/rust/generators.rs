//! Graphs to measure on: four generators, and how uneven their degrees are. A graph is a pure
//! function of its settings and seed, on every machine.

mod common;

use gnnmg::*;

fn show(name: &str, graph: &Graph) -> Result<()> {
    let (num_nodes, num_edges) = (graph.num_nodes(0)?, graph.num_edges(0)?);
    let columns = graph.csc(0)?;
    let degrees = columns
        .indptr
        .as_slice::<i64>()?
        .windows(2)
        .map(|pair| pair[1] - pair[0]);
    let (mean, most) = (
        num_edges as f64 / num_nodes as f64,
        degrees.max().unwrap_or(0),
    );
    println!("{name:<18} {num_nodes:6} nodes, in-degree {mean:5.1} on average, {most:5} at most");
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);

    // [planted partition]
    // Features alone do not determine the classes.
    let planted = PlantedConfig::new().num_nodes(20_000);
    show("planted partition", &Graph::planted(&context, &planted)?)?;
    // [planted partition]

    // Degrees and communities as in a graph of products.
    let products = LogNormalConfig::new().num_nodes(20_000);
    show("log-normal", &Graph::log_normal(&context, &products)?)?;

    // Heavy-tailed, as Graph500 has it.
    let rmat = RmatConfig::new().scale(14).num_edges(16 << 14);
    show("R-MAT", &Graph::rmat(&context, &rmat)?)?;

    // No structure at all.
    let uniform = ErdosRenyiConfig::new().num_nodes(20_000).num_edges(320_000);
    show("Erdos-Renyi", &Graph::erdos_renyi(&context, &uniform)?)
}
