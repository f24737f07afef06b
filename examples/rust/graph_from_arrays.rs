//! A graph from arrays: two rings of eight nodes whose features contain little information about
//! the ring, and a model that learns the ring of a node. Prints the accuracy on nodes that were not
//! in the training part.

mod common;

use gnnmg::*;
use ndarray::Array2;

const RING: i64 = 8;
const NODES: i64 = 2 * RING;

fn main() -> Result<()> {
    // Each node is joined to the next one of its ring, in both directions.
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for v in 0..NODES {
        let next = v / RING * RING + (v + 1) % RING;
        sources.extend([v, next]);
        targets.extend([next, v]);
    }
    let labels: Vec<i64> = (0..NODES).map(|v| v / RING).collect();
    // A node looks wrong itself half of the time; its neighbors give it away.
    let features = Array2::from_shape_fn((NODES as usize, 2), |(v, column)| {
        let (v, label) = (v as i64, labels[v]);
        let shows = if column == 0 {
            (v + label) % 2 == 1
        } else {
            label == 1 && v % 2 == 0
        };
        f32::from(u8::from(shows))
    });

    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    // [graph from edges]
    let mut graph = Graph::from_coo(&context, NODES as usize, &sources, &targets)?;
    graph.set_node_tensor(0, "x", &features)?;
    graph.set_node_tensor(0, "y", &labels)?;
    // [graph from edges]

    // [data set]
    let mut data = Dataset::from_graph(&graph, "x", "y", Task::Multiclass, 2)?;
    data.add_split(
        "mine",
        &[0, 1, 8, 9],
        &[2, 10],
        &[3, 4, 5, 6, 7, 11, 12, 13],
    )?;
    // [data set]

    let all_neighbors = SamplerConfig::new().fanouts(&[-1, -1]);
    let sampler = Sampler::new(&graph, &all_neighbors)?;
    let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(16))?;
    let training = TrainerConfig::new().num_epochs(60);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|_| ())?;

    let Metrics { correct, count, .. } = trainer.evaluate(Part::Test)?;
    println!("{correct} of {count} nodes are in the ring that the model says");
    Ok(())
}
