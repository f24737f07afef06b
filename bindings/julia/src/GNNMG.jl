"""
Graph neural networks, with libgnnmg.

The page `docs/conventions.md` of the package says how objects, settings, errors, waiting, closures
and arrays behave; `?` and the name of a function has the rest. Ids of nodes, edges, types, layers
and epochs count from 0, as they do in the library and in its files.
"""
module GNNMG

include("Lib.jl")
using .Lib

include("errors.jl")
include("settings.jl")
include("objects.jl")
include("callbacks.jl")
include("waiting.jl")
include("tensors.jl")
include("context.jl")
include("graph.jl")
include("graph_read.jl")
include("dataset.jl")
include("sampler.jl")
include("loader.jl")
include("batch.jl")
include("model.jl")
include("optimizer.jl")
include("comm.jl")
include("parts.jl")
include("server.jl")
include("trainer.jl")
include("predictor.jl")
include("show.jl")

export GNNMGError, Tensor, closing, pending, reversedims, from_dlpack, to_dlpack
export Context, Graph, Dataset, Sampler, Loader, Batch, Model, Optimizer, Comm, Trainer, Server
export Predictor, predict, snapshot
export info, save, load!, cancel, evaluate, confusion, embed, start!
export lend, messages, option, settings_of, set_option!
export device, devices, why_no_device
export GpuTensor, gpu, host, copy_tensor!, set_device!
export add_node_type!, add_edge_type!, set_coo!, set_csc!, import_coo!, import_csc!
export set_node_tensor!, import_node_tensor!, set_node_csr!, import_node_csr!
export set_edge_tensor!, import_edge_tensor!
export transformed, normalized, generate
export num_node_types, num_edge_types, node_type_name, edge_type_name, num_nodes, num_edges
export node_tensor_names, edge_tensor_names, node_tensor, node_csr, edge_tensor
export coo, columns, in_edges, in_degree
export splits, select_split, add_split!, add_random_split!, add_folds!, split_ids
export save_parts, open_parts, open_served, parts_info, part_info, book, set_tls!
export labels, graph_ptr, set_class_weights!, balance_classes!, set_sample_weights!
export class_weights, sample_weights
export num_layers, sample, add_edges!, sample_neighbors!
export next!, seeds, node_ids, features, sparse_features, weights, block, block_info
export add_conv!, add_linear!, add_norm!, add_activation!, add_dropout!, add_readout!
export open_model, model_config, model_settings
export gradient, parameters, gradients, infer, forward!, backward!, set_trainable!, set_loss!
export step!, learning_rate, set_learning_rate!
export comm_group, comm_from_env, rank, world_size
export all_reduce!, all_reduce, all_gather!, all_to_all!, barrier, shutdown
export train!, stop, progress, rank_info, memory_info, set_record!, set_checkpoints!

function __init__()
    make_trampolines()
    return nothing
end

end
