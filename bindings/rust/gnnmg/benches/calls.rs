//! Measures this crate's overhead over C: a call that reads a property, an epoch of the caller's
//! own loop, and reading a mini-batch's features. Prints each limit with the measured value; exits
//! with 1 if one is missed.
//!
//! `cargo bench -p gnnmg [-- --rounds <epochs>]`
//!
//! The other side is the program `bench_calls` of the library's tests, in the build folder with
//! `GNNMG_BENCH` on, or at the path in `GNNMG_BENCH_CALLS`; the two take turns. Without it the C
//! functions are called from here.

use gnnmg::*;
use ndarray::ArrayView2;
use std::ffi::CString;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::ptr::{null, null_mut};
use std::time::Instant;

// Same values as in tests/bench/calls.c.
const NODES: usize = 20_000;
const CALLS: u32 = 200_000;

const PROPERTY_ROUNDS: usize = 21;
const EPOCH_ROUNDS: usize = 61; // unless --rounds says another number

/// Seconds.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}
extern "C" {
    fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
}

/// CPU time of this process, all threads together.
fn cpu() -> f64 {
    const PROCESS: i32 = 2;
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(PROCESS, &mut time) };
    time.seconds as f64 + 1e-9 * time.nanoseconds as f64
}

fn measure(work: impl FnOnce()) -> Cost {
    let (begin, before) = (Instant::now(), cpu());
    work();
    Cost { wall: begin.elapsed().as_secs_f64(), cpu: cpu() - before }
}

/// Calls a C function, which has to succeed.
macro_rules! c {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let status = unsafe { ffi::$function($($argument),*) };
        assert!(status >= 0, "{} answers {status}", stringify!($function));
        status
    }};
}

/// The objects of a C program; they go with the process.
struct Raw {
    graph: *mut ffi::gnnmg_graph,
    loader: *mut ffi::gnnmg_loader,
    model: *mut ffi::gnnmg_model,
    optimizer: *mut ffi::gnnmg_optimizer,
}

impl Raw {
    fn new() -> Self {
        let (mut context, mut graph, mut data) = (null_mut(), null_mut(), null_mut());
        let (mut sampler, mut loader) = (null_mut(), null_mut());
        let (mut model, mut optimizer) = (null_mut(), null_mut());
        c!(gnnmg_context_create(ffi::GNNMG_VERSION as i32, null(), &mut context));
        let planted = CString::new(format!("num_nodes={NODES}")).unwrap();
        c!(gnnmg_dataset_generate(context, c"planted".as_ptr(), planted.as_ptr(), &mut data));
        c!(gnnmg_dataset_get_graph(data, 0, &mut graph));
        c!(gnnmg_sampler_create(graph, null(), null(), &mut sampler));
        c!(gnnmg_loader_create(data, sampler, null(), null(), &mut loader));
        c!(gnnmg_model_create(context, data, null(), null(), &mut model));
        c!(gnnmg_optimizer_create(model, null(), &mut optimizer));
        Raw { graph, loader, model, optimizer }
    }

    fn property(&self) {
        for _ in 0..CALLS {
            let mut count = 0;
            c!(gnnmg_graph_num_nodes(black_box(self.graph), 0, &mut count));
            black_box(count);
        }
    }

    fn epoch(&self) {
        let (mut batch, mut logits, mut loss) = (null_mut(), null_mut(), 0.0);
        while c!(gnnmg_loader_next(self.loader, &mut batch, -1)) != ffi::GNNMG_END {
            c!(gnnmg_model_forward(self.model, batch, &mut logits));
            c!(gnnmg_model_backward(self.model, ffi::GNNMG_LOSS_AUTO, &mut loss));
            c!(gnnmg_optimizer_step(self.optimizer));
            unsafe {
                ffi::gnnmg_tensor_free(logits);
                ffi::gnnmg_batch_free(batch);
            }
        }
    }
}

/// The program in C: one answer per line.
struct Program {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Program {
    fn find() -> Option<Self> {
        let built = |dir| PathBuf::from(dir).join("tests/bench/bench_calls");
        let path = match std::env::var_os("GNNMG_BENCH_CALLS") {
            Some(path) => PathBuf::from(path),
            None => std::env::var_os("GNNMG_DIR").map(built).filter(|path| path.exists())?,
        };
        let mut command = Command::new(&path);
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Some(Program { child, questions, answers })
    }

