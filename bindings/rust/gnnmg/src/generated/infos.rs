//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The facts that come out, a plain struct each.

use crate::raw::info;

info! {
    /// Facts about a context.
    pub struct ContextInfo(gnnmg_context_info) {
        /// Threads in use, including the calling thread.
        num_threads: usize,
        /// Cores that this process may use.
        num_cores: usize,
        /// Version of LibTorch in the form of `GNNMG_VERSION`.
        torch_version: i32,
        /// Configured limit in bytes; 0: no limit.
        memory_limit: usize,
        /// Bytes of the limit in use.
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
        /// Columns of the features; 0: none.
        feature_dim: usize,
        /// Classes, or targets of other tasks; 0 without labels.
        num_classes: usize,
        /// Splits of all names together.
        num_splits: usize,
    }
}

info! {
    /// Facts about one split.
    pub struct SplitInfo(gnnmg_split_info) {
        /// Index among the splits of the same name.
        index: i32,
        /// Number of training ids.
        num_train: usize,
        /// Number of validation ids.
        num_validation: usize,
        /// Number of test ids.
        num_test: usize,
    }
}

info! {
    /// Facts about all parts of a data set. The fields after `own_parts` count reads of
    /// gnnmg_dataset_open_parts() and gnnmg_dataset_open_served().
    pub struct PartsInfo(gnnmg_parts_info) {
        /// Number of parts.
        num_parts: usize,
        /// Nodes of all parts.
        num_nodes: usize,
        /// Edges of all parts.
        num_edges: usize,
        /// Edges between two parts.
        cut_edges: usize,
        /// Share of `cut_edges` in all edges.
        cut: f64,
        /// Nodes of the largest part / mean.
        node_balance: f64,
        /// Edges of the largest part / mean; an edge is in its target's part.
        edge_balance: f64,
        /// Training ids of the largest part / mean.
        train_balance: f64,
        /// Parts that this process has.
        own_parts: usize,
        /// Cached feature rows of other parts.
        kept_rows: usize,
        /// Rows of own parts read so far.
        own_rows: usize,
        /// Rows of other parts read from the cache.
        hit_rows: usize,
        /// Rows of other parts requested.
        asked_rows: usize,
        /// Requests: one per part and hop, and one per MB of rows.
        questions: usize,
        /// Bytes of requests.
        asked_bytes: i64,
        /// Bytes of answers.
        answer_bytes: i64,
    }
}

info! {
    /// Facts about one part of a data set.
    pub struct PartInfo(gnnmg_part_info) {
        /// 1: the last three fields are valid.
        hotness: bool,
        /// Nodes of the part.
        num_nodes: usize,
        /// Edges into these nodes.
        num_edges: usize,
        /// Training ids of the part.
        num_train: usize,
        /// Edges from other parts into these nodes.
        cut_edges: usize,
        /// Expected nodes of a mini-batch of its training ids.
        batch_rows: f64,
        /// Expected rows of it from other parts.
        remote_rows: f64,
        /// Share of `remote_rows` in the cache.
        hit_rate: f64,
    }
}

info! {
    /// Facts about a loader's epoch.
    pub struct LoaderInfo(gnnmg_loader_info) {
        /// Ids of the loader.
        num_seeds: usize,
        /// Mini-batches of the epoch, all ranks together.
        num_batches: usize,
        /// Steps of the epoch.
        num_steps: usize,
        /// Mini-batches per step, all ranks together.
        batches_per_step: usize,
        /// Epoch of the next mini-batch.
        epoch: i64,
    }
}

info! {
    /// Facts about a mini-batch.
    pub struct BatchInfo(gnnmg_batch_info) {
        /// Blocks; block 0 reads the features, the last gives the seeds.
        num_layers: usize,
        /// Epoch, from 0.
        epoch: i64,
        /// Number in the plan of the epoch; -1: empty.
        number: i64,
        /// Step of the epoch.
        step: i64,
        /// Seeds; 0: empty, but the rank takes part in the step.
        num_seeds: usize,
        /// Nodes, including seeds.
        num_nodes: usize,
        /// Distinct edges drawn.
        num_edges: usize,
        /// Columns of the features; 0: none.
        feature_dim: usize,
        /// Seeds of the step, all ranks together.
        step_seeds: usize,
        /// num_seeds / step_seeds: means over seeds times this, summed over all
        /// ranks, are the mean of the step.
        loss_weight: f64,
        /// Time of sampling.
        sample_seconds: f64,
        /// Time of gathering features.
        gather_seconds: f64,
        /// 1: last of this rank in its step: reduce and update.
        last_of_step: bool,
        /// 1: the features are sparse.
        sparse_features: bool,
        /// [`DeviceType::Cpu`](crate::DeviceType::Cpu) or [`DeviceType::Cuda`](crate::DeviceType::Cuda).
        device: crate::DeviceType,
        /// Number of the GPU.
        device_index: i32,
    }
}

