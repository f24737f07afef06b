//! Many small graphs: a data set made of arrays, folds in which every class has its share, and
//! mini-batches of whole graphs. The graphs are rings and stars of 3 to 12 nodes, one class each.

mod common;

use gnnmg::*;

fn main() -> Result<()> {
    // Side by side in one graph: nodes are numbered on from graph to graph.
    let (mut sources, mut targets, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    let mut graph_ptr = vec![0];
    for g in 0..200 {
        let (first, nodes, class) = (graph_ptr[g as usize], 3 + g * 7 % 10, g % 2);
        for i in 1..nodes + i64::from(class == 0) {
            let (u, v) = (
                first + i % nodes,
                if class == 0 { first + i - 1 } else { first },
            );
            sources.extend([u, v]);
            targets.extend([v, u]);
        }
        classes.push(class);
        graph_ptr.push(first + nodes);
    }
    let num_nodes = graph_ptr[graph_ptr.len() - 1] as usize;

    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let mut graph = Graph::from_coo(&context, num_nodes, &sources, &targets)?;
    graph.set_node_tensor(0, "x", &ndarray::Array2::<f32>::ones((num_nodes, 1)))?;
    // [data set]
    let mut data =
        Dataset::from_graphs(&graph, &graph_ptr, "x", Some(&classes), Task::Multiclass, 0)?;
    // [data set]

    data.add_folds(
        "folds",
        &FoldsConfig::new().num_folds(5).held_out(Part::Test),
    )?;
    let data = data.select_split("folds", 2)?; // holds the third fold out

    let (labels, starts, test) = (data.labels()?, data.graph_ptr()?, data.split(Part::Test)?);
    let (label_of, first_node) = (labels.as_slice::<i64>()?, starts.as_slice::<i64>()?);
    let (mut stars, mut nodes) = (0, 0);
    for &id in test.as_slice::<i64>()? {
        stars += label_of[id as usize];
        nodes += first_node[id as usize + 1] - first_node[id as usize];
    }
    println!(
        "held out: {} graphs of {nodes} nodes, {stars} of them stars",
        test.len()
    );

    // Graphs are taken whole, by as many layers as the model has.
    let sampler = Sampler::graphs(&data, &SamplerConfig::new().num_layers(4))?;
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new().batch_size(32))?;
    let (mut batches, mut graphs, mut nodes) = (0, 0, 0);
    for batch in loader.epoch() {
        let begin = batch?.graph_ptr()?;
        batches += 1;
        graphs += begin.len() - 1;
        nodes += begin.as_slice::<i64>()?.last().unwrap_or(&0);
    }
    println!("an epoch: {batches} mini-batches, {graphs} graphs of {nodes} nodes");
    Ok(())
}
