//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The facts that come out, a plain struct each.

use crate::raw::{facts, info};

info! {
    /// Facts about a context.
    pub struct ContextInfo(gnnmg_context_info) {
        /// Threads, including the caller's.
        num_threads: usize,
        /// Cores of this process.
        num_cores: usize,
        /// LibTorch's version, as `GNNMG_VERSION`.
        torch_version: i32,
        /// Bytes; 0: none.
        memory_limit: usize,
        /// Bytes in use.
        memory_used: usize,
    }
}

info! {
    /// Facts about a data set.
    pub struct DatasetInfo(gnnmg_dataset_info) {
        /// Meaning of the labels.
        task: crate::Task,
        /// Number of graphs.
        num_graphs: usize,
        /// Nodes of all graphs.
        num_nodes: usize,
        /// Edges of all graphs.
        num_edges: usize,
        /// Columns of the features, or 0.
        feature_dim: usize,
        /// Classes or targets; 0 without labels.
        num_classes: usize,
        /// Number of splits.
        num_splits: usize,
    }
}

info! {
    /// Sizes of one split.
    pub struct SplitInfo(gnnmg_split_info) {
        /// Index among splits of this name.
        index: i32,
        /// Training ids.
        num_train: usize,
        /// Validation ids.
        num_validation: usize,
        /// Test ids.
        num_test: usize,
    }
}

info! {
    /// Facts about all parts of a data set. From `kept_rows` on: reads of data sets of
    /// gnnmg_dataset_open_parts() and gnnmg_dataset_open_served().
    pub struct PartsInfo(gnnmg_parts_info) {
        /// Parts.
        num_parts: usize,
        /// Nodes of all parts.
        num_nodes: usize,
        /// Edges of all parts.
        num_edges: usize,
        /// Edges between two parts.
        cut_edges: usize,
        /// `cut_edges` / `num_edges`.
        cut: f64,
        /// Nodes of the largest part / mean.
        node_balance: f64,
        /// Edges of the largest part / mean; an edge is in its target's part.
        edge_balance: f64,
        /// Training ids of the largest part / mean.
        train_balance: f64,
        /// Parts of this process.
        own_parts: usize,
        /// Cached rows of other parts.
        kept_rows: usize,
        /// Rows read of own parts.
        own_rows: usize,
        /// Rows read from the cache.
        hit_rows: usize,
        /// Rows requested.
        asked_rows: usize,
        /// Requests, one per part and hop, and per MB of rows.
        questions: usize,
        /// Bytes of requests.
        asked_bytes: i64,
        /// Bytes of answers.
        answer_bytes: i64,
    }
}

info! {
    /// Facts about one part.
    pub struct PartInfo(gnnmg_part_info) {
        /// 1: the last three fields are valid.
        hotness: bool,
        /// Nodes of the part.
        num_nodes: usize,
        /// Edges into these nodes.
        num_edges: usize,
        /// Training ids of the part.
        num_train: usize,
        /// Edges from other parts.
        cut_edges: usize,
        /// Expected nodes of a mini-batch of its ids.
        batch_rows: f64,
        /// Expected rows from other parts.
        remote_rows: f64,
        /// Share of `remote_rows` in the cache.
        hit_rate: f64,
    }
}

info! {
    /// Facts about a loader's epoch.
    pub struct LoaderInfo(gnnmg_loader_info) {
        /// Number of ids.
        num_seeds: usize,
        /// Mini-batches of all ranks.
        num_batches: usize,
        /// Steps.
        num_steps: usize,
        /// Mini-batches per step, all ranks together.
        batches_per_step: usize,
        /// Next epoch, from 0.
        epoch: i64,
    }
}

info! {
    /// Facts about a mini-batch.
    pub struct BatchInfo(gnnmg_batch_info) {
        /// Blocks: the first reads the features, the last gives the seeds.
        num_layers: usize,
        /// Epoch, from 0.
        epoch: i64,
        /// Number in the epoch's plan; -1: empty.
        number: i64,
        /// Step of the epoch.
        step: i64,
        /// 0: empty, but part of the step.
        num_seeds: usize,
        /// Nodes, including seeds.
        num_nodes: usize,
        /// Distinct edges drawn.
        num_edges: usize,
        /// Columns of the features, or 0.
        feature_dim: usize,
        /// Seeds of the step on all ranks.
        step_seeds: usize,
        /// num_seeds / step_seeds. Means of mini-batches, each times this,
        /// add up to the step's mean.
        loss_weight: f64,
        /// Sampling.
        sample_seconds: f64,
        /// Gathering features.
        gather_seconds: f64,
        /// 1: this rank's last of the step: reduce and update.
        last_of_step: bool,
        /// 1: sparse features.
        sparse_features: bool,
        /// [`DeviceType::Cpu`](crate::DeviceType::Cpu) or [`DeviceType::Cuda`](crate::DeviceType::Cuda).
        device: crate::DeviceType,
        /// GPU number.
        device_index: i32,
    }
}

