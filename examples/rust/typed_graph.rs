//! A graph with types: people follow people and rate films. Its edges come as lists and as
//! compressed columns, with tensors on nodes and edges; then it is read back as a stranger would.

mod common;

use gnnmg::*;

fn build(context: &Context) -> Result<Graph> {
    let mut graph = Graph::new(context)?;
    let people = graph.add_node_type("person", 4)?;
    let films = graph.add_node_type("film", 3)?;
    let follows = graph.add_edge_type(people, "follows", people)?;
    let rates = graph.add_edge_type(people, "rates", films)?;

    graph.set_coo(follows, &[0i32, 1, 2, 3, 0], &[1, 2, 3, 0, 2])?;

    let indptr = [0, 3, 5, 6]; // film 0 has the entries 0 to 2
    let raters = [0i32, 1, 3, 1, 2, 0]; // the raters
    let ids = [0, 2, 5, 3, 4, 1]; // the rating's row in edge tensors
    graph.set_csc(rates, &indptr, &raters, Some(&ids))?;

    graph.set_node_tensor(people, "age", &[31f32, 45.0, 27.0, 60.0])?;
    graph.set_edge_tensor(rates, "stars", &[5f32, 3.0, 4.0, 2.0, 1.0, 4.0])?;
    Ok(graph)
}

fn describe(graph: &Graph) -> Result<()> {
    for node_type in 0..graph.num_node_types()? {
        print!(
            "{}: {} nodes",
            graph.node_type(node_type)?,
            graph.num_nodes(node_type)?
        );
        for tensor in graph.node_tensor_names(node_type)? {
            print!(
                ", {}{}",
                tensor.name,
                if tensor.sparse { " (sparse)" } else { "" }
            );
        }
        println!();
    }
    for edge_type in 0..graph.num_edge_types()? {
        let EdgeType {
            source,
            name,
            target,
            ..
        } = graph.edge_type(edge_type)?;
        let (source, target) = (graph.node_type(source)?, graph.node_type(target)?);
        print!(
            "{source} {name} {target}: {} edges",
            graph.num_edges(edge_type)?
        );
        for tensor in graph.edge_tensor_names(edge_type)? {
            print!(", {tensor}");
        }
        println!();
    }
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let graph = build(&context)?;
    describe(&graph)?;

    let tensor = graph.edge_tensor(1, "stars")?; // rows by edge id
    let stars = tensor.as_slice::<f32>()?;
    let edges = graph.in_edges(1, 0)?; // row of film 0
    let mut sum = 0.0;
    for (person, &rating) in edges.sources.iter().zip(&edges.edge_ids) {
        let given = stars[rating as usize];
        println!("person {person} gives film 0 {given:.0} stars");
        sum += given;
    }
    let count = edges.sources.len();
    println!(
        "film 0: {:.2} stars from {count} people",
        sum / count as f32
    );
    Ok(())
}
