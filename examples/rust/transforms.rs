//! Usual transforms of a graph before training: edges in both directions, no repeats, a self-loop
//! on each node, rows of features that sum to 1. Every step makes a new graph that shares the
//! unchanged parts.

mod common;

use gnnmg::*;
use ndarray::{array, ArrayView2};

fn show(title: &str, graph: &Graph) -> Result<()> {
    let (sources, targets) = graph.coo(0)?;
    print!("{title}:");
    for (from, to) in sources
        .as_slice::<i64>()?
        .iter()
        .zip(targets.as_slice::<i64>()?)
    {
        print!(" {from}>{to}");
    }
    println!();
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    // A repeated edge and a self-loop, as crawled data has them; compressed by target.
    let mut graph = Graph::new(&context)?;
    graph.add_node_type("node", 5)?;
    graph.add_edge_type(0, "edge", 0)?;
    graph.set_csc(0, &[0, 2, 3, 5, 6, 6], &[1i64, 1, 1, 0, 3, 4], None)?;
    let counts = array![[1f32, 3.0], [0.0, 0.0], [2.0, 2.0], [5.0, 0.0], [1.0, 4.0]];
    graph.set_node_tensor(0, "x", &counts)?;
    show("as given", &graph)?;

    let graph = graph
        .transformed(Transform::RemoveSelfLoops, 0)?
        .transformed(Transform::ToUndirected, 0)?
        .transformed(Transform::AddRemainingSelfLoops, 0)?;
    show("for training", &graph)?;

    let normalized = graph.normalized("x")?;
    let x = normalized.node_tensor(0, "x")?;
    let rows: ArrayView2<f32> = x.view()?;
    for (v, row) in rows.rows().into_iter().enumerate() {
        assert!(if v == 1 {
            row.sum() == 0.0
        } else {
            (row.sum() - 1.0).abs() < 1e-6
        });
    }

    let columns = normalized.csc(0)?; // the edges into v: start[v] .. start[v + 1]
    for (v, pair) in columns.indptr.as_slice::<i64>()?.windows(2).enumerate() {
        println!("node {v} has {} incoming edges", pair[1] - pair[0]);
    }
    Ok(())
}