info! {
    /// A block: the edges of one layer.
    pub struct BlockInfo(gnnmg_block_info) {
        /// First nodes of the mini-batch.
        num_targets: usize,
        /// First nodes of the mini-batch.
        num_sources: usize,
        /// Edges.
        num_edges: usize,
    }
}

info! {
    /// Results of an evaluation. Fields of other tasks are NaN, but accuracy and F1 of a regression 0.
    /// Without labels all are NaN, counts 0.
    pub struct Metrics(gnnmg_metrics) {
        /// Task of the data set.
        task: crate::Task,
        /// Labeled rows or targets.
        count: usize,
        /// Correct predictions among `count`.
        correct: usize,
        /// Mean loss.
        loss: f64,
        /// correct / count.
        accuracy: f64,
        /// F1 over all decisions.
        f1_micro: f64,
        /// Mean F1 of the classes that occur.
        f1_macro: f64,
        /// Binary: mean over targets with both labels.
        roc_auc: f64,
        /// Binary: mean over targets.
        average_precision: f64,
        /// Regression: root of the mean squared error.
        rmse: f64,
        /// Regression: mean absolute error.
        mae: f64,
        /// Classes: share of rows whose class is among the `top_k` largest
        /// results, of equal ones the first.
        top_k_accuracy: f64,
    }
}

info! {
    /// Facts about a model.
    pub struct ModelInfo(gnnmg_model_info) {
        /// Kind of model.
        architecture: crate::Architecture,
        /// Layers.
        num_layers: usize,
        /// Type of the parameters.
        dtype: crate::DataType,
        /// Columns of the features.
        input_dim: usize,
        /// Columns between layers.
        hidden_dim: usize,
        /// Columns of the result.
        output_dim: usize,
        /// Learned numbers.
        num_parameters: usize,
        /// Named tensors, including buffers.
        num_tensors: usize,
        /// [`DeviceType::Cpu`](crate::DeviceType::Cpu) or [`DeviceType::Cuda`](crate::DeviceType::Cuda).
        device: crate::DeviceType,
        /// GPU number.
        device_index: i32,
    }
}

info! {
    /// Upper bound of a training's bytes on a GPU, from fan-outs and degrees.
    pub struct MemoryInfo(gnnmg_memory_info) {
        /// 1: `total_bytes` is at most `gpu_bytes`.
        fits: bool,
        /// Memory of the GPU: as given, or free.
        gpu_bytes: usize,
        /// Sum, with the larger of step and evaluation.
        total_bytes: usize,
        /// Graph.
        graph_bytes: usize,
        /// Feature rows, all or cached.
        feature_bytes: usize,
        /// Buffers of samplers and mini-batches.
        sampler_bytes: usize,
        /// Gathered rows.
        row_bytes: usize,
        /// Forward and backward passes.
        step_bytes: usize,
        /// Validation between epochs.
        evaluation_bytes: usize,
        /// Weights, gradients, last valid weights.
        parameter_bytes: usize,
        /// Optimizer state.
        optimizer_bytes: usize,
        /// Data for other ranks, and NCCL's buffers.
        communication_bytes: usize,
        /// Padded shapes; 0: mini-batches are not padded.
        capture_bytes: usize,
        /// Reserve for libraries: 1 GiB of a given GPU, up
        /// to 256 MiB of free memory.
        reserve_bytes: usize,
        /// Pinned main memory, once per process.
        pinned_bytes: usize,
        /// Cached rows.
        num_cached: usize,
        /// Not AUTO.
        graph_placement: crate::GraphPlacement,
        /// Not AUTO.
        feature_placement: crate::FeaturePlacement,
        /// 0: without steps, as mini-batches of a custom
        /// sampler have no bound; 1: complete.
        bounded: bool,
    }
}

facts! {
    /// Times of a rank's steps, in seconds. Last in its structs, so that it can grow.
    pub struct Times(gnnmg_times) {
        /// Everything but validation.
        total: f64,
        /// Waiting for mini-batches.
        wait: f64,
        /// Sampling, on all loader threads.
        sample: f64,
        /// Gathering, on all loader threads.
        gather: f64,
        /// Passes.
        compute: f64,
        /// All-reduces, including waits.
        reduce: f64,
        /// Updates.
        optimizer: f64,
        /// Waiting for slower ranks in all-reduces.
        peer_wait: f64,
    }
}

