//! The safe layer against the real library, one file per noun.

mod batches;
mod comm;
mod context;
mod dataset;
mod gpu;
mod graph;
mod hostile;
mod lifetimes;
mod loss;
mod model;
mod parts;
mod predictor;
mod processes;
mod sampler;
mod settings;
mod stack;
mod support;
mod tensor;
mod trainer;
mod versions;
