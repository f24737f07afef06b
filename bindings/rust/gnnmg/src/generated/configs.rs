//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The settings, a builder each.

use crate::raw::config;

config! {
    /// Settings of a context.
    pub struct ContextConfig(gnnmg_context_config) {
        /// Threads for reading, sampling and evaluation, with the caller. Default:
        /// one per core.
        num_threads => num_threads: usize,
        /// Messages that the queue holds; new ones replace the oldest. Default
        /// 1024.
        log_capacity => log_capacity: i64,
        /// Bytes of graphs, samples, mini-batches and result rows, without
        /// LibTorch's. Default: no limit.
        memory_limit => memory_limit: usize,
    }
}

config! {
    /// Settings of a communicator.
    pub struct CommConfig(gnnmg_comm_config) {
        /// Time limit of an operation ([`ErrorKind::Timeout`](crate::ErrorKind::Timeout)); the shortest of all
        /// ranks applies. Default 30 000.
        deadline => deadline_ms: std::time::Duration,
        /// Time to wait for processes to join, and to begin a collective call. Default
        /// 300 000.
        join => join_ms: std::time::Duration,
        /// Interval between signs of life, 10 to 600 000; process 0's value
        /// applies. Default 500.
        heartbeat => heartbeat_ms: std::time::Duration,
        /// Port of process 0.
        port => port: i32,
        /// Number of this process.
        process_rank => process_rank: i32,
        /// Number of processes, 1 to 1024. Default 1.
        num_processes => num_processes: usize,
    }
}

config! {
    /// Settings of requests for parts elsewhere. The fields after `cache_bytes` are for
    /// gnnmg_dataset_open_parts().
    pub struct OpenPartsConfig(gnnmg_served_config) {
        /// Concurrent requests for rows to each part, 1 to 1024. Default 8.
        max_in_flight => max_in_flight: i32,
        /// Time limit of a request. Default 10000.
        deadline => deadline_ms: std::time::Duration,
        /// Bytes of cached rows of other parts, the hottest. Default: a tenth of all
        /// rows.
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
        /// Latest checkpoints to keep, besides the best. Default 3.
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
        /// Time that a shutdown gives to running requests. Default 30 000.
        drain => drain_ms: std::time::Duration,
    }
}
