//! Models that read edge data, compared with one that does not: GINE, R-GCN, a graph transformer
//! and PNA. A node's class depends on which type of edges brings more input, so a model needs the
//! types to predict it.

mod common;

use gnnmg::*;
use ndarray::Array2;

const NODES: usize = 1000;
const DEGREE: usize = 7;
const EDGES: usize = NODES * DEGREE;

fn next(random: &mut u64) -> u64 {
    *random = random
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    *random
}

fn make_data(context: &Context) -> Result<(Graph, Dataset)> {
    let mut random = 1;
    let features = Array2::from_shape_fn((NODES, 1), |_| {
        (0.5 + (next(&mut random) >> 40) as f64 / f64::from(1 << 24)) as f32 // uniform in 0.5 to 1.5
    });
    let (mut sources, mut targets, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = Array2::<f32>::zeros((EDGES, 2));
    let mut classes = Vec::new();
    for node in 0..NODES {
        let mut sum = 0.0;
        for _ in 0..DEGREE {
            let drawn = next(&mut random);
            let (source, kind) = ((drawn >> 33) as usize % NODES, (drawn >> 32) & 1);
            rows[(sources.len(), kind as usize)] = 1.0;
            let feature = f64::from(features[(source, 0)]);
            sum += if kind == 1 { feature } else { -feature };
            sources.push(source as i64);
            targets.push(node as i64);
            kinds.push(kind as i64);
        }
        classes.push(i64::from(sum > 0.0));
    }
    // [edge tensors]
    let mut graph = Graph::from_coo(context, NODES, &sources, &targets)?;
    graph.set_node_tensor(0, "x", &features)?;
    graph.set_node_tensor(0, "y", &classes)?;
    graph.set_edge_tensor(0, "edge_attr", &rows)?;
    graph.set_edge_tensor(0, "edge_type", &kinds)?;
    // [edge tensors]
    let mut data = Dataset::from_graph(&graph, "x", "y", Task::Multiclass, 2)?;
    data.add_random_split("random", &SplitConfig::new())?;
    Ok((graph, data))
}

fn train(
    context: &Context,
    data: &Dataset,
    sampler: &Sampler,
    architecture: Architecture,
) -> Result<f64> {
    let mut layers = ModelConfig::new()
        .architecture(architecture)
        .num_layers(1)
        .hidden_dim(32)
        .jumping(Jumping::Last); // a linear layer after the convolution
    layers = if matches!(architecture, Architecture::Rgcn | Architecture::Sage) {
        layers.aggregation(Aggregation::Sum) // GINE's is the sum already
    } else {
        layers.edge_dim(-1) // the edges' number of columns; R-GCN counts their types
    };
    let model = Model::new(context, data, &layers)?;
    let training = TrainerConfig::new()
        .num_epochs(15)
        .evaluate_every(15)
        .batch_size(64)
        .learning_rate(0.01);
    let mut trainer = Trainer::new(model, data, sampler, &training)?;
    trainer.run(|_| ())?;
    Ok(trainer.evaluate(Part::Test)?.accuracy)
}

fn main() -> Result<()> {
    let kinds = [
        ("GraphSAGE", Architecture::Sage),
        ("GINE", Architecture::Gine),
        ("R-GCN", Architecture::Rgcn),
        ("transformer", Architecture::Transformer),
        ("PNA", Architecture::Pna),
    ];
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (graph, data) = make_data(&context)?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[-1]))?;
    let mut seeing = 0;
    for (name, architecture) in kinds {
        let accuracy = train(&context, &data, &sampler, architecture)?;
        println!("{name:<11} test accuracy {accuracy:.4}");
        seeing += i32::from(accuracy > 0.75);
    }
    println!("{seeing} of {} models see the edges", kinds.len());
    Ok(())
}
