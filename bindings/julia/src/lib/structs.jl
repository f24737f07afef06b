# Written by generate.py from gnnmg.h and settings.json; changes here are lost.

mutable struct gnnmg_context end
mutable struct gnnmg_tensor end
mutable struct DLManagedTensorVersioned end
mutable struct gnnmg_graph end
mutable struct gnnmg_dataset end
mutable struct gnnmg_sampler end
mutable struct gnnmg_sink end
mutable struct gnnmg_batch end
mutable struct gnnmg_loader end
mutable struct gnnmg_model end
mutable struct gnnmg_optimizer end
mutable struct gnnmg_comm end
mutable struct gnnmg_trainer end
mutable struct gnnmg_predictor end
mutable struct gnnmg_server end

struct gnnmg_error_info
    struct_size::UInt32
    status::Int32
    rank::Int32
    system_error::Int32
    text::NTuple{1024, UInt8}
end

struct gnnmg_context_config
    struct_size::UInt32
    num_threads::Int32
    log_capacity::Int64
    memory_limit::Csize_t
end

struct gnnmg_context_info
    struct_size::UInt32
    num_threads::Int32
    num_cores::Int32
    torch_version::Int32
    memory_limit::Csize_t
    memory_used::Csize_t
end

struct gnnmg_setting_info
    struct_size::UInt32
    is_field::Int32
    name::Ptr{UInt8}
    type::Ptr{UInt8}
    default_value::Ptr{UInt8}
    values::Ptr{UInt8}
    help::Ptr{UInt8}
end

struct gnnmg_log_info
    struct_size::UInt32
    level::gnnmg_log_level
    unix_time_ns::Int64
    dropped_before::Int64
end

struct gnnmg_device_info
    struct_size::UInt32
    device_type::gnnmg_device_type
    name::NTuple{128, UInt8}
    bus_id::NTuple{16, UInt8}
    total_memory::Csize_t
    free_memory::Csize_t
    capability_major::Int32
    capability_minor::Int32
    multiprocessors::Int32
    driver_version::Int32
    runtime_version::Int32
    padding0::Int32
end

struct gnnmg_tensor_info
    struct_size::UInt32
    dtype::gnnmg_dtype
    device_type::Int32
    device_index::Int32
    num_dims::Int32
    read_only::Int32
    shape::NTuple{4, Int64}
    num_elements::Int64
    data::Ptr{Cvoid}
end

struct gnnmg_dataset_info
    struct_size::UInt32
    task::gnnmg_task
    num_graphs::Int64
    num_nodes::Int64
    num_edges::Int64
    feature_dim::Int64
    num_classes::Int64
    num_splits::Int64
end

struct gnnmg_split_info
    struct_size::UInt32
    index::Int32
    num_train::Int64
    num_validation::Int64
    num_test::Int64
end

struct gnnmg_parts_config
    struct_size::UInt32
    num_parts::Int32
    method::gnnmg_parts_method
    edge_ids::Int32
    seed::UInt64
    memory_limit::Csize_t
end

struct gnnmg_parts_info
    struct_size::UInt32
    num_parts::Int32
    num_nodes::Int64
    num_edges::Int64
    cut_edges::Int64
    cut::Float64
    node_balance::Float64
    edge_balance::Float64
    train_balance::Float64
    own_parts::Int32
    padding0::Int32
    kept_rows::Int64
    own_rows::Int64
    hit_rows::Int64
    asked_rows::Int64
    questions::Int64
    asked_bytes::Int64
    answer_bytes::Int64
end

struct gnnmg_part_info
    struct_size::UInt32
    hotness::Int32
    num_nodes::Int64
    num_edges::Int64
    num_train::Int64
    cut_edges::Int64
    batch_rows::Float64
    remote_rows::Float64
    hit_rate::Float64
end

struct gnnmg_sampler_config
    struct_size::UInt32
    num_fanouts::Int32
    fanouts::NTuple{16, Int64}
    replace::Int32
    draw::gnnmg_draw
end

struct gnnmg_layer_info
    struct_size::UInt32
    layer::Int32
    epoch::UInt64
    batch::UInt64
    key::UInt64
end

struct gnnmg_loader_config
    struct_size::UInt32
    part::gnnmg_part
    batch_size::Int64
    batches_per_step::Int64
    rank::Int32
    world_size::Int32
    seed::UInt64
    plan::gnnmg_plan
    device::gnnmg_device_type
    device_index::Int32
    padding0::Int32
    stream::UInt64
end

struct gnnmg_loader_info
    struct_size::UInt32
    padding0::Int32
    num_seeds::Int64
    num_batches::Int64
    num_steps::Int64
    batches_per_step::Int64
    epoch::Int64
end

struct gnnmg_batch_info
    struct_size::UInt32
    num_layers::Int32
    epoch::Int64
    number::Int64
    step::Int64
    num_seeds::Int64
    num_nodes::Int64
    num_edges::Int64
    feature_dim::Int64
    step_seeds::Int64
    loss_weight::Float64
    sample_seconds::Float64
    gather_seconds::Float64
    last_of_step::Int32
    sparse_features::Int32
    device::gnnmg_device_type
    device_index::Int32
end

struct gnnmg_block_info
    struct_size::UInt32
    padding0::Int32
    num_targets::Int64
    num_sources::Int64
    num_edges::Int64
end

struct gnnmg_metrics
    struct_size::UInt32
    task::gnnmg_task
    count::Int64
    correct::Int64
    loss::Float64
    accuracy::Float64
    f1_micro::Float64
    f1_macro::Float64
    roc_auc::Float64
    average_precision::Float64
    rmse::Float64
    mae::Float64
    top_k_accuracy::Float64
end

