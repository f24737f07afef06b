//! Validation over the epochs of several runs: folds have nothing else to be measured on.

use std::collections::VecDeque;

/// Validations whose mean is taken at a run's end.
pub const LAST: usize = 10;

/// Sums from which mean and standard error follow.
#[derive(Default)]
pub struct Sums {
    pub count: usize,
    sum: f64,
    squares: f64,
}

impl Sums {
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Standard error of the mean; 0 for a single one.
    pub fn error(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = self.count as f64;
        let variance = (self.squares - self.sum * self.mean()) / (count - 1.0);
        (variance.max(0.0) / count).sqrt()
    }
}

#[derive(Default)]
pub struct Curve {
    /// Epoch, from 0, and the results of the runs there.
    points: Vec<(i64, Sums)>,
    /// Points of the current run, and its newest values.
    at: usize,
    last: VecDeque<f64>,
    /// Sums over the runs that have ended.
    pub last_means: Sums,
}

impl Curve {
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    pub fn add(&mut self, epoch: i64, value: f64) {
        if self.at == self.points.len() {
            self.points.push((epoch, Sums::default()));
        }
        self.points[self.at].1.add(value);
        self.at += 1;
        self.last.push_back(value);
        if self.last.len() > LAST {
            self.last.pop_front();
        }
    }

    pub fn end_run(&mut self) {
        if !self.last.is_empty() {
            let sum: f64 = self.last.iter().sum();
            self.last_means.add(sum / self.last.len() as f64);
        }
        self.last.clear();
        self.at = 0;
    }

    /// The epoch that is best in the mean of all runs, the largest or the smallest, the first of
    /// equals.
    pub fn best(&self, largest: bool) -> Option<(i64, &Sums)> {
        let mut best: Option<&(i64, Sums)> = None;
        // Ends where the first run has ended.
        for point in self
            .points
            .iter()
            .take_while(|(_, runs)| runs.count >= self.last_means.count)
        {
            let better = match (best, largest) {
                (None, _) => true,
                (Some((_, runs)), true) => point.1.mean() > runs.mean(),
                (Some((_, runs)), false) => point.1.mean() < runs.mean(),
            };
            if better {
                best = Some(point);
            }
        }
        best.map(|(epoch, runs)| (*epoch, runs))
    }
}
