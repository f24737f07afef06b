//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The settings, a builder each.

use crate::raw::config;

config! {
    /// Settings of a context.
    pub struct ContextConfig(gnnmg_context_config) {
        /// Threads for reading, sampling and evaluation, with the caller's.
        /// Default: one per core.
        num_threads => num_threads: usize,
        /// Messages kept; new ones replace the oldest. Default 1024.
        log_capacity => log_capacity: i64,
        /// Bytes of graphs, samples, mini-batches and results, without
        /// LibTorch's. Default: no limit.
        memory_limit => memory_limit: usize,
    }
}

config! {
    /// Settings of a communicator.
    pub struct CommConfig(gnnmg_comm_config) {
        /// Limit of an operation; the shortest of all ranks applies. Default
        /// 30 000.
        deadline => deadline_ms: std::time::Duration,
        /// Limit for joining, and for the start of a collective call. Default
        /// 300 000.
        join => join_ms: std::time::Duration,
        /// Interval of signs of life, 10 to 600 000; process 0's applies.
        /// Default 500.
        heartbeat => heartbeat_ms: std::time::Duration,
        /// Port of process 0.
        port => port: i32,
        /// Number of this process.
        process_rank => process_rank: i32,
        /// 1 to 1024. Default 1.
        num_processes => num_processes: usize,
    }
}

config! {
    /// Settings of requests for parts elsewhere. gnnmg_dataset_open_served() ignores `reading` and
    /// `port`.
    pub struct OpenPartsConfig(gnnmg_served_config) {
        /// Concurrent requests to each part, 1 to 1024. Default 8.
        max_in_flight => max_in_flight: i32,
        /// Limit of a request. Default 10000.
        deadline => deadline_ms: std::time::Duration,
        /// Cache of the hottest rows of other parts. Default: for a
        /// tenth of all rows.
        cache_bytes => cache_bytes: usize,
        /// Source of other parts; equal on all processes.
        reading => reading: crate::PartsReading,
        /// 1: connect to other machines without TLS, with a warning.
        insecure => insecure: bool,
        /// Port of this process's server. Default: a free one.
        port => port: i32,
    }
}

config! {
    /// Settings of gnnmg_trainer_set_checkpoints().
    pub struct CheckpointConfig(gnnmg_checkpoint_config) {
        /// Newest checkpoints to keep, besides the best. Default 3.
        keep => keep: i32,
        /// Steps between checkpoints.
        every_steps => every_steps: i64,
        /// Seconds between checkpoints.
        every_seconds => every_seconds: f64,
    }
}

config! {
    /// Settings of a server.
    pub struct ServerConfig(gnnmg_server_config) {
        /// Threads that answer. Default: one per core.
        threads => threads: i32,
        /// 1: listen to other machines without TLS, with a warning.
        insecure => insecure: bool,
        /// Time for running requests at a shutdown. Default 30 000.
        drain => drain_ms: std::time::Duration,
    }
}