struct gnnmg_model_config
    struct_size::UInt32
    architecture::gnnmg_architecture
    input_dim::Int64
    hidden_dim::Int64
    output_dim::Int64
    num_layers::Int32
    aggregation::gnnmg_aggregation
    activation::gnnmg_activation
    norm::gnnmg_norm
    readout::gnnmg_readout
    framework::gnnmg_framework
    dtype::gnnmg_dtype
    heads::Int32
    dropout::Float64
    seed::UInt64
end

struct gnnmg_model_info
    struct_size::UInt32
    architecture::gnnmg_architecture
    num_layers::Int32
    dtype::gnnmg_dtype
    input_dim::Int64
    hidden_dim::Int64
    output_dim::Int64
    num_parameters::Int64
    num_tensors::Int64
    device::gnnmg_device_type
    device_index::Int32
end

struct gnnmg_comm_config
    struct_size::UInt32
    padding0::Int32
    deadline_ms::Int64
    join_ms::Int64
    heartbeat_ms::Int64
    port::Int32
    process_rank::Int32
    num_processes::Int32
    padding1::Int32
end

struct gnnmg_served_config
    struct_size::UInt32
    max_in_flight::Int32
    deadline_ms::Int64
    cache_bytes::Csize_t
    reading::gnnmg_parts_reading
    insecure::Int32
    port::Int32
    padding0::Int32
end

struct gnnmg_trainer_config
    struct_size::UInt32
    num_ranks::Int32
    num_epochs::Int64
    batch_size::Int64
    batches_per_step::Int64
    loss::gnnmg_loss
    optimizer::gnnmg_optimizer_kind
    learning_rate::Float64
    weight_decay::Float64
    clip_norm::Float64
    seed::UInt64
    plan::gnnmg_plan
    device::gnnmg_device_type
    early_stop_patience::Int64
    deterministic::Int32
    padding0::Int32
end

struct gnnmg_memory_info
    struct_size::UInt32
    fits::Int32
    gpu_bytes::Csize_t
    total_bytes::Csize_t
    graph_bytes::Csize_t
    feature_bytes::Csize_t
    sampler_bytes::Csize_t
    row_bytes::Csize_t
    step_bytes::Csize_t
    evaluation_bytes::Csize_t
    parameter_bytes::Csize_t
    optimizer_bytes::Csize_t
    communication_bytes::Csize_t
    capture_bytes::Csize_t
    reserve_bytes::Csize_t
    pinned_bytes::Csize_t
    num_cached::Int64
    graph_placement::gnnmg_graph_placement
    feature_placement::gnnmg_feature_placement
    bounded::Int32
    padding::Int32
end

struct gnnmg_times
    total::Float64
    wait::Float64
    sample::Float64
    gather::Float64
    compute::Float64
    reduce::Float64
    optimizer::Float64
    peer_wait::Float64
end

struct gnnmg_progress_info
    struct_size::UInt32
    state::gnnmg_trainer_state
    epoch::Int64
    num_epochs::Int64
    step::Int64
    num_steps::Int64
    seeds_done::Int64
    loss::Float64
    accuracy::Float64
    seeds_per_second::Float64
    elapsed_seconds::Float64
    validation::Float64
    best_validation::Float64
    best_epoch::Int64
    evaluating::Int32
    has_validation::Int32
    device::gnnmg_device_type
    num_ranks::Int32
    times::gnnmg_times
end

struct gnnmg_rank_info
    struct_size::UInt32
    rank::Int32
    device::Int32
    padding::Int32
    epoch::Int64
    num_steps::Int64
    bus_bytes::Int64
    num_rows::Int64
    num_rows_there::Int64
    idle_seconds::Float64
    times::gnnmg_times
end

struct gnnmg_epoch_info
    struct_size::UInt32
    best::Int32
    epoch::Int64
    num_epochs::Int64
    num_steps::Int64
    train_loss::Float64
    train_accuracy::Float64
    learning_rate::Float64
    validation::Ptr{gnnmg_metrics}
    evaluation_seconds::Float64
    seeds_per_second::Float64
    mean_busy_seconds::Float64
    most_busy_seconds::Float64
    slowest_rank::Int32
    device::gnnmg_device_type
    num_ranks::Int32
    padding0::Int32
    times::gnnmg_times
end

struct gnnmg_loss_batch
    struct_size::UInt32
    dtype::gnnmg_dtype
    num_rows::Int64
    num_columns::Int64
    seeds::Ptr{Int64}
    logits::Ptr{Cvoid}
    classes::Ptr{Int64}
    targets::Ptr{Cvoid}
    weights::Ptr{Float64}
    gradient::Ptr{Cvoid}
    loss::Float64
    weight::Float64
end

struct gnnmg_checkpoint_config
    struct_size::UInt32
    keep::Int32
    every_steps::Int64
    every_seconds::Float64
end

struct gnnmg_predictor_info
    struct_size::UInt32
    dtype::gnnmg_dtype
    task::gnnmg_task
    exact::Int32
    num_ids::Int64
    output_dim::Int64
    classes_dim::Int64
    embedding_dim::Int64
    num_calls::Int64
    num_rows::Int64
    p50_seconds::Float64
    p99_seconds::Float64
end

struct gnnmg_server_config
    struct_size::UInt32
    threads::Int32
    insecure::Int32
    padding0::Int32
    drain_ms::Int64
end

struct gnnmg_server_info
    struct_size::UInt32
    port::Int32
    num_parts::Int32
    num_served::Int32
    num_clients::Int64
    num_questions::Int64
    num_reads::Int64
    received_bytes::Int64
    sent_bytes::Int64
    num_refused::Int64
    num_busy::Int64
    p50_seconds::Float64
    p99_seconds::Float64
end
