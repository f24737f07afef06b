//! The progress display of `train`: one line per epoch, and on a terminal a bar below them, which is
//! as wide as the terminal at most; and the times.

use crate::train_curve::Curve;
use gnnmg::*;
use std::collections::BTreeMap;

extern "C" {
    /// Declared from the C library: the standard library of Rust does not know the terminal's size.
    fn ioctl(file: i32, request: std::ffi::c_ulong, ...) -> i32;
}

/// A line of parts. The first part that does not fit the width is dropped, with all after it.
struct Line {
    text: String,
    width: usize,
    full: bool,
}

impl Line {
    fn new(width: usize) -> Self {
        Line {
            text: String::new(),
            width,
            full: false,
        }
    }

    /// A line as wide as the terminal is now; the last column stays free, because a character there
    /// makes some terminals begin another line.
    fn of_terminal() -> Self {
        const TIOCGWINSZ: std::ffi::c_ulong = 0x5413;
        let mut size = [0u16; 4]; // rows, columns, pixels
        let known = unsafe { ioctl(2, TIOCGWINSZ, &mut size) } == 0 && size[1] > 1;
        Line::new(if known { size[1] as usize - 1 } else { 79 })
    }

    fn add(&mut self, part: String) {
        self.full |= self.text.len() + part.len() > self.width;
        if !self.full {
            self.text += &part;
        }
    }
}

/// The times of a training, summed over its epochs, in seconds.
#[derive(Default)]
struct Times {
    epochs: f64,
    evaluation: f64,
    wait: f64,
    compute: f64,
    reduce: f64,
    /// Part of `reduce`: waiting for slower ranks.
    peers: f64,
    optimizer: f64,
    sample: f64,
    gather: f64,
    mean_busy: f64,
    most_busy: f64,
    num_epochs: usize,
    /// Number of epochs in which a rank was the slowest.
    slowest: BTreeMap<i32, usize>,
}

/// A metric: its word in settings, its name, and where it is.
pub struct Measure {
    word: &'static str,
    pub name: &'static str,
    pub smaller_is_better: bool,
    pub of: fn(&Metrics) -> f64,
}

macro_rules! measures {
    ($($field:ident $name:literal $smaller:literal,)*) => {
        &[$(Measure {
            word: stringify!($field),
            name: $name,
            smaller_is_better: $smaller,
            of: |metrics| metrics.$field,
        },)*]
    };
}
const MEASURES: &[Measure] = measures! {
    accuracy "accuracy" false,
    loss "loss" true,
    roc_auc "ROC-AUC" false,
    f1_macro "macro F1" false,
    f1_micro "micro F1" false,
    average_precision "average precision" false,
    rmse "RMSE" true,
    mae "MAE" true,
};

impl Measure {
    pub fn of(word: &str) -> &'static Measure {
        let known = MEASURES.iter().find(|measure| measure.word == word);
        known.unwrap_or(&MEASURES[0])
    }
}

/// The place of the progress bar.
#[derive(Clone, Copy)]
pub struct Display {
    /// Standard error is a terminal and gets a bar.
    pub bar: bool,
    pub quiet: bool,
}

pub struct Progress<'a> {
    pub display: Display,
    pub metric: &'static Measure,
    /// Gets the validations.
    curve: &'a mut Curve,
    times: Times,
}

impl<'a> Progress<'a> {
    pub fn new(display: Display, metric: &'static Measure, curve: &'a mut Curve) -> Self {
        Progress {
            display,
            metric,
            curve,
            times: Times::default(),
        }
    }

