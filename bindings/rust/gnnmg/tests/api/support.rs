//! Shared tools of the tests: small data, a temporary folder, and short checks of errors.

use gnnmg::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub const SOON: Duration = Duration::from_millis(20);

/// A context, a generated graph of `num_nodes` nodes, and a data set around it with a split.
pub fn planted(num_nodes: usize) -> (Context, Graph, Dataset) {
    let context = Context::new().unwrap();
    let config = PlantedConfig::new().num_nodes(num_nodes).num_classes(4).num_features(8);
    let graph = Graph::planted(&context, &config).unwrap();
    let mut data = Dataset::from_graph(&graph, "x", "y", Task::Multiclass, 0).unwrap();
    data.add_random_split("random", &SplitConfig::new()).unwrap();
    (context, graph, data)
}

/// A directed ring of `n` nodes: v to v + 1.
pub fn ring(context: &Context, n: i64) -> Graph {
    let sources: Vec<i64> = (0..n).collect();
    let targets: Vec<i64> = (0..n).map(|v| (v + 1) % n).collect();
    Graph::from_coo(context, n as usize, &sources, &targets).unwrap()
}

pub fn small_model(context: &Context, data: &Dataset) -> Model {
    Model::new(context, data, &ModelConfig::new().hidden_dim(8)).unwrap()
}

pub fn small_trainer(config: &TrainerConfig) -> Trainer {
    let (context, graph, data) = planted(400);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    Trainer::new(small_model(&context, &data), &data, &sampler, config).unwrap()
}

pub fn training() -> TrainerConfig {
    TrainerConfig::new().batch_size(64).num_epochs(3).torch_threads(1)
}

#[track_caller]
pub fn expect<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind, text: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(text), "{error:?} says nothing of {text:?}");
}

/// A folder that goes with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gnnmg-rust-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Asks again until it is so; says after a minute whether it ever was.
pub fn becomes_true(mut condition: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(SOON);
    }
    true
}

/// Calls again until the work is done.
pub fn finish<T>(mut call: impl FnMut() -> Result<std::task::Poll<T>>) -> Result<T> {
    loop {
        if let std::task::Poll::Ready(value) = call()? {
            return Ok(value);
        }
    }
}
