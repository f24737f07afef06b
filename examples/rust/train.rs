//! `train`: a model on a data set or a generated graph, from the command line, on one or several
//! ranks in one or several processes. `train --help` lists its options.

mod train_curve;
mod train_help;
mod train_options;
mod train_plan;
mod train_progress;
mod train_settings;

mod common;

use gnnmg::*;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use train_curve::{Curve, Sums, LAST};
use train_options::Options;
use train_progress::{print_classes, print_ranks, Display, Measure, Progress};

/// 1: stop in an orderly way, 2: at once.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn on_interrupt(_signal: i32) {
    INTERRUPTS.fetch_add(1, Ordering::Relaxed);
}

extern "C" {
    /// Declared from the C library: the standard library of Rust does not handle signals.
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
}

fn hear_interrupts() {
    const SIGINT: i32 = 2;
    const SIGTERM: i32 = 15;
    // The handler does nothing but count.
    unsafe {
        signal(SIGINT, on_interrupt);
        signal(SIGTERM, on_interrupt);
    }
}

fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0
}

fn twice() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 1
}

/// Ends the program while a call waits.
fn end_by_interrupt(context: &Context) -> ! {
    context.remote().cancel();
    common::Warnings::of(context).print();
    extern "C" {
        fn _exit(status: i32) -> !;
    }
    unsafe { _exit(130) } // exit() would end LibTorch's objects in the middle of a step
}

/// An error for the user, with the option in place of the function that loads a checkpoint, and the
/// end.
fn refuse(error: Error) -> ! {
    let option = error.kind() == ErrorKind::InvalidArgument;
    let hint = if option { " (try --help)" } else { "" };
    let text = error
        .to_string()
        .replace("gnnmg_trainer_load()", "--resume");
    eprintln!("train: {text}{hint}");
    std::process::exit(if option { 2 } else { 1 })
}

/// Joins the job that a launcher has started or that the options name; without one, this process
/// trains alone. The other processes may take long to arrive: an interrupt ends the wait.
fn join(context: &Context, o: &Options) -> Result<Option<Comm>> {
    let mut meeting = Meeting::new().host(&o.host);
    if let Some(file) = &o.token_file {
        meeting = meeting.token_file(Path::new(file));
    }
    if let Some(name) = &o.interface {
        meeting = meeting.interface(name);
    }
    let slice = Duration::from_millis(200);
    loop {
        let joined = match o.by_hand {
            true => Comm::join_timeout(context, &meeting, &o.comm, slice),
            false => Comm::from_env_timeout(context, &o.comm, slice),
        };
        match joined {
            Err(error) if !o.by_hand && error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(Poll::Ready(comm)) => return Ok(Some(comm)),
            Ok(Poll::Pending) if interrupted() => end_by_interrupt(context),
            Ok(Poll::Pending) => {}
        }
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
            let config = PlantedConfig::new().num_nodes(nodes.unwrap_or(50_000));
            Some(Graph::planted(context, &config))
        }
        "products" => {
            let config = LogNormalConfig::new().num_nodes(nodes.unwrap_or(244_903));
            Some(Graph::log_normal(context, &config))
        }
        _ => None,
    }
}

/// Waits for data; an interrupt ends the wait.
fn await_data(
    context: &Context,
    mut open: impl FnMut(Duration) -> Result<Poll<Dataset>>,
) -> Result<Dataset> {
    loop {
        match open(Duration::from_millis(200))? {
            Poll::Ready(data) => return Ok(data),
            Poll::Pending if interrupted() => end_by_interrupt(context),
            Poll::Pending => {}
        }
    }
}

/// This process's share of a graph in parts.
fn open_share(context: &Context, comm: &Comm, o: &Options) -> Result<Dataset> {
    let names = ["tls_certificate", "tls_key", "tls_authority"];
    for (option, file) in names.into_iter().zip(&o.tls) {
        if let Some(file) = file {
            context.set_option(option, file)?;
        }
    }
    let asking = OpenPartsConfig::new()
        .reading(o.reading)
        .insecure(o.insecure);
    await_data(context, |slice| {
        Dataset::open_parts_timeout(context, comm, &o.dataset, &asking, slice)
    })
}