    /// After each epoch.
    pub fn epoch(&mut self, epoch: &EpochInfo) {
        let times = &mut self.times;
        times.epochs += epoch.times.total;
        times.evaluation += epoch.evaluation_seconds;
        times.wait += epoch.times.wait;
        times.compute += epoch.times.compute;
        times.reduce += epoch.times.reduce;
        times.peers += epoch.times.peer_wait;
        times.optimizer += epoch.times.optimizer;
        times.sample += epoch.times.sample;
        times.gather += epoch.times.gather;
        times.mean_busy += epoch.mean_busy_seconds;
        times.most_busy += epoch.most_busy_seconds;
        times.num_epochs += 1;
        *times.slowest.entry(epoch.slowest_rank).or_default() += 1;
        let validation = epoch.validation.as_ref().map(self.metric.of);
        if let Some(value) = validation {
            self.curve.add(epoch.epoch, value);
        }
        if self.display.quiet {
            return;
        }
        let mut line = match self.display.bar {
            true => Line::of_terminal(),
            false => Line::new(usize::MAX),
        };
        let (number, of, loss) = (epoch.epoch + 1, epoch.num_epochs, epoch.train_loss);
        line.add(format!("epoch {number:3}/{of}  loss {loss:.4}"));
        if let Some(value) = validation {
            let name = self.metric.name;
            let best = if epoch.best { " *" } else { "  " };
            line.add(format!("  validation {name} {value:.4}{best}"));
        }
        let seconds = epoch.times.total + epoch.evaluation_seconds;
        line.add(format!("  {seconds:.2} s"));
        line.add(format!("  {:.0} seeds/s", epoch.seeds_per_second));
        // One write, since another thread may draw the bar, whose place the line takes.
        let clear = if self.display.bar { CLEAR } else { "" };
        println!("{clear}{}", line.text);
    }

    pub fn has_epochs(&self) -> bool {
        self.times.num_epochs > 0
    }

    /// The closing table.
    pub fn print_times(&self, seconds: f64) {
        let times = &self.times;
        if times.num_epochs == 0 {
            println!("time    {seconds:.1} s"); // interrupted in the first, or --epochs 0
            return;
        }
        let (number, one) = (times.num_epochs, times.num_epochs as f64);
        let (epoch, evaluation) = (times.epochs / one, times.evaluation / one);
        println!("time    {seconds:.1} s: {number} epochs of {epoch:.3} s, validation {evaluation:.3} s each");
        let percent = if times.epochs > 0.0 {
            times.epochs / 100.0
        } else {
            1.0
        };
        let rest = times.epochs - times.wait - times.compute - times.reduce - times.optimizer;
        println!(
            "        of an epoch on rank 0: waiting for mini-batches {:.0} %, forward and backward {:.0} %,",
            times.wait / percent,
            times.compute / percent
        );
        println!(
            "        all-reduce {:.1} %, waiting for slower ranks {:.1} %, update {:.0} %, other {:.0} %",
            (times.reduce - times.peers) / percent,
            times.peers / percent,
            times.optimizer / percent,
            rest / percent
        );
        let (sample, gather) = (times.sample, times.gather);
        println!("        beside it on rank 0's loader: sampling {sample:.2} s, gathering {gather:.2} s in all");
        let Some((rank, often)) = times.slowest.iter().max_by_key(|(_, often)| **often) else {
            return;
        };
        if times.most_busy > times.mean_busy {
            let longer = 100.0 * (times.most_busy / times.mean_busy - 1.0);
            println!(
                "        slowest rank: {rank}, in {often} of {number} epochs; \
                 the slowest is busy {longer:.1} % longer than the mean"
            );
        }
    }
}

/// Goes to the begin of the terminal's line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// One write, since another thread prints, too.
fn put(text: String) {
    eprint!("{text}");
}

impl Display {
    /// Draws the bar once. It asks a trainer that another thread waits for.
    pub fn draw(self, trainer: TrainerHandle, metric: &Measure) {
        const WIDTH: usize = 24;
        let Some(at) = trainer.progress().ok().filter(|_| self.bar) else {
            return;
        };
        let of_epoch = at.step as f64 / at.num_steps.max(1) as f64;
        let share = ((at.epoch as f64 + of_epoch) / at.num_epochs.max(1) as f64).min(1.0);
        let full = "=".repeat((share * WIDTH as f64).ceil() as usize);
        let shown = (at.epoch + 1).min(at.num_epochs as i64);
        let mut line = Line::of_terminal(); // the most important parts first
        line.add(format!("[{full:.<WIDTH$}] {:3.0}%", 100.0 * share));
        line.add(format!("  epoch {shown}/{}", at.num_epochs));
        let begun = at.seeds_per_second > 0.0;
        if begun {
            line.add(format!("  loss {:.4}", at.loss));
        }
        if share > 0.01 && share < 1.0 {
            let left = at.elapsed_seconds * (1.0 - share) / share;
            line.add(format!(
                "  {}:{:02} left",
                left as i64 / 60,
                left as i64 % 60
            ));
        }
        if at.evaluating {
            line.add("  validating".to_string());
        }
        if at.has_validation {
            line.add(format!("  validation {} {:.4}", metric.name, at.validation));
        }
        if at.accuracy > 0.0 {
            line.add(format!("  training accuracy {:.4}", at.accuracy));
        }
        if at.has_validation {
            let (best, epoch) = (at.best_validation, at.best_epoch + 1);
            line.add(format!("  best {best:.4} in epoch {epoch}"));
        }
        if begun {
            line.add(format!("  {:.0} seeds/s", at.seeds_per_second));
        }
        add_times(&mut line, &at);
        put(format!("\r{}\x1b[K", line.text));
    }

