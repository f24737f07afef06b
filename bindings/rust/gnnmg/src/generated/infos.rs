//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The facts that come out, a plain struct each.

use crate::raw::info;

info! {
    /// Facts about a context.
    pub struct ContextInfo(gnnmg_context_info) {
        /// Threads in use, the calling one included.
        num_threads: usize,
        /// Cores that this process may use.
        num_cores: usize,
        /// Version of LibTorch as `GNNMG_VERSION` writes one.
        torch_version: i32,
        /// As configured, bytes; 0: no limit.
        memory_limit: usize,
        /// Bytes taken of it now.
        memory_used: usize,
    }
}

info! {
    /// Facts about a data set.
    pub struct DatasetInfo(gnnmg_dataset_info) {
        /// What the labels mean.
        task: crate::Task,
        /// Graphs in it.
        num_graphs: usize,
        /// Nodes of all graphs.
        num_nodes: usize,
        /// Edges of all graphs.
        num_edges: usize,
        /// Columns of the features; 0: none.
        feature_dim: usize,
        /// Classes, or targets of other tasks; 0 without labels.
        num_classes: usize,
        /// Splits of all names.
        num_splits: usize,
    }
}

info! {
    /// Facts about one split.
    pub struct SplitInfo(gnnmg_split_info) {
        /// Among the splits of its name.
        index: i32,
        /// Ids in it.
        num_train: usize,
        /// Ids in it.
        num_validation: usize,
        /// Ids in it.
        num_test: usize,
    }
}

info! {
    /// Facts about all parts of a data set.
    pub struct PartsInfo(gnnmg_parts_info) {
        /// Parts.
        num_parts: usize,
        /// Nodes of all parts.
        num_nodes: usize,
        /// Edges of all parts.
        num_edges: usize,
        /// Edges between nodes of two parts.
        cut_edges: usize,
        /// Their share of all edges, 0 to 1.
        cut: f64,
        /// Nodes of the largest part, divided by the mean of all.
        node_balance: f64,
        /// The same of edges; an edge belongs to the part of its target.
        edge_balance: f64,
        /// The same of training ids.
        train_balance: f64,
        /// Parts that this process has: all, but of a data set that was opened by
        /// gnnmg_dataset_open_parts(), of which the next fields are, else 0.
        own_parts: usize,
        /// Rows of features of other parts that are kept here.
        kept_rows: usize,
        /// Rows read so far that the process has itself.
        own_rows: usize,
        /// Rows of other parts read so far that were kept here.
        hit_rows: usize,
        /// Rows of other parts read so far that were asked for.
        asked_rows: usize,
        /// Questions to others so far: one a part and hop, and one a MB of rows.
        questions: usize,
        /// Bytes of these questions.
        asked_bytes: i64,
        /// Bytes of their answers.
        answer_bytes: i64,
    }
}

info! {
    /// Facts about one part of a data set.
    pub struct PartInfo(gnnmg_part_info) {
        /// 1: hotness was kept, and the last three fields are known.
        hotness: bool,
        /// Its nodes.
        num_nodes: usize,
        /// Edges that lead to them.
        num_edges: usize,
        /// Training ids among them.
        num_train: usize,
        /// Edges that lead to them from other parts.
        cut_edges: usize,
        /// Nodes of a mini-batch whose seeds are training ids of the part, as
        /// expected.
        batch_rows: f64,
        /// Rows of such a mini-batch that other parts have.
        remote_rows: f64,
        /// Share of these that a cache would hold, 0 to 1.
        hit_rate: f64,
    }
}

info! {
    /// Facts about a loader's epoch.
    pub struct LoaderInfo(gnnmg_loader_info) {
        /// Ids that the loader was made with.
        num_seeds: usize,
        /// Mini-batches of the epoch, all ranks.
        num_batches: usize,
        /// Steps of the epoch.
        num_steps: usize,
        /// Mini-batches a step, all ranks.
        batches_per_step: usize,
        /// Of the next mini-batch.
        epoch: i64,
    }
}