/// The data of graph servers.
fn open_served(context: &Context, addresses: &str, o: &Options) -> Result<Dataset> {
    let mut asking = ServedConfig::new()
        .patience(o.server_patience)
        .insecure(o.insecure);
    if let [Some(certificate), Some(key), Some(authority)] = &o.tls {
        asking = asking
            .tls_certificate(certificate)
            .tls_key(key)
            .tls_authority(authority);
    }
    let token = o.token_file.as_ref().map(Path::new);
    await_data(context, |slice| {
        Dataset::open_served_timeout(context, addresses, token, &asking, slice)
    })
}

/// Opens or makes the data.
fn open_data(context: &Context, comm: Option<&Comm>, o: &Options) -> Result<Dataset> {
    let holds_parts = Path::new(&o.dataset).join("manifest.json").is_file();
    let data = match (generate(context, &o.dataset), comm) {
        (Some(graph), _) => Dataset::from_graph(&graph?, "x", "y", Task::Multiclass, 0)?,
        (None, Some(comm)) if holds_parts => open_share(context, comm, o)?,
        (None, _) => match o.dataset.strip_prefix("served:") {
            Some(addresses) => open_served(context, addresses, o)?,
            None => {
                let reading = o.settings.of("dataset");
                let reading = reading.fold(DatasetConfig::new(), |c, (name, to)| c.set(name, to));
                await_data(context, |slice| {
                    Dataset::open_timeout(context, &o.dataset, &reading, slice)
                })?
            }
        },
    };
    match o.normalize_rows || o.no_edges {
        true => transform(data, o),
        false => Ok(data),
    }
}

/// Takes the graph of `data`, changes it as the options say, and puts the data set's splits and
/// weights around the new one.
fn transform(data: Dataset, o: &Options) -> Result<Dataset> {
    let (mut graph, info) = (data.graph()?, data.info()?);
    let names = data.names()?;
    let (features, labels) = (
        names.features.map(str::to_string),
        names.labels.map(str::to_string),
    );
    if o.normalize_rows {
        graph = graph.normalized(features.as_deref().unwrap_or(""))?;
    }
    if o.no_edges {
        graph = graph.transformed(Transform::RemoveEdges, 0)?;
    }
    let (features, labels) = (features.as_deref(), labels.as_deref());
    let mut result = match data.graph_ptr() {
        Ok(starts) => {
            let (starts, of_graphs) = (starts.as_slice()?, data.labels()?);
            let (task, classes) = (info.task, info.num_classes);
            Dataset::from_graphs(&graph, starts, features, Some(&of_graphs), task, classes)?
        }
        Err(_) => Dataset::from_graph(&graph, features, labels, info.task, info.num_classes)?,
    };
    for (name, split) in data.splits()? {
        let selected = data.select_split(name, split.index as usize)?;
        let part = |part| selected.split(part);
        let (train, rest) = (part(Part::Train)?, part(Part::Validation)?);
        let test = part(Part::Test)?;
        result.add_split(name, train.as_slice()?, rest.as_slice()?, test.as_slice()?)?;
    }
    if let Ok(weights) = data.class_weights() {
        result.set_class_weights(weights.as_slice()?)?;
    }
    if let Ok(weights) = data.sample_weights() {
        result.set_sample_weights(Some(&weights))?;
    }
    Ok(result)
}

/// Chooses the split of a run: the requested one, a random one, or the first. True for a random one.
fn choose_split(data: &mut Dataset, o: &Options, run: u64) -> Result<bool> {
    let run = if o.vary_split { run } else { 0 };
    let drawn = o.random_split.is_some() || (data.info()?.num_splits == 0 && o.split.is_none());
    if drawn {
        let mut random = SplitConfig::new().seed(o.seed + run);
        if let Some((train, validation)) = o.random_split {
            random = random.train_fraction(train).validation_fraction(validation);
        }
        data.add_random_split("random", &random)?;
    } else {
        let (name, index) = o
            .split
            .as_ref()
            .map_or(("", 0), |(name, index)| (name, *index));
        let name = Some(name).filter(|name| !name.is_empty());
        *data = data.select_split(name, index + run as usize)?;
    }
    if o.balance_classes {
        data.balance_classes()?;
    }
    Ok(drawn)
}

