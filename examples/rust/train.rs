//! `train`: a model on a data set of one's own or a generated one, from the command line, on one or
//! several ranks in one or several processes. `train --help` lists what it takes, which is most of
//! what its twin in C does.

mod train_options;
mod train_progress;

use gnnmg::*;
use std::error::Error;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use train_options::{word, Options, AGGREGATIONS, MODELS};
use train_progress::{draw, Progress};

/// Joins the job that a launcher has started or that the options name; without one, this process
/// trains alone.
fn join(context: &Context, o: &Options) -> Result<Option<Comm>> {
    if o.by_hand {
        let mut meeting = Meeting::new().host(&o.host);
        if let Some(file) = &o.token_file {
            meeting = meeting.token_file(Path::new(file));
        }
        return Comm::join(context, &meeting, &o.comm).map(Some);
    }
    match Comm::from_env(context, &o.comm) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// "planted:20000" names a generator and a size.
fn generate(context: &Context, name: &str) -> Option<Result<Graph>> {
    let (name, nodes) = match name.split_once(':') {
        Some((name, nodes)) => (name, Some(nodes.parse().ok()?)),
        None => (name, None),
    };
    match name {
        "planted" => {
            let config = PlantedPartitionConfig::new().num_nodes(nodes.unwrap_or(50_000));
            Some(Graph::planted_partition(context, &config))
        }
        "products" => {
            let config = LogNormalConfig::new().num_nodes(nodes.unwrap_or(244_903));
            Some(Graph::log_normal(context, &config))
        }
        _ => None,
    }
}

/// Opens or makes the data and chooses the split: the one asked for, a random one, or the first.
fn open_data(context: &Context, o: &Options) -> Result<Dataset> {
    let mut data = match generate(context, &o.dataset) {
        Some(graph) => Dataset::from_graph(&graph?, "x", "y", Task::Multiclass, 0)?,
        None => Dataset::open(context, &o.dataset)?,
    };
    if o.random_split.is_some() || (data.info()?.num_splits == 0 && o.split.is_none()) {
        let mut random = SplitConfig::new().seed(o.seed);
        if let Some((train, validation)) = o.random_split {
            random = random.train_fraction(train).validation_fraction(validation);
        }
        data.add_random_split("random", &random)?;
    } else if let Some((name, index)) = &o.split {
        data.set_split(Some(name.as_str()).filter(|name| !name.is_empty()), *index)?;
    }
    if o.balance_classes {
        data.balance_classes()?;
    }
    Ok(data)
}

/// What the model reads where the command line does not say it.
fn input(data: &Dataset, o: &Options) -> Result<Input> {
    Ok(match (o.input, data.info()?.feature_dim, o.architecture) {
        (Some(input), ..) => input,
        (None, 0, Architecture::Rgcn) if o.blocks == 0 => Input::Nodes,
        (None, 0, _) => Input::Embedding,
        (None, ..) => Input::Features,
    })
}

fn make_trainer(
    context: &Context,
    data: &Dataset,
    comm: Option<&Comm>,
    o: &Options,
    seed: u64,
) -> Result<Trainer> {
    let layers = o.model.clone().num_layers(o.layers).seed(seed);
    let layers = layers
        .architecture(o.architecture)
        .aggregation(o.aggregation)
        .num_blocks(o.blocks)
        .input(input(data, o)?)
        .readout(o.readout)
        .jumping(o.jumping.unwrap_or(match o.readout {
            Readout::None => Jumping::None,
            _ => Jumping::Last,
        }));
    let mut model = Model::new(context, data, &layers)?;
    if let Some(file) = &o.load {
        model.load(file)?;
    }
    let sampler = match o.readout {
        Readout::None => Sampler::new(&data.graph()?, &SamplerConfig::new().fanouts(&o.fanouts))?,
        _ => Sampler::graphs(data, &SamplerConfig::new().num_layers(o.layers))?, // taken whole
    };
    let training = o
        .training
        .clone()
        .num_ranks(o.ranks)
        .seed(seed)
        .best_by(o.metric);
    let mut trainer = match comm {
        Some(comm) => Trainer::with_comm(model, data, &sampler, comm, &training)?,
        None => Trainer::new(model, data, &sampler, &training)?,
    };
    if let Some(file) = &o.log {
        trainer.set_record(Record::JsonLines, Path::new(file))?;
    }
    Ok(trainer)
}

/// Has the trainer write checkpoints, and goes on from the newest when that is asked for.
fn use_checkpoints(
    context: &Context,
    trainer: &mut Trainer,
    folder: &str,
    o: &Options,
    speaks: bool,
) -> Result<()> {
    trainer.set_checkpoints(Path::new(folder), &CheckpointConfig::new())?;
    if !o.resume {
        return Ok(());
    }
    let loaded = trainer.load(folder);
    for message in context.messages().filter(|_| speaks) {
        // Of a checkpoint that was passed over, for instance.
        if matches!(message.level, LogLevel::Warning | LogLevel::Error) {
            eprintln!("train: {}", message.text);
        }
    }
    match loaded {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()), // the first start
        other => other?,
    }
    let at = trainer.progress()?;
    if speaks {
        println!(
            "resumed {} epochs and {} steps into training",
            at.epoch, at.step
        );
    }
    Ok(())
}