    fn ask(&mut self, what: &str) -> Cost {
        let mut line = String::new();
        writeln!(self.questions.as_mut().expect("it is a pipe"), "{what}").unwrap();
        self.answers.read_line(&mut line).unwrap();
        let mut numbers = line.split_whitespace().map(|number| number.parse::<f64>());
        match (numbers.next(), numbers.next()) {
            (Some(Ok(wall)), Some(Ok(cpu))) => Cost { wall, cpu },
            _ => panic!("bench_calls answers {line:?} to {what:?}"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.questions = None; // the end of its input is the end of it
        let _ = self.child.wait();
    }
}

enum Other {
    Program(Box<Program>),
    Functions(Raw),
}

impl Other {
    fn property(&mut self) -> Cost {
        match self {
            Other::Program(program) => program.ask("property"),
            Other::Functions(raw) => measure(|| raw.property()),
        }
    }

    fn epoch(&mut self) -> Cost {
        match self {
            Other::Program(program) => program.ask("epoch"),
            Other::Functions(raw) => measure(|| raw.epoch()),
        }
    }
}

/// Median, and the quartiles, between which half of the values lie.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5), at(0.25), at(0.75))
}

/// Costs of rounds in turns. The order changes each time, so that neither has an advantage.
struct Rounds(Vec<(Cost, Cost)>);

impl Rounds {
    fn new(count: usize, mut in_c: impl FnMut() -> Cost, mut here: impl FnMut() -> Cost) -> Self {
        let (_, _) = (in_c(), here()); // the first of both fills caches and arenas
        let round = |number| match number % 2 {
            0 => (in_c(), here()),
            _ => {
                let ours = here();
                (in_c(), ours)
            }
        };
        Rounds((0..count).map(round).collect())
    }

    fn of(&self, value: impl Fn(&(Cost, Cost)) -> f64) -> (f64, f64, f64) {
        spread(self.0.iter().map(value).collect())
    }
}

/// The number after `--rounds`.
fn epoch_rounds() -> usize {
    let mut words = std::env::args().skip_while(|word| word != "--rounds").skip(1);
    match words.next().map(|number| number.parse()) {
        Some(Ok(number)) if number > 0 => number,
        Some(_) => panic!("--rounds: expected a number above 0"),
        None => EPOCH_ROUNDS,
    }
}

fn verdict(missed: &mut bool, holds: bool, bar: &str) -> String {
    *missed |= !holds;
    format!("{} {bar}", if holds { "within" } else { "MISSED:" })
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let planted = PlantedConfig::new().num_nodes(NODES);
    let data = Dataset::planted(&context, &planted, &SplitConfig::new())?;
    let graph = data.graph()?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new())?;
    let mut model = Model::new(&context, &data, &ModelConfig::new())?;
    let mut optimizer = Optimizer::new(&mut model, &OptimizerConfig::new())?;
    let mut other = match Program::find() {
        Some(program) => Other::Program(Box::new(program)),
        None => Other::Functions(Raw::new()),
    };
    let mut missed = false;
    match other {
        Other::Program(_) => println!("C: the program bench_calls, in turns with this one"),
        Other::Functions(_) => println!("C: its functions called from here; no bench_calls found"),
    }

    let rounds = Rounds::new(
        PROPERTY_ROUNDS,
        || other.property(),
        || {
            measure(|| {
                for _ in 0..CALLS {
                    black_box(black_box(&graph).num_nodes(0).unwrap());
                }
            })
        },
    );
    let nanoseconds = 1e9 / f64::from(CALLS);
    let in_c = rounds.of(|(c, _)| c.cpu * nanoseconds).0;
    let here = rounds.of(|(_, here)| here.cpu * nanoseconds).0;
    let (more, least, most) = rounds.of(|(c, here)| (here.cpu - c.cpu) * nanoseconds);
    let said = verdict(&mut missed, more <= 100.0, "100 ns beyond C's own");
    println!(
        "property   C {in_c:.1} ns, here {here:.1} ns: {more:+.1} ns ({least:+.1} to {most:+.1}), {said}"
    );

    let rounds = Rounds::new(
        epoch_rounds(),
        || other.epoch(),
        || {
            measure(|| {
                for batch in loader.epoch() {
                    model.forward(&batch.unwrap()).unwrap();
                    model.backward(Loss::Auto).unwrap();
                    optimizer.step(&mut model).unwrap();
                }
            })
        },
    );
    for (name, time) in
        [("wall", (|cost| cost.wall) as fn(&Cost) -> f64), ("CPU", |cost: &Cost| cost.cpu)]
    {
        let (in_c, here) = (rounds.of(|(c, _)| time(c)).0, rounds.of(|(_, here)| time(here)).0);
        let (more, least, most) = rounds.of(|(c, here)| 100.0 * (time(here) / time(c) - 1.0));
        let said = verdict(&mut missed, more <= 2.0, "2 % of the C program");
        println!(
            "epoch      {name:4}  C {in_c:.4} s, here {here:.4} s: {more:+.2} % ({least:+.1} to {most:+.1}), {said}"
        );
    }

    let mut same = true;
    for batch in loader.epoch() {
        let features = batch?.features()?;
        let rows: ArrayView2<f32> = features.view()?;
        let (address, numbers) = (rows.as_ptr(), rows.len() as i64);
        let mut info = unsafe { std::mem::zeroed::<ffi::gnnmg_tensor_info>() };
        info.struct_size = std::mem::size_of_val(&info) as u32;
        let (dlpack, mut raw) = (features.into_dlpack()?, std::ptr::null_mut());
        c!(gnnmg_tensor_from_dlpack(dlpack, &mut raw));
        c!(gnnmg_tensor_get_info(raw, &mut info));
        same &= std::ptr::eq(address, info.data.cast()) && numbers == info.num_elements;
        unsafe { ffi::gnnmg_tensor_free(raw) };
    }
    let said = verdict(&mut missed, same, "the library's memory");
    println!("features   an epoch's views lie {said}");
    std::process::exit(i32::from(missed))
}