/// The input of a model of data without features.
fn input(data: &Dataset, o: &Options) -> Result<Option<Input>> {
    let of_nodes = o.settings.get("model", "architecture") == "rgcn"
        && !o.settings.given("model", "num_blocks");
    Ok(match (data.info()?.feature_dim, of_nodes) {
        _ if o.settings.given("model", "input") => None,
        (0, true) => Some(Input::Nodes),
        (0, false) => Some(Input::Embedding),
        _ => None,
    })
}

fn make_trainer(
    context: &Context,
    data: &Dataset,
    comm: Option<&Comm>,
    o: &Options,
    seed: u64,
) -> Result<Trainer> {
    let layers = o.settings.of("model");
    let mut layers = layers.fold(ModelConfig::new(), |c, (name, to)| c.set(name, to));
    if let Some(input) = input(data, o)? {
        layers = layers.input(input);
    }
    let layers = layers.seed(seed);
    let mut model = Model::new(context, data, &layers)?;
    if let Some(file) = &o.load {
        model.load(file)?;
    }
    let sampling = o.settings.of("sampler");
    let sampling = sampling.fold(SamplerConfig::new(), |c, (name, to)| c.set(name, to));
    let sampler = match o.settings.get("model", "readout") {
        "none" => Sampler::new(&data.graph()?, &sampling)?,
        _ => Sampler::graphs(data, &sampling)?, // taken whole
    };
    let training = o.settings.of("trainer");
    let training = training.fold(TrainerConfig::new(), |c, (name, to)| c.set(name, to));
    let training = training.seed(seed);
    let mut trainer = match comm {
        Some(comm) => Trainer::with_comm(model, data, &sampler, comm, &training)?,
        None => Trainer::new(model, data, &sampler, &training)?,
    };
    if let Some(file) = &o.log {
        trainer.set_record(Record::JsonLines, Path::new(file))?;
    }
    if let Some(folder) = &o.tensorboard {
        trainer.set_record(Record::Tensorboard, Path::new(folder))?;
    }
    Ok(trainer)
}

/// Makes the trainer write checkpoints, and continues from the newest on request.
fn use_checkpoints(
    context: &Context,
    trainer: &mut Trainer,
    folder: &str,
    o: &Options,
    speaks: bool,
) -> Result<()> {
    trainer.set_checkpoints(Path::new(folder), &o.checkpoint)?;
    if !o.resume {
        return Ok(());
    }
    let loaded = trainer.load(folder);
    common::Warnings::of(context); // names a skipped checkpoint
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

/// Trains to the end, or until the user interrupts: then all ranks stop after the same step, with
/// the weights of that step. A second interrupt cancels the step, and the program ends.
fn train(context: &Context, trainer: &mut Trainer, progress: &mut Progress) -> Result<()> {
    let (remote, display, metric) = (trainer.remote(), progress.display, progress.metric);
    let over = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut stopping = false;
            while !over.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(100));
                if interrupted() && !stopping {
                    stopping = true;
                    display.say("stopping after this step; again: at once");
                    remote.stop();
                }
                if twice() {
                    remote.cancel();
                }
                display.draw(remote, metric);
            }
            display.clear();
        });
        let result = trainer.run(|epoch| progress.epoch(epoch));
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    });
    match result {
        Err(_) if twice() => end_by_interrupt(context),
        other => other,
    }
}

/// A second interrupt ends the program here as well.
fn evaluate(
    context: &Context,
    trainer: &mut Trainer,
    part: Part,
    display: Display,
) -> Result<Metrics> {
    display.busy("evaluating");
    let result = loop {
        match trainer.evaluate_timeout(part, Duration::from_millis(200)) {
            Ok(Poll::Pending) if twice() => end_by_interrupt(context),
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(metrics)) => break Ok(metrics),
            Err(error) => break Err(error),
        }
    };
    display.clear();
    result
}

/// The metric of the epoch lines, for regression not the accuracy, and that of the result: the loss
/// is printed as well.
fn measures(data: &Dataset, o: &Options) -> Result<(&'static Measure, &'static Measure)> {
    let best_by = o.settings.get("trainer", "best_by");
    let regression = data.info()?.task == Task::Regression;
    let validated = Measure::of(if regression && best_by != "mae" {
        "rmse"
    } else {
        best_by
    });
    let tested = match best_by {
        "loss" if !regression => Measure::of("accuracy"),
        _ => validated,
    };
    Ok((validated, tested))
}