info! {
    /// Facts about a mini-batch.
    pub struct BatchInfo(gnnmg_batch_info) {
        /// Blocks; block 0 reads the features, the last yields the seeds.
        num_layers: usize,
        /// Counting from 0.
        epoch: i64,
        /// In the epoch's plan; -1: an empty one.
        number: i64,
        /// Step of the epoch that it belongs to.
        step: i64,
        /// Seeds; 0: empty, but its rank takes part in the step.
        num_seeds: usize,
        /// Nodes, seeds included.
        num_nodes: usize,
        /// Distinct edges drawn.
        num_edges: usize,
        /// Columns of the features; 0: none.
        feature_dim: usize,
        /// Seeds of the step, all ranks.
        step_seeds: usize,
        /// num_seeds / step_seeds: means over seeds, times this, add up to the
        /// step's exact mean over all ranks.
        loss_weight: f64,
        /// Time that sampling took.
        sample_seconds: f64,
        /// Time that collecting the features took.
        gather_seconds: f64,
        /// 1: the last one of this rank in its step: reduce and update.
        last_of_step: bool,
        /// 1: the features are sparse.
        sparse_features: bool,
        /// Where it lies: [`DeviceType::Cpu`](crate::DeviceType::Cpu), [`DeviceType::Cuda`](crate::DeviceType::Cuda).
        device: crate::DeviceType,
        /// Number of the GPU.
        device_index: i32,
    }
}

info! {
    /// Sizes of a block, the edges of one layer.
    pub struct BlockInfo(gnnmg_block_info) {
        /// Targets: the first so many nodes of the batch.
        num_targets: usize,
        /// Sources: the first so many nodes of the batch.
        num_sources: usize,
        /// Edges.
        num_edges: usize,
    }
}

info! {
    /// Exact results of an evaluation; which fields have a meaning depends on the task.
    pub struct Metrics(gnnmg_metrics) {
        /// What was evaluated.
        task: crate::Task,
        /// Labelled rows, or labelled targets.
        count: usize,
        /// Of these, right ones; 0 for regression.
        correct: usize,
        /// Mean loss.
        loss: f64,
        /// correct / count; 0 for regression, NaN where nothing has a label.
        accuracy: f64,
        /// F1 over all decisions; NaN likewise.
        f1_micro: f64,
        /// Mean of the classes' F1; NaN likewise.
        f1_macro: f64,
        /// Binary tasks: mean over targets; NaN where one class is missing.
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
        /// Numbers that are learned.
        num_parameters: usize,
        /// Named tensors, buffers included.
        num_tensors: usize,
        /// Where it lies: [`DeviceType::Cpu`](crate::DeviceType::Cpu), [`DeviceType::Cuda`](crate::DeviceType::Cuda).
        device: crate::DeviceType,
        /// Number of the GPU.
        device_index: i32,
    }
}

info! {
    /// What a training takes of the memory of one GPU, part by part, at most: by the fan-outs and the
    /// degrees of the graph. See gnnmg_trainer_get_memory_info().
    pub struct MemoryInfo(gnnmg_memory_info) {
        /// 1: `total_bytes` is at most `gpu_bytes`.
        fits: bool,
        /// Of the GPU: as asked for, or what is free.
        gpu_bytes: usize,
        /// The parts together; of a step and an evaluation the larger.
        total_bytes: usize,
        /// The graph.
        graph_bytes: usize,
        /// All rows of features, or the cached ones and their index.
        feature_bytes: usize,
        /// Samplers' buffers with mini-batches, or copies of those.
        sampler_bytes: usize,
        /// Gathered rows of mini-batches; 0 where the first layer reads a
        /// table of all.
        row_bytes: usize,
        /// Forward and backward pass.
        step_bytes: usize,
        /// A validation between epochs; 0: the training has none.
        evaluation_bytes: usize,
        /// Weights, gradients, and the last weights that were good.
        parameter_bytes: usize,
        /// What the optimizer gathers.
        optimizer_bytes: usize,
        /// What is exchanged with other ranks, and NCCL's buffers.
        communication_bytes: usize,
        /// Captured steps, or eager ones over the same shapes, beside all
        /// that; 0: mini-batches are not padded, perhaps because that
        /// would not fit.
        capture_bytes: usize,
        /// For libraries and others: 1 GiB of a GPU of a given size, with
        /// the driver's part, or of what is free up to 256 MiB.
        reserve_bytes: usize,
        /// Of main memory, once a process.
        pinned_bytes: usize,
        /// Rows in a cache.
        num_cached: usize,
        /// As [`GraphPlacement::Auto`](crate::GraphPlacement::Auto) would have it.
        graph_placement: crate::GraphPlacement,
        /// The same of features.
        feature_placement: crate::FeaturePlacement,
        /// 1: nothing is left out; 0: nobody can tell how large the mini-batches
        /// of a custom sampler are, and they and steps count for nothing.
        bounded: bool,
    }
}