info! {
    /// Progress of training.
    pub struct ProgressInfo(gnnmg_progress_info) {
        /// State.
        state: crate::TrainerState,
        /// Epoch, from 0.
        epoch: i64,
        /// Epochs.
        num_epochs: usize,
        /// Steps done in the epoch.
        step: i64,
        /// Steps of the epoch.
        num_steps: usize,
        /// Seeds done, all ranks together.
        seeds_done: i64,
        /// Mean of the epoch so far.
        loss: f64,
        /// Mean of the epoch so far, as trained.
        accuracy: f64,
        /// Speed, all ranks together.
        seeds_per_second: f64,
        /// Time since the start.
        elapsed_seconds: f64,
        /// Last validation, by `best_by`.
        validation: f64,
        /// Best validation, by `best_by`.
        best_validation: f64,
        /// Epoch of the best validation, or -1.
        best_epoch: i64,
        /// 1: a validation is running.
        evaluating: bool,
        /// 1: the three validation fields are valid.
        has_validation: bool,
        /// Device of the ranks.
        device: crate::DeviceType,
        /// Ranks of this process.
        num_ranks: usize,
        /// Times of this process's first rank, in the epoch so far.
        times: crate::Times,
    }
}

info! {
    /// Times of one rank, and traffic of its GPU.
    pub struct RankInfo(gnnmg_rank_info) {
        /// Number in the job.
        rank: i32,
        /// GPU number; -1: the CPU.
        device: i32,
        /// Epoch, from 0.
        epoch: i64,
        /// Complete steps.
        num_steps: usize,
        /// Bytes that its GPU read over the bus: mini-batches and feature
        /// rows, no edges of a pinned graph.
        bus_bytes: i64,
        /// Rows gathered by its GPU, known at the end of the epoch.
        num_rows: usize,
        /// Rows from the GPU's own memory.
        num_rows_there: usize,
        /// Idle time of the GPU's training queue, or of the rank's thread:
        /// `total` - `compute` - `reduce` - `optimizer`.
        idle_seconds: f64,
        /// Times in the epoch so far.
        times: crate::Times,
    }
}

info! {
    /// Results of an epoch.
    pub struct EpochInfo(gnnmg_epoch_info) {
        /// 1: the best validation so far.
        best: bool,
        /// Epoch, from 0.
        epoch: i64,
        /// Epochs.
        num_epochs: usize,
        /// Steps.
        num_steps: usize,
        /// Mean loss, as trained.
        train_loss: f64,
        /// Mean accuracy, as trained.
        train_accuracy: f64,
        /// Rate of the last step.
        learning_rate: f64,
        /// Metrics, valid until the callback returns; NULL: none.
        validation: Option<crate::Metrics>,
        /// Time of the validation.
        evaluation_seconds: f64,
        /// Speed, all ranks together.
        seeds_per_second: f64,
        /// Time without all-reduces, mean over all ranks.
        mean_busy_seconds: f64,
        /// Time without all-reduces, slowest rank.
        most_busy_seconds: f64,
        /// Slowest rank.
        slowest_rank: i32,
        /// Device of the ranks.
        device: crate::DeviceType,
        /// Ranks of this process.
        num_ranks: usize,
        /// Times of this process's first rank.
        times: crate::Times,
    }
}

info! {
    /// Facts about a predictor.
    pub struct PredictorInfo(gnnmg_predictor_info) {
        /// Type of logits, probabilities and embeddings.
        dtype: crate::DataType,
        /// Task of the data set.
        task: crate::Task,
        /// 1: whole neighborhoods; 0: drawn.
        exact: bool,
        /// Nodes, or graphs.
        num_ids: usize,
        /// Columns of logits and probabilities.
        output_dim: usize,
        /// Columns of classes, or 0.
        classes_dim: usize,
        /// Columns of embeddings, or 0.
        embedding_dim: usize,
        /// Answered calls.
        num_calls: usize,
        /// Ids of answered calls.
        num_rows: usize,
        /// Median time of a call, within 13 %.
        p50_seconds: f64,
        /// 99th percentile, within 13 %.
        p99_seconds: f64,
    }
}

info! {
    /// Facts about a server; counts are since its start.
    pub struct ServerInfo(gnnmg_server_info) {
        /// 0: not listening.
        port: i32,
        /// Parts of the data.
        num_parts: usize,
        /// Served parts.
        num_served: usize,
        /// Clients with a request in the last minute.
        num_clients: usize,
        /// Requests running or waiting.
        num_questions: usize,
        /// Answered requests.
        num_reads: usize,
        /// Bytes of answered requests.
        received_bytes: i64,
        /// Bytes of the answers.
        sent_bytes: i64,
        /// Requests refused for lack of the token.
        num_refused: usize,
        /// Requests postponed: the client had too many.
        num_busy: usize,
        /// Median time of an answer, within 13 %.
        p50_seconds: f64,
        /// 99th percentile, within 13 %.
        p99_seconds: f64,
    }
}