    /// Wipes the bar, so that other text can follow.
    pub fn clear(self) {
        if self.bar {
            put(CLEAR.to_string());
        }
    }

    /// Names the present work in the place of the bar, until that is wiped.
    pub fn busy(self, what: &str) {
        if self.bar {
            let fits = Line::of_terminal().width.saturating_sub(4);
            let what = what.chars().take(fits).collect::<String>();
            put(format!("\r{what} ...\x1b[K"));
        }
    }

    /// Prints a line on standard error, above the bar.
    pub fn say(self, text: &str) {
        self.clear();
        put(format!("{text}\n"));
    }
}

/// The times of the epoch, on this process's first rank.
fn add_times(line: &mut Line, at: &ProgressInfo) {
    let percent = at.times.total / 100.0;
    if percent <= 0.0 {
        return;
    }
    line.add(format!(
        "  wait {:.0} compute {:.0} all-reduce {:.0} peers {:.0} update {:.0} %",
        at.times.wait / percent,
        at.times.compute / percent,
        (at.times.reduce - at.times.peer_wait) / percent,
        at.times.peer_wait / percent,
        at.times.optimizer / percent
    ));
    if at.times.sample + at.times.gather > 0.0 {
        let (sample, gather) = (at.times.sample / percent, at.times.gather / percent);
        line.add(format!(
            " (beside: sample {sample:.0} gather {gather:.0} %)"
        ));
    }
}

/// A table of classes, or of the targets of a binary task, from a confusion matrix.
pub fn print_classes(confusion: &Tensor) -> Result<()> {
    let (shape, matrix) = (confusion.shape(), confusion.as_slice::<i64>()?);
    let (targets, n) = (shape.len() == 3, shape[1]);
    let head = if targets { "target" } else { "class " };
    println!("{head}     rows  precision  recall      F1");
    for c in 0..shape[0] {
        let (of, index) = if targets {
            (&matrix[4 * c..], 1)
        } else {
            (matrix, c)
        };
        let rows: i64 = (0..n).map(|i| of[index * n + i]).sum();
        let predicted: i64 = (0..n).map(|i| of[i * n + index]).sum();
        let correct = of[index * n + index] as f64;
        println!(
            "{c:6}  {rows:7}  {:9.4}  {:6.4}  {:6.4}",
            correct / predicted.max(1) as f64,
            correct / rows.max(1) as f64,
            2.0 * correct / (rows + predicted).max(1) as f64
        );
    }
    Ok(())
}

/// The times of each rank of this process in the last epoch.
pub fn print_ranks(ranks: &[RankInfo]) {
    println!("ranks   in % of epoch {}", ranks[0].epoch + 1);
    println!(
        "        rank  on     seconds  compute  reduce  peers  update    idle  waiting  \
         (sample  gather)   bus MB  hits"
    );
    for rank in ranks {
        let percent = if rank.times.total > 0.0 {
            rank.times.total / 100.0
        } else {
            1.0
        };
        let on = match rank.device {
            -1 => "CPU".to_string(),
            gpu => format!("GPU {gpu}"),
        };
        print!(
            "        {:4}  {on:6} {:7.2}  {:7.1}  {:6.1}  {:5.1}  {:6.1}  {:6.1}  {:7.1}  ({:6.1}  {:6.1})",
            rank.rank,
            rank.times.total,
            rank.times.compute / percent,
            (rank.times.reduce - rank.times.peer_wait) / percent,
            rank.times.peer_wait / percent,
            rank.times.optimizer / percent,
            rank.idle_seconds / percent,
            rank.times.wait / percent,
            rank.times.sample / percent,
            rank.times.gather / percent
        );
        if rank.device >= 0 {
            print!("  {:7.1}", rank.bus_bytes as f64 * 1e-6);
        }
        if rank.num_rows > 0 {
            let hits = 100.0 * rank.num_rows_there as f64 / rank.num_rows as f64;
            print!("  {hits:.0} %");
        }
        println!();
    }
}
