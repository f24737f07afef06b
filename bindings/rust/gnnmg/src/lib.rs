//! Graph neural networks: sampling, models, data-parallel training.
//!
//! ```no_run
#![doc = include_str!("../docs/node_classification.rs")]
//! ```
//!
//! - [`Graph`], [`Dataset`]: training data, from arrays, files or generators;
//! - [`Sampler`], [`Loader`], [`Batch`]: mini-batches, whose arrays are read in place by `ndarray`;
//! - [`Model`], [`Optimizer`], [`Comm`]: for custom loops;
//! - [`Trainer`]: the whole loop, over one or many ranks and processes;
//! - [`Server`]: parts of a graph for trainers on other machines.
//!
//! [`conventions`] describes the common rules: errors, threads, waiting, closures, memory.

mod array;
mod batch;
mod callback;
mod comm;
mod context;
mod dataset;
mod device;
mod error;
mod generated;
mod graph;
mod graph_read;
mod handle;
mod loader;
mod model;
mod optimizer;
mod parts;
mod predictor;
mod raw;
#[cfg(gnnmg_reach)]
mod reach;
mod sampler;
mod server;
mod stack;
#[cfg(feature = "tch")]
mod tch;
mod tensor;
mod trainer;

#[doc = include_str!("../docs/conventions.md")]
pub mod conventions {}

/// The C functions as they are.
pub use gnnmg_sys as ffi;

/// The crate of the arrays, in the version that [`Tensor::view`] and others answer in.
pub use ndarray;

/// The names that programs use most, for programs that have errors of their own:
///
/// ```
/// use gnnmg::prelude::*;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let context = Context::new()?;
///     let planted = PlantedConfig::new().num_nodes(500);
///     let data = Dataset::planted(&context, &planted, &SplitConfig::new())?;
///     let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(16))?;
///     let training = TrainerConfig::new().num_epochs(2);
///     let mut trainer = Trainer::new(model, &data, None, &training)?;
///     trainer.run(|_| ())?;
///     assert!(trainer.evaluate(Part::Test)?.accuracy > 0.0);
///     Ok(())
/// }
/// ```
///
/// `Result` and `Error` are not among them; `use gnnmg::*` has all names of the crate.
pub mod prelude {
    pub use crate::generated::configs::*;
    pub use crate::generated::enums::*;
    pub use crate::generated::settings::*;
    pub use crate::{
        AsArray, AsArrayMut, Batch, Comm, Context, Dataset, Graph, Loader, Model, Optimizer,
        Predictor, Sampler, Server, Tensor, Trainer,
    };
}

pub use array::{AsArray, AsArrayMut, Element, Id};
pub use batch::Batch;
pub use callback::Outcome;
pub use comm::{Comm, CommHandle, Meeting};
pub use context::{settings, version, Context, ContextHandle, Message, Messages, SettingInfo};
pub use dataset::{Dataset, DatasetNames};
pub use device::DeviceInfo;
pub use error::{Error, Result};
pub use generated::configs::*;
pub use generated::enums::*;
pub use generated::infos::*;
pub use generated::settings::*;
pub use graph::Graph;
pub use graph_read::{Csc, Csr, EdgeType, InEdges, TensorName};
pub use loader::{Epoch, Loader, LoaderHandle};
pub use model::{Model, TensorKey};
pub use optimizer::Optimizer;
pub use predictor::Predictor;
pub use sampler::{Layer, Sampler, Sink};
pub use server::Server;
pub use tensor::{Tensor, Weights, WeightsMut};
pub use trainer::{LossBatch, Real, Trainer, TrainerHandle};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