info! {
    /// Where training is; see gnnmg_trainer_progress(). Seconds of captured steps, and of eager ones
    /// over the same shapes, are the GPU's own: it samples and gathers in queues beside the one that
    /// trains, which waits for mini-batches, computes, reduces and updates, and for the rest of
    /// `seconds` has nothing to do. Of one rank with a mini-batch a step the update is part of
    /// `compute_seconds`, of all of these waiting for slower ranks part of `reduce_seconds` alone.
    /// Where the GPU tells no times, all of `seconds` is `compute_seconds`. Steps without padding are
    /// timed by the host, which waits for the GPU behind the passes and in the exchange: what the GPU
    /// still does of an update while the next step begins is `compute_seconds`. Waiting for
    /// mini-batches is the GPU's own there too, where it tells times: while the host waits and the GPU
    /// is still at the passes before, that is `compute_seconds`. Gaps between kernels that the host
    /// starts one by one are part of what they are in. What comes between steps without padding, a
    /// checkpoint say, is no part of `seconds`; between the others, which overlap, it is.
    pub struct ProgressInfo(gnnmg_progress_info) {
        /// What it does.
        state: crate::TrainerState,
        /// Counting from 0.
        epoch: i64,
        /// As configured.
        num_epochs: usize,
        /// Steps done in the epoch.
        step: i64,
        /// Steps of the epoch.
        num_steps: usize,
        /// Seeds of the epoch done on all ranks.
        seeds_done: i64,
        /// Mean over the epoch so far.
        loss: f64,
        /// Mean over the epoch so far, on the mini-batches as trained.
        accuracy: f64,
        /// Of the epoch so far.
        seeds_per_second: f64,
        /// Since the start.
        elapsed_seconds: f64,
        /// Last validation, by `best_by`.
        validation: f64,
        /// Best validation, by `best_by`.
        best_validation: f64,
        /// Whose that is, or -1.
        best_epoch: i64,
        /// 1: a validation runs.
        evaluating: bool,
        /// 1: the three above have a meaning.
        has_validation: bool,
        /// The epoch so far, without its validation, as this process's first
        /// rank has spent it: what follows, and the rest.
        seconds: f64,
        /// Waiting for mini-batches.
        wait_seconds: f64,
        /// Its loader threads, sampling, summed.
        sample_seconds: f64,
        /// Its loader threads, features, summed.
        gather_seconds: f64,
        /// Its forward and backward passes.
        compute_seconds: f64,
        /// Its all-reduces, waiting for other ranks included.
        reduce_seconds: f64,
        /// Its updates.
        optimizer_seconds: f64,
        /// Of its all-reduces, how long it waited for slower ranks.
        peer_wait_seconds: f64,
    }
}

info! {
    /// Where the time of one rank went, and what its GPU read over the bus; see
    /// gnnmg_trainer_get_rank_info(). Seconds are as in `gnnmg_progress_info`, of this rank.
    pub struct RankInfo(gnnmg_rank_info) {
        /// In the whole job.
        rank: i32,
        /// Its GPU; -1: the CPU.
        device: i32,
        /// That is counted, from 0.
        epoch: i64,
        /// Of it that are done.
        num_steps: usize,
        /// The epoch so far: what follows, and the rest.
        seconds: f64,
        /// Waiting for mini-batches.
        wait_seconds: f64,
        /// Its loader threads, sampling, summed.
        sample_seconds: f64,
        /// Its loader threads, features, summed.
        gather_seconds: f64,
        /// Its forward and backward passes, until its GPU is through.
        compute_seconds: f64,
        /// Its all-reduces, waiting for other ranks included.
        reduce_seconds: f64,
        /// Its updates.
        optimizer_seconds: f64,
        /// Of its all-reduces, how long it waited for slower ranks.
        peer_wait_seconds: f64,
        /// Read by its GPU over the bus: copies of mini-batches, and rows of
        /// features in main memory. What gathers read is added when the epoch
        /// ends. Edges of a pinned graph are not counted.
        bus_bytes: i64,
        /// Rows that gathers of its GPU have read, once the epoch has ended.
        num_rows: usize,
        /// Of these, those that lay on the GPU: hits of a cache.
        num_rows_there: usize,
        /// What is left of `seconds` without `compute_seconds`, `reduce_seconds`
        /// and `optimizer_seconds`, and never below 0: the queue that trains on
        /// its GPU, or on the CPU its thread, had nothing to do. `wait_seconds`
        /// is a part of it, `peer_wait_seconds` is not. 0 where the GPU
        /// tells no times and `compute_seconds` is all.
        idle_seconds: f64,
    }
}

