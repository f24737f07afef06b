//! A rare class, one node in ten: without weights a model seldom predicts it, so classes are
//! weighted. Uncertain labels can have lower weights too, and a mini-batch exports the weight of
//! each of its labels.

mod common;

use gnnmg::*;

const NODES: usize = 4000;

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let planted = PlantedConfig::new()
        .num_nodes(NODES)
        .intra_probability(0.35);
    let mut graph = Graph::planted(&context, &planted)?;
    let community = graph.node_tensor(0, "y")?;
    let rare: Vec<i64> = community
        .as_slice::<i64>()?
        .iter()
        .map(|&class| i64::from(class == 0))
        .collect();
    graph.set_node_tensor(0, "rare", &rare)?;
    let mut data = Dataset::from_graph(&graph, "x", "rare", Task::Multiclass, 2)?;
    data.add_random_split("random", &SplitConfig::new())?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;

    let plain = common::train_small_model(&context, &data, &sampler, 6)?;
    // [balance]
    data.balance_classes()?; // balanced over the training part of the current split
    let of_classes = data.class_weights()?;
    let weights = of_classes.as_slice::<f64>()?;
    println!(
        "a node of the rare class counts {:.2}, another one {:.2}",
        weights[1], weights[0]
    );
    // [balance]
    let balanced = common::train_small_model(&context, &data, &sampler, 6)?;
    for (what, of) in [
        ("every node counts 1: ", plain),
        ("every class the same:", balanced),
    ] {
        println!(
            "{what} accuracy {:.3}, F1 of both classes {:.3}",
            of.accuracy, of.f1_macro
        );
    }

    // [weights]
    // Milder, by hand.
    data.set_class_weights(&[1.0, 3.0][..])?;
    // The second half was labeled by a machine. The weights are copied.
    let trust: Vec<f32> = (0..NODES)
        .map(|v| if v < NODES / 2 { 1.0 } else { 0.5 })
        .collect();
    data.set_sample_weights(Some(&trust))?;
    // [weights]

    let seeds: Vec<i64> = (0..8).map(|i| i * 511).collect();
    let batch = sampler.sample(Some(&data), &seeds, 1, 0, 0)?;
    let counts = batch.weights()?; // factors for a custom loss
    for (seed, count) in seeds.iter().zip(counts.as_slice::<f64>()?) {
        println!("node {seed} counts {count:.1}");
    }
    Ok(())
}