fn print_head(
    context: &Context,
    data: &Dataset,
    model: &Model,
    o: &Options,
    drawn: bool,
    processes: usize,
) -> Result<()> {
    let (info, layers) = (data.info()?, model.info()?);
    let DatasetInfo {
        num_nodes,
        num_edges,
        feature_dim,
        num_classes,
        ..
    } = info;
    let size = |part| data.split(part).map(|ids| ids.len());
    let (train, validation) = (size(Part::Train)?, size(Part::Validation)?);
    println!(
        "data    {}: {num_nodes} nodes, {num_edges} edges, {feature_dim} features, {num_classes} classes",
        o.dataset
    );
    println!(
        "split   {train} train, {validation} validation, {} test{}",
        size(Part::Test)?,
        if drawn { ", drawn at random" } else { "" }
    );
    let name = match layers.architecture {
        Architecture::Sage => {
            let aggregation = o.settings.get("model", "aggregation");
            format!("GraphSAGE {}", aggregation.replace("default", "mean"))
        }
        other => other.to_string(),
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
    let fanouts = match o.settings.get("model", "readout") {
        "none" => {
            let fanouts = o.settings.get("sampler", "fanouts").replace(',', " ");
            format!(", fan-outs {fanouts}")
        }
        _ => String::new(), // graphs are taken whole
    };
    let setting = |name| o.settings.get("trainer", name);
    let ranks = match (setting("num_ranks"), setting("devices")) {
        (_, devices) if !devices.is_empty() => {
            let count = devices.split(',').count();
            format!("{count} on GPU {}", devices.replace(',', ", "))
        }
        ("0", _) if setting("device") != "cpu" && !context.devices()?.is_empty() => match processes
        {
            1 => "one a GPU".to_string(),
            _ => "one a GPU of its share".to_string(),
        },
        ("0", _) => "1".to_string(),
        (many, _) => many.to_string(),
    };
    println!("ranks   {ranks} in {place}{fanouts}\n");
    Ok(())
}

/// The best possible accuracy on the generated graphs is known: the share of test labels that the
/// generator's own likelihoods predict correctly (the library's docs explain the computation).
fn print_ceiling(o: &Options) {
    match o.dataset.as_str() {
        "planted" => println!(
            "        reachable: 0.391 from own features, 0.740 with one hop, 0.909 with two"
        ),
        "products" => println!(
            "        reachable: 0.229 from own features, 0.608 with one hop, 0.882 with two"
        ),
        _ => {}
    }
}

fn print_test(
    trainer: &Trainer,
    part: Part,
    measure: &Measure,
    test: &Metrics,
    o: &Options,
) -> Result<()> {
    let (at, name, value) = (trainer.progress()?, measure.name, (measure.of)(test));
    let above = if o.quiet { "" } else { "\n" };
    let label = if part == Part::Test {
        "test   "
    } else {
        "held out"
    };
    print!("{above}{label} {name} {value:.4}, loss {:.4}", test.loss);
    if at.has_validation && at.best_epoch >= 0 && at.state == TrainerState::Finished {
        let (epoch, best) = (at.best_epoch + 1, at.best_validation);
        print!(" (weights of epoch {epoch}, validation {best:.4})");
    }
    println!();
    print_ceiling(o);
    Ok(())
}

fn print_mean(label: &str, name: &str, runs: &Sums, when: &str) {
    let (mean, error, count) = (runs.mean(), runs.error(), runs.count);
    println!(
        "{label:7} {name} {mean:.4} +- {error:.4} (mean and standard error of {count} runs{when})"
    );
}

/// If folds are held out for validation: the epoch with the best mean of the runs' curves, and,
/// because the same data selects and measures that epoch, the end of the curves.
fn print_curve(curve: &Curve, metric: &Measure) {
    let (name, largest) = (metric.name, !metric.smaller_is_better);
    let Some((epoch, runs)) = curve.best(largest) else {
        return;
    };
    print_mean(
        "result",
        name,
        runs,
        &format!(" after epoch {}, the best in the mean", epoch + 1),
    );
    let when = format!(", each over its last {LAST} validations");
    print_mean("last", name, &curve.last_means, &when);
}

/// Better before the training than after it: a file or folder that can be replaced, or a new one
/// in a folder. A link to nothing, a FIFO or a device is neither.
fn check_place(option: &str, path: &str) {
    let folder = match Path::new(path).parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let fault = match std::fs::metadata(path) {
        _ if option == "save" && !folder.is_dir() => {
            format!("there is no folder {}", folder.display())
        }
        Ok(there) if !there.is_file() && !there.is_dir() => "is neither a file nor a folder".into(),
        Ok(there) if there.permissions().readonly() => "cannot be written to".into(),
        Err(_) if std::fs::symlink_metadata(path).is_ok() => "is a link to nothing".into(),
        _ => return,
    };
    eprintln!("train: --{option} {path}: {fault}");
    std::process::exit(2);
}

fn main() {
    let o = Options::parse().unwrap_or_else(|error| refuse(error));
    for (option, path) in [
        ("save", &o.save),
        ("log", &o.log),
        ("tensorboard", &o.tensorboard),
        ("checkpoints", &o.checkpoints),
    ] {
        if let Some(path) = path {
            check_place(option, path);
        }
    }
    hear_interrupts();
    run(&o).unwrap_or_else(|error| refuse(error));
    if interrupted() {
        std::process::exit(130);
    }
}

fn run(o: &Options) -> Result<()> {
    let begin = Instant::now();
    let context = Context::new()?;
    let warnings = common::Warnings::of(&context);
    let comm = join(&context, o)?;
    let (process, processes) = match &comm {
        Some(comm) => (comm.rank()?, comm.world_size()?),
        None => (0, 1),
    };
    let speaks = process == 0; // one process of a job prints and saves
    let quiet = o.quiet || !speaks;
    let display = Display {
        bar: !quiet && std::io::stderr().is_terminal() && std::io::stdout().is_terminal(),
        quiet,
    };
    display.busy(&format!("loading {}", o.dataset));
    let data = open_data(&context, comm.as_ref(), o);
    display.clear();
    let mut data = data?;
    warnings.print();
    let (metric, tested) = measures(&data, o)?;
    let (mut tests, mut curve) = (Sums::default(), Curve::default());
    let mut part = Part::Test;
    for run in 0..o.runs {
        if interrupted() {
            break;
        }
        let drawn = choose_split(&mut data, o, run)?;
        part = match data.split(Part::Test)?.is_empty() {
            true => Part::Validation,
            false => Part::Test,
        };
        let mut trainer = make_trainer(&context, &data, comm.as_ref(), o, o.seed + run)?;
        let mut progress = Progress::new(display, metric, &mut curve);
        if run == 0 && speaks {
            print_head(&context, &data, trainer.model(), o, drawn, processes)?;
        }
        if o.plan {
            if speaks {
                // [memory]
                train_plan::print(&trainer.memory_info(o.gpu_memory)?);
                // [memory]
            }
            break;
        }
        if let Some(folder) = &o.checkpoints {
            use_checkpoints(&context, &mut trainer, folder, o, speaks)?;
        }
        train(&context, &mut trainer, &mut progress)?;
        if let Some(file) = o.save.as_ref().filter(|_| speaks && run == 0) {
            trainer.model_mut().save(file)?;
        }
        // All may be for training.
        if !data.split(part)?.is_empty() {
            let test = evaluate(&context, &mut trainer, part, display)?;
            if speaks {
                print_test(&trainer, part, tested, &test, o)?;
            }
            if o.confusion {
                let (_, matrix) = trainer.confusion(part)?; // every process of a job
                if speaks {
                    print_classes(&matrix)?;
                }
            }
            tests.add((tested.of)(&test));
        }
        if speaks {
            progress.print_times(begin.elapsed().as_secs_f64());
            if o.times && progress.has_epochs() {
                // [ranks]
                print_ranks(&trainer.ranks()?);
                // [ranks]
            }
        }
        curve.end_run();
    }
    if speaks && tests.count > 1 {
        println!();
        match part == Part::Test || curve.is_empty() {
            true => print_mean("result", tested.name, &tests, ""),
            false => print_curve(&curve, metric),
        }
    }
    if let Some(comm) = comm {
        comm.shutdown()?; // all processes leave together
    }
    Ok(())
}