info! {
    /// Sizes of a block: the edges of one layer.
    pub struct BlockInfo(gnnmg_block_info) {
        /// Targets: the first nodes of the mini-batch.
        num_targets: usize,
        /// Sources: the first nodes of the mini-batch.
        num_sources: usize,
        /// Edges.
        num_edges: usize,
    }
}

info! {
    /// Exact results of an evaluation; the task determines which fields are valid.
    pub struct Metrics(gnnmg_metrics) {
        /// Task of the data set.
        task: crate::Task,
        /// Labeled rows, or labeled targets.
        count: usize,
        /// Correct predictions among `count`; 0 for regression.
        correct: usize,
        /// Mean loss.
        loss: f64,
        /// correct / count; 0 for regression, NaN without labels.
        accuracy: f64,
        /// F1 over all decisions; NaN without labels.
        f1_micro: f64,
        /// Mean F1 of the classes; NaN without labels.
        f1_macro: f64,
        /// Binary tasks: mean over targets; NaN if one class is missing.
        roc_auc: f64,
        /// Binary tasks: mean over targets.
        average_precision: f64,
        /// Regression: root of the mean squared error.
        rmse: f64,
        /// Regression: mean absolute error.
        mae: f64,
    }
}

info! {
    /// Facts about a model.
    pub struct ModelInfo(gnnmg_model_info) {
        /// Kind of model.
        architecture: crate::Architecture,
        /// Number of layers.
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
        /// Number of the GPU.
        device_index: i32,
    }
}

info! {
    /// Upper bound of the GPU memory of a training, in bytes, from fan-outs and degrees.
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
        /// Weights, gradients, and the last valid weights.
        parameter_bytes: usize,
        /// State of the optimizer.
        optimizer_bytes: usize,
        /// Data for other ranks, and NCCL's buffers.
        communication_bytes: usize,
        /// Padded shapes; 0: mini-batches are not padded.
        capture_bytes: usize,
        /// Reserve for libraries: 1 GiB of a given GPU, up to 256 MiB of free
        /// memory.
        reserve_bytes: usize,
        /// Pinned main memory, once per process.
        pinned_bytes: usize,
        /// Cached rows.
        num_cached: usize,
        /// Placement of the graph, not AUTO.
        graph_placement: crate::GraphPlacement,
        /// Placement of the features, not AUTO.
        feature_placement: crate::FeaturePlacement,
        /// 1: complete; 0: without steps, because a custom sampler's mini-batches have
        /// no bound.
        bounded: bool,
    }
}

info! {
    /// Progress of training. Times are those of the first rank of this process, in the epoch so far;
    /// the guide on GPUs tells how GPUs measure them.
    pub struct ProgressInfo(gnnmg_progress_info) {
        /// State of the trainer.
        state: crate::TrainerState,
        /// Epoch, from 0.
        epoch: i64,
        /// Number of epochs.
        num_epochs: usize,
        /// Steps done in the epoch.
        step: i64,
        /// Steps of the epoch.
        num_steps: usize,
        /// Seeds of the epoch done on all ranks.
        seeds_done: i64,
        /// Mean loss over the epoch so far.
        loss: f64,
        /// Mean accuracy over the epoch so far, as trained.
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
        /// 1: the three fields on validations are valid.
        has_validation: bool,
        /// All of it, without validation.
        seconds: f64,
        /// Waiting for mini-batches.
        wait_seconds: f64,
        /// Sampling, sum over loader threads.
        sample_seconds: f64,
        /// Gathering features, sum over loader threads.
        gather_seconds: f64,
        /// Forward and backward passes.
        compute_seconds: f64,
        /// All-reduces, with waiting for other ranks.
        reduce_seconds: f64,
        /// Updates.
        optimizer_seconds: f64,
        /// Waiting for slower ranks in all-reduces.
        peer_wait_seconds: f64,
        /// Device of this process's ranks.
        device: crate::DeviceType,
        /// Ranks of this process.
        num_ranks: usize,
    }
}

info! {
    /// Times of one rank, as in `gnnmg_progress_info`, and traffic of its GPU.
    pub struct RankInfo(gnnmg_rank_info) {
        /// Number of the rank in the job.
        rank: i32,
        /// Number of its GPU; -1: the CPU.
        device: i32,
        /// Epoch of these numbers.
        epoch: i64,
        /// Complete steps of the epoch.
        num_steps: usize,
        /// All of it, without validation.
        seconds: f64,
        /// Waiting for mini-batches.
        wait_seconds: f64,
        /// Sampling, sum over loader threads.
        sample_seconds: f64,
        /// Gathering features, sum over loader threads.
        gather_seconds: f64,
        /// Forward and backward passes.
        compute_seconds: f64,
        /// All-reduces, with waiting for other ranks.
        reduce_seconds: f64,
        /// Updates.
        optimizer_seconds: f64,
        /// Waiting for slower ranks in all-reduces.
        peer_wait_seconds: f64,
        /// Bytes that its GPU read over the bus: mini-batches and feature rows,
        /// without edges of a pinned graph.
        bus_bytes: i64,
        /// Rows that its GPU gathered, known at the end of the epoch.
        num_rows: usize,
        /// Rows of `num_rows` that were on the GPU.
        num_rows_there: usize,
        /// Idle time of the GPU's training queue, or of the rank's thread:
        /// `seconds` without passes, all-reduces and updates.
        idle_seconds: f64,
    }
}