info! {
    /// What an epoch came to.
    pub struct EpochInfo(gnnmg_epoch_info) {
        /// 1: the `validation_` fields are filled.
        evaluated: bool,
        /// Counting from 0.
        epoch: i64,
        /// As configured.
        num_epochs: usize,
        /// Steps of the epoch.
        num_steps: usize,
        /// Mean over the mini-batches as they were trained.
        train_loss: f64,
        /// The same.
        train_accuracy: f64,
        /// Of the epoch.
        learning_rate: f64,
        /// Labelled rows or targets; and so on as in
        /// `gnnmg_metrics`.
        validation_count: i64,
        /// Right ones.
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
        /// The epoch without its validation.
        seconds: f64,
        /// Its validation.
        evaluation_seconds: f64,
        /// All ranks.
        seeds_per_second: f64,
        /// This process's first rank: waiting for mini-batches.
        wait_seconds: f64,
        /// The same rank's loader threads, sampling, summed.
        sample_seconds: f64,
        /// Its loader threads, features, summed.
        gather_seconds: f64,
        /// Its forward and backward passes.
        compute_seconds: f64,
        /// Its all-reduces, waiting included.
        reduce_seconds: f64,
        /// Its updates.
        optimizer_seconds: f64,
        /// The epoch without its all-reduces, mean of all ranks.
        mean_busy_seconds: f64,
        /// The same of the slowest rank, which others wait for.
        most_busy_seconds: f64,
        /// 1: the best validation so far.
        best: bool,
        /// The rank with `most_busy_seconds`.
        slowest_rank: i32,
        /// Of `reduce_seconds`: waiting for slower ranks, those of
        /// synchronised batch norm aside.
        peer_wait_seconds: f64,
    }
}

info! {
    /// Facts about a predictor, and the times of its calls.
    pub struct PredictorInfo(gnnmg_predictor_info) {
        /// Type of logits, probabilities and embeddings.
        dtype: crate::DataType,
        /// Meaning of the results; [`Task::None`](crate::Task::None): unknown.
        task: crate::Task,
        /// 1: neighborhoods are whole; 0: they are drawn.
        exact: bool,
        /// Ids are 0 to `num_ids` - 1: nodes, or graphs.
        num_ids: usize,
        /// Columns of logits and probabilities.
        output_dim: usize,
        /// Columns of classes; 0: there are none.
        classes_dim: usize,
        /// Columns of embeddings; 0: the model has none.
        embedding_dim: usize,
        /// Calls that were answered.
        num_calls: usize,
        /// Ids of these calls.
        num_rows: usize,
        /// Time that half of the calls took at most, to 13 %.
        p50_seconds: f64,
        /// Time that 99 % of the calls took at most, to 13 %.
        p99_seconds: f64,
    }
}

info! {
    /// The state of a server, and its counts since it started.
    pub struct ServerInfo(gnnmg_server_info) {
        /// Port that it listens at; 0: it does not.
        port: i32,
        /// Parts of the data.
        num_parts: usize,
        /// Parts that are served.
        num_served: usize,
        /// Clients that asked something in the last minute.
        num_clients: usize,
        /// Questions being answered or waiting.
        num_questions: usize,
        /// Questions answered.
        num_reads: usize,
        /// Bytes of the questions answered.
        received_bytes: i64,
        /// Bytes of the answers.
        sent_bytes: i64,
        /// Questions without a right ticket: of those who know no token.
        num_refused: usize,
        /// Questions told to come later, since their client had too many.
        num_busy: usize,
        /// Time that half of the answers took at most, to 13 %.
        p50_seconds: f64,
        /// Time that 99 % of the answers took at most, to 13 %.
        p99_seconds: f64,
    }
}
