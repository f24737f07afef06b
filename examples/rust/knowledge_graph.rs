//! Classes of the entities of a knowledge graph, which has no features: R-GCN, whose first layer has
//! a row of weights for each entity in every relation's matrix.
//! `knowledge_graph [<folder with triples.npy, labels.npy and split_NAME.npy>]`
//!
//! Without a folder it uses people, their papers, topics, and acquaintances; a class is a
//! person's department.

mod common;

use gnnmg::*;

const PEOPLE: i64 = 300;
const PAPERS: i64 = 1500;
const TOPICS: i64 = 30;
const DEPARTMENTS: i64 = 3;
const ENTITIES: i64 = PEOPLE + PAPERS + TOPICS;

const WROTE: i64 = 0;
const ABOUT: i64 = 1;
const KNOWS: i64 = 2;
const RELATIONS: i64 = 3;

fn generated(context: &Context) -> Result<Dataset> {
    let mut state = 1u64;
    let mut draw = |below: i64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as i64 % below
    };
    let mut labels: Vec<i64> = (0..PEOPLE).map(|_| draw(DEPARTMENTS)).collect();
    labels.resize(ENTITIES as usize, -1);
    let mut triples = Vec::new();
    for paper in PEOPLE..PEOPLE + PAPERS {
        let author = draw(PEOPLE);
        // Mostly a topic of the department.
        let field = match draw(10) {
            0..=6 => labels[author as usize],
            _ => draw(DEPARTMENTS),
        };
        let topic = DEPARTMENTS * draw(TOPICS / DEPARTMENTS) + field;
        triples.push((author, WROTE, paper));
        triples.push((paper, ABOUT, PEOPLE + PAPERS + topic));
    }
    triples.extend((0..PEOPLE).map(|person| (person, KNOWS, draw(PEOPLE))));
    // Adds the reverse of each triple as a separate relation, like the reader of folders.
    for e in 0..triples.len() {
        let (head, relation, tail) = triples[e];
        triples.push((tail, RELATIONS + relation, head));
    }

    let column = |pick: fn(&(i64, i64, i64)) -> i64| triples.iter().map(pick).collect::<Vec<_>>();
    let mut graph = Graph::from_coo(
        context,
        ENTITIES as usize,
        &column(|t| t.0),
        &column(|t| t.2),
    )?;
    graph.set_node_tensor(0, "y", &labels)?;
    graph.set_edge_tensor(0, "edge_type", &column(|t| t.1))?;
    let classes = DEPARTMENTS as usize;
    let mut data = Dataset::from_graph(&graph, None, "y", Task::Multiclass, classes)?;
    let people: Vec<i64> = (0..PEOPLE).collect();
    data.add_split("people", &people[..200], &[], &people[200..])?;
    Ok(data)
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let data = match std::env::args().nth(1) {
        Some(folder) => Dataset::open(&context, folder)?,
        None => generated(&context)?,
    };
    // [model]
    let layers = ModelConfig::new()
        .architecture(Architecture::Rgcn)
        .input(Input::Nodes) // other architectures take Input::Embedding
        .num_layers(2)
        .hidden_dim(16);
    let model = Model::new(&context, &data, &layers)?;
    // [model]
    let ModelInfo {
        input_dim,
        num_parameters,
        ..
    } = model.info()?;
    println!("{input_dim} entities, {num_parameters} parameters");

    let sampler = Sampler::new(&data.graph()?, &SamplerConfig::new().fanouts(&[-1, -1]))?;
    let training = TrainerConfig::new()
        .num_epochs(50)
        .batch_size(usize::MAX) // all nodes in one mini-batch
        .learning_rate(0.03)
        .weight_decay(5e-3); // else the people's own rows learn their labels by heart
    let mut trainer = Trainer::new(model, &data, &sampler, &training)?;
    trainer.run(|_| ())?;
    let Metrics {
        accuracy,
        correct,
        count,
        ..
    } = trainer.evaluate(Part::Test)?;
    println!("test accuracy {accuracy:.4} ({correct} of {count})");
    Ok(())
}
