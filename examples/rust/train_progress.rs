//! The progress display of `train`: a bar on a terminal, one line per epoch in a pipe; and the
//! times.

use crate::train_curve::Curve;
use gnnmg::*;
use std::collections::BTreeMap;

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
    of_epoch: fn(&EpochInfo) -> f64,
    pub of_result: fn(&Metrics) -> f64,
}

macro_rules! measures {
    ($($field:ident $of_epoch:ident $name:literal $smaller:literal,)*) => {
        &[$(Measure {
            word: stringify!($field),
            name: $name,
            smaller_is_better: $smaller,
            of_epoch: |epoch| epoch.$of_epoch,
            of_result: |metrics| metrics.$field,
        },)*]
    };
}
const MEASURES: &[Measure] = measures! {
    accuracy validation_accuracy "accuracy" false,
    loss validation_loss "loss" true,
    roc_auc validation_roc_auc "ROC-AUC" false,
    f1_macro validation_f1_macro "macro F1" false,
    f1_micro validation_f1_micro "micro F1" false,
    average_precision validation_average_precision "average precision" false,
    rmse validation_rmse "RMSE" true,
    mae validation_mae "MAE" true,
};

impl Measure {
    pub fn of(word: &str) -> &'static Measure {
        let known = MEASURES.iter().find(|measure| measure.word == word);
        known.unwrap_or(&MEASURES[0])
    }
}

pub struct Progress<'a> {
    /// Standard error is a terminal and gets a bar.
    pub bar: bool,
    pub quiet: bool,
    pub metric: &'static Measure,
    /// Gets the validations.
    curve: &'a mut Curve,
    times: Times,
}

impl<'a> Progress<'a> {
    pub fn new(bar: bool, quiet: bool, metric: &'static Measure, curve: &'a mut Curve) -> Self {
        Progress {
            bar,
            quiet,
            metric,
            curve,
            times: Times::default(),
        }
    }

    /// After each epoch.
    pub fn epoch(&mut self, epoch: &EpochInfo) {
        let times = &mut self.times;
        times.epochs += epoch.seconds;
        times.evaluation += epoch.evaluation_seconds;
        times.wait += epoch.wait_seconds;
        times.compute += epoch.compute_seconds;
        times.reduce += epoch.reduce_seconds;
        times.peers += epoch.peer_wait_seconds;
        times.optimizer += epoch.optimizer_seconds;
        times.sample += epoch.sample_seconds;
        times.gather += epoch.gather_seconds;
        times.mean_busy += epoch.mean_busy_seconds;
        times.most_busy += epoch.most_busy_seconds;
        times.num_epochs += 1;
        *times.slowest.entry(epoch.slowest_rank).or_default() += 1;
        let value = (self.metric.of_epoch)(epoch);
        if epoch.evaluated {
            self.curve.add(epoch.epoch, value);
        }
        if self.quiet || self.bar {
            return;
        }
        let (number, of, loss) = (epoch.epoch + 1, epoch.num_epochs, epoch.train_loss);
        print!("epoch {number:3}/{of}  loss {loss:.4}");
        if epoch.evaluated {
            let name = self.metric.name;
            let best = if epoch.best { " *" } else { "  " };
            print!("  validation {name} {value:.4}{best}");
        }
        let seconds = epoch.seconds + epoch.evaluation_seconds;
        println!("  {seconds:.2} s  {:.0} seeds/s", epoch.seeds_per_second);
    }

    /// The closing table.
    pub fn print_times(&self, seconds: f64) {
        let times = &self.times;
        let (number, one) = (times.num_epochs, times.num_epochs.max(1) as f64);
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

/// Draws the bar once. It asks a trainer that another thread waits for.
pub fn draw(trainer: TrainerHandle, metric: &Measure) {
    const WIDTH: usize = 24;
    let Ok(at) = trainer.progress() else { return };
    let of_epoch = at.step as f64 / at.num_steps.max(1) as f64;
    let share = ((at.epoch as f64 + of_epoch) / at.num_epochs.max(1) as f64).min(1.0);
    let full = "=".repeat((share * WIDTH as f64) as usize);
    let shown = (at.epoch + 1).min(at.num_epochs as i64);
    eprint!(
        "\r[{full:.<WIDTH$}] {:3.0}%  epoch {shown}/{}  loss {:.4}",
        100.0 * share,
        at.num_epochs,
        at.loss
    );
    if at.accuracy > 0.0 {
        eprint!("  accuracy {:.4}", at.accuracy);
    }
    if at.has_validation {
        let (name, best, epoch) = (metric.name, at.best_validation, at.best_epoch + 1);
        eprint!(
            "  {name} {:.4} (best {best:.4}, epoch {epoch})",
            at.validation
        );
    }
    match at.evaluating {
        true => eprint!("  validating"),
        false => eprint!("  {:.0} seeds/s", at.seeds_per_second),
    }
    draw_times(&at);
    if share > 0.01 && share < 1.0 {
        let left = at.elapsed_seconds * (1.0 - share) / share;
        eprint!("  {}:{:02} left", left as i64 / 60, left as i64 % 60);
    }
    eprint!("\x1b[K");
}

/// The times of the epoch, on this process's first rank.
fn draw_times(at: &ProgressInfo) {
    let percent = at.seconds / 100.0;
    if percent <= 0.0 {
        return;
    }
    eprint!(
        "  wait {:.0} compute {:.0} all-reduce {:.0} peers {:.0} update {:.0} %",
        at.wait_seconds / percent,
        at.compute_seconds / percent,
        (at.reduce_seconds - at.peer_wait_seconds) / percent,
        at.peer_wait_seconds / percent,
        at.optimizer_seconds / percent
    );
    if at.sample_seconds + at.gather_seconds > 0.0 {
        let (sample, gather) = (at.sample_seconds / percent, at.gather_seconds / percent);
        eprint!(" (beside: sample {sample:.0} gather {gather:.0} %)");
    }
}

/// The times of each rank of this process in the last epoch.
pub fn print_ranks(ranks: &[RankInfo]) {
    println!("ranks   in % of epoch {}", ranks[0].epoch + 1);
    println!(
        "        rank  on     seconds  compute  reduce  peers  update    idle  waiting  \
         (sample  gather)   bus MB  hits"
    );
    for rank in ranks {
        let percent = if rank.seconds > 0.0 {
            rank.seconds / 100.0
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
            rank.seconds,
            rank.compute_seconds / percent,
            (rank.reduce_seconds - rank.peer_wait_seconds) / percent,
            rank.peer_wait_seconds / percent,
            rank.optimizer_seconds / percent,
            rank.idle_seconds / percent,
            rank.wait_seconds / percent,
            rank.sample_seconds / percent,
            rank.gather_seconds / percent
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
