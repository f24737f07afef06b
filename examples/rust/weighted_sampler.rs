//! Importance sampling with a custom sampler: a node's neighbors are drawn in proportion to the
//! weights of their edges. The program lends two more threads to the library, which calls the
//! sampler on these.

mod common;

use gnnmg::*;
use std::sync::Arc;

const FANOUT: usize = 5;

/// The next number in [0, 1) of a stream that key and node determine.
fn draw(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15); // splitmix64
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
}

fn sample_layer(graph: &Graph, weights: &[f32], layer: &Layer, sink: &mut Sink) -> Result<()> {
    for &target in layer.targets {
        let edges = graph.in_edges(0, target)?;
        let degree = edges.sources.len();
        let weight = |e: usize| f64::from(weights[edges.edge_ids[e] as usize]);
        let total: f64 = (0..degree).map(weight).sum();
        let mut stream = layer.key ^ ((target as u64) << 20); // the same on any thread
        for _ in 0..FANOUT.min(degree) {
            let (mut left, mut e) = (draw(&mut stream) * total, 0);
            while e + 1 < degree && left >= weight(e) {
                left -= weight(e);
                e += 1;
            }
            sink.add_edges(&[edges.sources[e]], &[target], Some(&[edges.edge_ids[e]]))?;
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let warnings = common::Warnings::of(&context);
    let (graph, data) = common::planted_data(&context, 2000)?;
    let graph = Arc::new(graph);

    // An edge counts twice when its ends are of one class, as a hint that real data might have.
    let (from, to) = graph.coo(0)?;
    let y = graph.node_tensor(0, "y")?;
    let classes = y.as_slice::<i64>()?;
    let ends = from.as_slice::<i64>()?.iter().zip(to.as_slice::<i64>()?);
    let weights: Vec<f32> = ends
        .map(|(&u, &v)| {
            if classes[u as usize] == classes[v as usize] {
                2.0
            } else {
                1.0
            }
        })
        .collect();

    let inner = Arc::clone(&graph);
    let sampler = Sampler::custom(&graph, &SamplerConfig::new(), move |layer, sink| {
        sample_layer(&inner, &weights, layer, sink)
    })?;
    let model = Model::new(&context, &data, &ModelConfig::new())?;
    let training = TrainerConfig::new().num_epochs(3).batch_size(128);
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;

    // Closures run on these threads too, until the context is canceled.
    let remote = context.remote();
    let lent: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(move || remote.lend()))
        .collect();
    trainer.run(|_| ())?;
    println!(
        "test accuracy {:.4}",
        trainer.evaluate(Part::Test)?.accuracy
    );
    drop(warnings);
    drop(context);
    for thread in lent {
        thread.join().expect("a lent thread panicked")?;
    }
    Ok(())
}