fn train(trainer: &mut Trainer, progress: &mut Progress) -> Result<()> {
    let (remote, bar, metric) = (trainer.remote(), progress.bar, progress.metric);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if bar {
            scope.spawn(|| draw(remote, metric, &over));
        }
        let result = trainer.run(|epoch| progress.epoch(epoch));
        over.store(true, Ordering::Relaxed);
        result
    })
}

/// The metric that the options ask for, and its name.
fn value(metrics: &Metrics, o: &Options) -> (&'static str, f64) {
    match (metrics.task, o.metric) {
        (Task::Regression, _) => ("RMSE", metrics.rmse),
        (_, Metric::RocAuc) => ("ROC-AUC", metrics.roc_auc),
        _ => ("accuracy", metrics.accuracy),
    }
}

fn print_head(data: &Dataset, model: &Model, o: &Options, processes: usize) -> Result<()> {
    let (info, layers) = (data.info()?, model.info()?);
    let DatasetInfo {
        num_nodes,
        num_edges,
        feature_dim,
        num_classes,
        ..
    } = info;
    let size = |part| data.split(part).map(|ids| ids.len());
    let (train, validation) = (size(Split::Train)?, size(Split::Validation)?);
    println!(
        "data    {}: {num_nodes} nodes, {num_edges} edges, {feature_dim} features, {num_classes} classes",
        o.dataset
    );
    println!(
        "split   {train} train, {validation} validation, {} test",
        size(Split::Test)?
    );
    let name = match o.architecture {
        Architecture::Sage => format!(
            "GraphSAGE {}",
            word(AGGREGATIONS, o.aggregation).replace("default", "mean")
        ),
        other => word(MODELS, other).to_string(),
    };
    let ModelInfo {
        num_layers,
        hidden_dim,
        num_parameters,
        ..
    } = layers;
    println!("model   {name}, {num_layers} layers, hidden width {hidden_dim}, {num_parameters} parameters");
    let place = match processes {
        1 => "this process".to_string(),
        many => format!("each of {many} processes"),
    };
    let fanouts: Vec<String> = o.fanouts.iter().map(i64::to_string).collect();
    let fanouts = match o.readout {
        Readout::None => format!(", fan-outs {}", fanouts.join(" ")),
        _ => String::new(), // graphs are taken whole
    };
    println!("ranks   {} in {place}{fanouts}\n", o.ranks);
    Ok(())
}

fn print_test(trainer: &Trainer, test: &Metrics, o: &Options) -> Result<()> {
    let (at, (name, value)) = (trainer.progress()?, value(test, o));
    let above = if o.quiet { "" } else { "\n" };
    print!("{above}test    {name} {value:.4}, loss {:.4}", test.loss);
    if at.has_validation && at.state == TrainerState::Finished {
        let (epoch, best) = (at.best_epoch + 1, at.best_validation);
        print!(" (weights of epoch {epoch}, validation {best:.4})");
    }
    println!();
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let o = Options::parse();
    let begin = Instant::now();
    let context = Context::new()?;
    let comm = join(&context, &o)?;
    let (process, processes) = match &comm {
        Some(comm) => (comm.rank()?, comm.world_size()?),
        None => (0, 1),
    };
    let speaks = process == 0; // one process of a job prints and saves
    let data = open_data(&context, &o)?;
    let mut results = Vec::new();
    for run in 0..o.runs {
        let mut trainer = make_trainer(&context, &data, comm.as_ref(), &o, o.seed + run)?;
        let bar = speaks
            && !o.quiet
            && std::io::stderr().is_terminal()
            && std::io::stdout().is_terminal();
        let mut progress = Progress::new(bar, o.quiet || !speaks, o.metric);
        if run == 0 && speaks {
            print_head(&data, trainer.model(), &o, processes)?;
        }
        if let Some(folder) = &o.checkpoints {
            use_checkpoints(&context, &mut trainer, folder, &o, speaks)?;
        }
        train(&mut trainer, &mut progress)?;
        let test = trainer.evaluate(Split::Test)?;
        if speaks {
            print_test(&trainer, &test, &o)?;
            progress.print_times(begin.elapsed().as_secs_f64());
            if let Some(file) = o.save.as_ref().filter(|_| run == 0) {
                trainer.model_mut().save(file)?;
            }
        }
        results.push(value(&test, &o));
    }
    if speaks && results.len() > 1 {
        let runs = results.len() as f64;
        let mean = results.iter().map(|(_, value)| value).sum::<f64>() / runs;
        let squares: f64 = results
            .iter()
            .map(|(_, value)| (value - mean).powi(2))
            .sum();
        let error = (squares / (runs - 1.0) / runs).sqrt();
        let name = results[0].0;
        println!(
            "\nresult  {name} {mean:.4} +- {error:.4} (mean and standard error of {runs} runs)"
        );
    }
    if let Some(comm) = comm {
        comm.shutdown()?; // all processes leave together
    }
    Ok(())
}
