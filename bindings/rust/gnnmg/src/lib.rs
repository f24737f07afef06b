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
