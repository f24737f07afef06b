//! Splits of a data set: drawn at random, with a number per class, or given as lists; listed,
//! selected, and read back. Trains a model on each of five random splits and prints the mean.

mod common;

use gnnmg::*;

const RANDOM_SPLITS: usize = 5;

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, mut data) = common::planted_data(&context, 3000)?; // has a split "random"

    // [random]
    for seed in 0..RANDOM_SPLITS as u64 {
        let split = SplitConfig::new()
            .train_fraction(0.6)
            .validation_fraction(0.2)
            .seed(seed);
        data.add_random_split("rand602020", &split)?;
    }
    // [random]
    // As in Planetoid's.
    let few = SplitConfig::new()
        .train_per_class(20)
        .validation_per_class(30);
    data.add_random_split("few labels", &few)?;
    data.add_split("by hand", &[0, 1, 2, 3, 4, 5, 6, 7], &[8, 9], &[10, 11, 12])?;

    for (name, split) in data.splits()? {
        let SplitInfo {
            index,
            num_train,
            num_validation,
            num_test,
            ..
        } = split;
        println!("{name} {index}: {num_train}, {num_validation}, {num_test}");
    }

    let few = data.select_split("few labels", 0)?; // shares the data
    let ids = few.split(Part::Train)?;
    let nodes = ids.as_slice::<i64>()?;
    println!(
        "few labels: trained on {} nodes, the first is {}",
        nodes.len(),
        nodes[0]
    );

    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let mut mean = 0.0;
    for index in 0..RANDOM_SPLITS {
        let selected = data.select_split("rand602020", index)?;
        let accuracy = common::train_small_model(&context, &selected, &sampler, 4)?.accuracy;
        println!("split {index}: test accuracy {accuracy:.4}");
        mean += accuracy / RANDOM_SPLITS as f64;
    }
    println!("mean {mean:.4}");
    Ok(())
}