info! {
    /// Results of an epoch. Times are those of the first rank of this process; `validation_` fields
    /// those of `gnnmg_metrics`.
    pub struct EpochInfo(gnnmg_epoch_info) {
        /// 1: the `validation_` fields are valid.
        evaluated: bool,
        /// Epoch, from 0.
        epoch: i64,
        /// Number of epochs.
        num_epochs: usize,
        /// Steps of the epoch.
        num_steps: usize,
        /// Mean loss, as trained.
        train_loss: f64,
        /// Mean accuracy, as trained.
        train_accuracy: f64,
        /// Learning rate of the epoch.
        learning_rate: f64,
        /// Labeled rows or targets.
        validation_count: i64,
        /// Correct predictions.
        validation_correct: i64,
        /// Mean loss.
        validation_loss: f64,
        /// Accuracy.
        validation_accuracy: f64,
        /// F1 over all decisions.
        validation_f1_micro: f64,
        /// Mean of the classes' F1.
        validation_f1_macro: f64,
        /// ROC-AUC.
        validation_roc_auc: f64,
        /// Average precision.
        validation_average_precision: f64,
        /// Root of the mean squared error.
        validation_rmse: f64,
        /// Mean absolute error.
        validation_mae: f64,
        /// Time of the epoch without its validation.
        seconds: f64,
        /// Time of its validation.
        evaluation_seconds: f64,
        /// Speed, all ranks together.
        seeds_per_second: f64,
        /// Waiting for mini-batches.
        wait_seconds: f64,
        /// Sampling, sum over loader threads.
        sample_seconds: f64,
        /// Gathering features, sum over loader threads.
        gather_seconds: f64,
        /// Forward and backward passes.
        compute_seconds: f64,
        /// All-reduces, with waiting for other ranks.
        reduce_seconds: f64,
        /// Updates.
        optimizer_seconds: f64,
        /// Time without all-reduces, mean over all ranks.
        mean_busy_seconds: f64,
        /// Time without all-reduces, slowest rank.
        most_busy_seconds: f64,
        /// 1: the best validation so far.
        best: bool,
        /// The slowest rank.
        slowest_rank: i32,
        /// Waiting for slower ranks in all-reduces.
        peer_wait_seconds: f64,
        /// Device of this process's ranks.
        device: crate::DeviceType,
        /// Ranks of this process.
        num_ranks: usize,
    }
}

info! {
    /// Facts about a predictor, and the times of its calls.
    pub struct PredictorInfo(gnnmg_predictor_info) {
        /// Type of logits, probabilities and embeddings.
        dtype: crate::DataType,
        /// Meaning of the results.
        task: crate::Task,
        /// 1: whole neighborhoods; 0: drawn.
        exact: bool,
        /// Ids are 0 to `num_ids` - 1: nodes, or graphs.
        num_ids: usize,
        /// Columns of logits and probabilities.
        output_dim: usize,
        /// Columns of classes; 0: there are none.
        classes_dim: usize,
        /// Columns of embeddings; 0: the model has none.
        embedding_dim: usize,
        /// Answered calls.
        num_calls: usize,
        /// Ids of these calls.
        num_rows: usize,
        /// Median time of a call, to 13 %.
        p50_seconds: f64,
        /// 99th percentile of the time of a call, to 13 %.
        p99_seconds: f64,
    }
}

info! {
    /// State of a server, and its counts since the start.
    pub struct ServerInfo(gnnmg_server_info) {
        /// Port; 0: the server does not listen.
        port: i32,
        /// Number of parts of the data.
        num_parts: usize,
        /// Number of served parts.
        num_served: usize,
        /// Clients with a request in the last minute.
        num_clients: usize,
        /// Requests running or waiting.
        num_questions: usize,
        /// Answered requests.
        num_reads: usize,
        /// Bytes of the answered requests.
        received_bytes: i64,
        /// Bytes of the answers.
        sent_bytes: i64,
        /// Requests refused because the client did not know the token.
        num_refused: usize,
        /// Requests postponed because the client had too many.
        num_busy: usize,
        /// Median time of an answer, within 13 %.
        p50_seconds: f64,
        /// 99th percentile of the time of an answer, within 13 %.
        p99_seconds: f64,
    }
}
