# Written by generate.py from gnnmg.h and settings.json; changes here are lost.

const FUNCTIONS = [
    :gnnmg_version,
    :gnnmg_status_name,
    :gnnmg_last_error,
    :gnnmg_last_error_info,
    :gnnmg_context_create,
    :gnnmg_context_free,
    :gnnmg_context_close,
    :gnnmg_context_get_info,
    :gnnmg_context_set_option,
    :gnnmg_context_get_option,
    :gnnmg_setting_get_info,
    :gnnmg_context_lend,
    :gnnmg_context_cancel,
    :gnnmg_log_next,
    :gnnmg_context_num_devices,
    :gnnmg_context_get_device_info,
    :gnnmg_tensor_create,
    :gnnmg_tensor_from_dlpack,
    :gnnmg_tensor_to_dlpack,
    :gnnmg_tensor_get_info,
    :gnnmg_tensor_copy,
    :gnnmg_tensor_free,
    :gnnmg_graph_create,
    :gnnmg_graph_create_from_coo,
    :gnnmg_graph_free,
    :gnnmg_graph_add_node_type,
    :gnnmg_graph_add_edge_type,
    :gnnmg_graph_import_coo,
    :gnnmg_graph_import_csc,
    :gnnmg_graph_import_node_tensor,
    :gnnmg_graph_import_node_csr,
    :gnnmg_graph_import_edge_tensor,
    :gnnmg_graph_create_transformed,
    :gnnmg_graph_create_normalized,
    :gnnmg_graph_generate,
    :gnnmg_graph_num_node_types,
    :gnnmg_graph_num_edge_types,
    :gnnmg_graph_node_type_name,
    :gnnmg_graph_edge_type_name,
    :gnnmg_graph_num_nodes,
    :gnnmg_graph_num_edges,
    :gnnmg_graph_node_tensor_name,
    :gnnmg_graph_edge_tensor_name,
    :gnnmg_graph_export_node_tensor,
    :gnnmg_graph_export_node_csr,
    :gnnmg_graph_export_edge_tensor,
    :gnnmg_graph_export_coo,
    :gnnmg_graph_export_csc,
    :gnnmg_graph_get_in_edges,
    :gnnmg_dataset_open,
    :gnnmg_dataset_generate,
    :gnnmg_dataset_create,
    :gnnmg_dataset_create_graphs,
    :gnnmg_dataset_free,
    :gnnmg_dataset_save,
    :gnnmg_dataset_save_parts,
    :gnnmg_dataset_get_parts_info,
    :gnnmg_dataset_get_part_info,
    :gnnmg_dataset_export_book,
    :gnnmg_dataset_get_info,
    :gnnmg_dataset_get_names,
    :gnnmg_dataset_get_graph,
    :gnnmg_dataset_get_split_info,
    :gnnmg_dataset_select_split,
    :gnnmg_dataset_add_split,
    :gnnmg_dataset_add_random_split,
    :gnnmg_dataset_add_folds,
    :gnnmg_dataset_export_labels,
    :gnnmg_dataset_export_graph_ptr,
    :gnnmg_dataset_export_split,
    :gnnmg_dataset_set_class_weights,
    :gnnmg_dataset_balance_classes,
    :gnnmg_dataset_set_sample_weights,
    :gnnmg_dataset_export_class_weights,
    :gnnmg_dataset_export_sample_weights,
    :gnnmg_sampler_create,
    :gnnmg_sampler_create_custom,
    :gnnmg_sampler_create_graphs,
    :gnnmg_sampler_free,
    :gnnmg_sampler_num_layers,
    :gnnmg_sampler_sample,
    :gnnmg_sink_add_edges,
    :gnnmg_graph_sample_neighbors,
    :gnnmg_loader_create,
    :gnnmg_loader_create_from_seeds,
    :gnnmg_loader_free,
    :gnnmg_loader_get_info,
    :gnnmg_loader_start,
    :gnnmg_loader_next,
    :gnnmg_loader_cancel,
    :gnnmg_batch_free,
    :gnnmg_batch_get_info,
    :gnnmg_batch_get_block_info,
    :gnnmg_batch_export_seeds,
    :gnnmg_batch_export_graph_ptr,
    :gnnmg_batch_export_node_ids,
    :gnnmg_batch_export_features,
    :gnnmg_batch_export_sparse_features,
    :gnnmg_batch_export_labels,
    :gnnmg_batch_export_weights,
    :gnnmg_batch_export_block,
    :gnnmg_model_create,
    :gnnmg_model_add_conv,
    :gnnmg_model_add_linear,
    :gnnmg_model_add_norm,
    :gnnmg_model_add_activation,
    :gnnmg_model_add_dropout,
    :gnnmg_model_add_readout,
    :gnnmg_model_set_device,
    :gnnmg_model_create_copy,
    :gnnmg_model_free,
    :gnnmg_model_get_info,
    :gnnmg_model_tensor_key,
    :gnnmg_model_export_tensor,
    :gnnmg_model_set_tensor,
    :gnnmg_model_set_trainable,
    :gnnmg_model_export_gradient,
    :gnnmg_model_export_parameters,
    :gnnmg_model_export_gradients,
    :gnnmg_model_infer,
    :gnnmg_model_forward,
    :gnnmg_model_backward,
    :gnnmg_model_backward_from,
    :gnnmg_model_evaluate,
    :gnnmg_model_embed,
    :gnnmg_model_save,
    :gnnmg_model_open,
    :gnnmg_model_get_config,
    :gnnmg_model_get_settings,
    :gnnmg_model_load,
    :gnnmg_optimizer_create,
    :gnnmg_optimizer_free,
    :gnnmg_optimizer_step,
    :gnnmg_optimizer_set_learning_rate,
    :gnnmg_optimizer_learning_rate,
    :gnnmg_optimizer_save,
    :gnnmg_optimizer_load,
    :gnnmg_comm_create_group,
    :gnnmg_comm_create,
    :gnnmg_comm_create_from_env,
    :gnnmg_comm_free,
    :gnnmg_comm_rank,
    :gnnmg_comm_world_size,
    :gnnmg_comm_all_reduce,
    :gnnmg_comm_broadcast,
    :gnnmg_comm_all_gather,
    :gnnmg_comm_all_to_all,
    :gnnmg_comm_barrier,
    :gnnmg_comm_cancel,
    :gnnmg_comm_shutdown,
    :gnnmg_dataset_open_parts,
    :gnnmg_dataset_open_served,
    :gnnmg_trainer_create,
    :gnnmg_trainer_free,
    :gnnmg_trainer_set_record,
    :gnnmg_trainer_set_checkpoints,
    :gnnmg_trainer_save,
    :gnnmg_trainer_load,
    :gnnmg_trainer_get_optimizer,
    :gnnmg_trainer_set_loss,
    :gnnmg_trainer_set_learning_rate,
    :gnnmg_trainer_start,
    :gnnmg_trainer_wait,
    :gnnmg_trainer_run,
    :gnnmg_trainer_stop,
    :gnnmg_trainer_cancel,
    :gnnmg_trainer_step,
    :gnnmg_trainer_evaluate,
    :gnnmg_trainer_embed,
    :gnnmg_trainer_get_memory_info,
    :gnnmg_trainer_progress,
    :gnnmg_trainer_get_rank_info,
    :gnnmg_trainer_get_model,
    :gnnmg_trainer_snapshot,
    :gnnmg_predictor_create,
    :gnnmg_predictor_run,
    :gnnmg_predictor_get_info,
    :gnnmg_predictor_free,
    :gnnmg_server_create,
    :gnnmg_server_set_tls,
    :gnnmg_server_start,
    :gnnmg_server_get_info,
    :gnnmg_server_shutdown,
    :gnnmg_server_free,
]

gnnmg_version() =
    ccall(entry(1), Int32, ())
gnnmg_status_name(status) =
    ccall(entry(2), Cstring, (Int32,), status)
gnnmg_last_error() =
    ccall(entry(3), Cstring, ())
gnnmg_last_error_info(info) =
    ccall(entry(4), Int32, (Ptr{gnnmg_error_info},), info)
gnnmg_context_create(header_version, config, context) =
    ccall(entry(5), Int32, (Int32, Ptr{gnnmg_context_config}, Ptr{Ptr{gnnmg_context}}),
          header_version, config, context)
gnnmg_context_free(context) =
    ccall(entry(6), Cvoid, (Ptr{gnnmg_context},), context)
gnnmg_context_close(context) =
    ccall(entry(7), Cvoid, (Ptr{gnnmg_context},), context)
gnnmg_context_get_info(context, info) =
    ccall(entry(8), Int32, (Ptr{gnnmg_context}, Ptr{gnnmg_context_info}), context, info)
gnnmg_context_set_option(context, key, value) =
    ccall(entry(9), Int32, (Ptr{gnnmg_context}, Cstring, Cstring), context, key, value)
gnnmg_context_get_option(context, key, text, capacity, needed) =
    ccall(entry(10), Int32, (Ptr{gnnmg_context}, Cstring, Ptr{UInt8}, Csize_t, Ptr{Csize_t}),
          context, key, text, capacity, needed)
gnnmg_setting_get_info(subject, index, info) =
    ccall(entry(11), Int32, (Cstring, Int64, Ptr{gnnmg_setting_info}), subject, index, info)
gnnmg_context_lend(context, timeout_ms) =
    ccall(entry(12), Int32, (Ptr{gnnmg_context}, Int64), context, timeout_ms)
gnnmg_context_cancel(context) =
    ccall(entry(13), Cvoid, (Ptr{gnnmg_context},), context)
gnnmg_log_next(context, info, text, capacity, needed) =
    ccall(entry(14), Int32, (Ptr{gnnmg_context}, Ptr{gnnmg_log_info}, Ptr{UInt8}, Csize_t,
          Ptr{Csize_t}), context, info, text, capacity, needed)
gnnmg_context_num_devices(context, count, why) =
    ccall(entry(15), Int32, (Ptr{gnnmg_context}, Ptr{Int64}, Ptr{Cstring}), context, count, why)
gnnmg_context_get_device_info(context, index, info) =
    ccall(entry(16), Int32, (Ptr{gnnmg_context}, Int64, Ptr{gnnmg_device_info}), context, index,
          info)
gnnmg_tensor_create(data, dtype, num_dims, shape, release, user_data, tensor) =
    ccall(entry(17), Int32, (Ptr{Cvoid}, gnnmg_dtype, Int32, Ptr{Int64}, Ptr{Cvoid}, Ptr{Cvoid},
          Ptr{Ptr{gnnmg_tensor}}), data, dtype, num_dims, shape, release, user_data, tensor)
gnnmg_tensor_from_dlpack(dlpack, tensor) =
    ccall(entry(18), Int32, (Ptr{DLManagedTensorVersioned}, Ptr{Ptr{gnnmg_tensor}}), dlpack,
          tensor)
gnnmg_tensor_to_dlpack(tensor, dlpack) =
    ccall(entry(19), Int32, (Ptr{gnnmg_tensor}, Ptr{Ptr{DLManagedTensorVersioned}}), tensor,
          dlpack)
gnnmg_tensor_get_info(tensor, info) =
    ccall(entry(20), Int32, (Ptr{gnnmg_tensor}, Ptr{gnnmg_tensor_info}), tensor, info)
gnnmg_tensor_copy(context, from, to) =
    ccall(entry(21), Int32, (Ptr{gnnmg_context}, Ptr{gnnmg_tensor}, Ptr{gnnmg_tensor}), context,
          from, to)
gnnmg_tensor_free(tensor) =
    ccall(entry(22), Cvoid, (Ptr{gnnmg_tensor},), tensor)
gnnmg_graph_create(context, graph) =
    ccall(entry(23), Int32, (Ptr{gnnmg_context}, Ptr{Ptr{gnnmg_graph}}), context, graph)
gnnmg_graph_create_from_coo(context, num_nodes, sources, targets, dtype, num_edges, graph) =
    ccall(entry(24), Int32, (Ptr{gnnmg_context}, Int64, Ptr{Cvoid}, Ptr{Cvoid}, gnnmg_dtype,
          Int64, Ptr{Ptr{gnnmg_graph}}), context, num_nodes, sources, targets, dtype, num_edges,
          graph)
gnnmg_graph_free(graph) =
    ccall(entry(25), Cvoid, (Ptr{gnnmg_graph},), graph)
gnnmg_graph_add_node_type(graph, name, num_nodes, node_type) =
    ccall(entry(26), Int32, (Ptr{gnnmg_graph}, Cstring, Int64, Ptr{Int32}), graph, name,
          num_nodes, node_type)
gnnmg_graph_add_edge_type(graph, source_type, name, target_type, edge_type) =
    ccall(entry(27), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Int32, Ptr{Int32}), graph,
          source_type, name, target_type, edge_type)
gnnmg_graph_import_coo(graph, edge_type, sources, targets) =
    ccall(entry(28), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{gnnmg_tensor}, Ptr{gnnmg_tensor}),
          graph, edge_type, sources, targets)
gnnmg_graph_import_csc(graph, edge_type, indptr, indices, edge_ids) =
    ccall(entry(29), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{gnnmg_tensor}, Ptr{gnnmg_tensor},
          Ptr{gnnmg_tensor}), graph, edge_type, indptr, indices, edge_ids)
gnnmg_graph_import_node_tensor(graph, node_type, name, tensor) =
    ccall(entry(30), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Ptr{gnnmg_tensor}), graph,
          node_type, name, tensor)
gnnmg_graph_import_node_csr(graph, node_type, name, num_columns, indptr, indices, values) =
    ccall(entry(31), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Int64, Ptr{gnnmg_tensor},
          Ptr{gnnmg_tensor}, Ptr{gnnmg_tensor}), graph, node_type, name, num_columns, indptr,
          indices, values)
gnnmg_graph_import_edge_tensor(graph, edge_type, name, tensor) =
    ccall(entry(32), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Ptr{gnnmg_tensor}), graph,
          edge_type, name, tensor)
gnnmg_graph_create_transformed(graph, transform, edge_type, transformed) =
    ccall(entry(33), Int32, (Ptr{gnnmg_graph}, gnnmg_transform, Int32, Ptr{Ptr{gnnmg_graph}}),
          graph, transform, edge_type, transformed)
gnnmg_graph_create_normalized(graph, name, normalized) =
    ccall(entry(34), Int32, (Ptr{gnnmg_graph}, Cstring, Ptr{Ptr{gnnmg_graph}}), graph, name,
          normalized)
gnnmg_graph_generate(context, generator, settings, graph) =
    ccall(entry(35), Int32, (Ptr{gnnmg_context}, Cstring, Cstring, Ptr{Ptr{gnnmg_graph}}),
          context, generator, settings, graph)
gnnmg_graph_num_node_types(graph, count) =
    ccall(entry(36), Int32, (Ptr{gnnmg_graph}, Ptr{Int32}), graph, count)
gnnmg_graph_num_edge_types(graph, count) =
    ccall(entry(37), Int32, (Ptr{gnnmg_graph}, Ptr{Int32}), graph, count)
gnnmg_graph_node_type_name(graph, node_type, name) =
    ccall(entry(38), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Cstring}), graph, node_type, name)
gnnmg_graph_edge_type_name(graph, edge_type, source_type, name, target_type) =
    ccall(entry(39), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Int32}, Ptr{Cstring}, Ptr{Int32}),
          graph, edge_type, source_type, name, target_type)
gnnmg_graph_num_nodes(graph, node_type, count) =
    ccall(entry(40), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Int64}), graph, node_type, count)
gnnmg_graph_num_edges(graph, edge_type, count) =
    ccall(entry(41), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Int64}), graph, edge_type, count)
gnnmg_graph_node_tensor_name(graph, node_type, index, name, sparse) =
    ccall(entry(42), Int32, (Ptr{gnnmg_graph}, Int32, Int64, Ptr{Cstring}, Ptr{Int32}), graph,
          node_type, index, name, sparse)
gnnmg_graph_edge_tensor_name(graph, edge_type, index, name) =
    ccall(entry(43), Int32, (Ptr{gnnmg_graph}, Int32, Int64, Ptr{Cstring}), graph, edge_type,
          index, name)
gnnmg_graph_export_node_tensor(graph, node_type, name, tensor) =
    ccall(entry(44), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Ptr{Ptr{gnnmg_tensor}}), graph,
          node_type, name, tensor)
gnnmg_graph_export_node_csr(graph, node_type, name, num_columns, indptr, indices, values) =
    ccall(entry(45), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Ptr{Int64},
          Ptr{Ptr{gnnmg_tensor}}, Ptr{Ptr{gnnmg_tensor}}, Ptr{Ptr{gnnmg_tensor}}), graph,
          node_type, name, num_columns, indptr, indices, values)
gnnmg_graph_export_edge_tensor(graph, edge_type, name, tensor) =
    ccall(entry(46), Int32, (Ptr{gnnmg_graph}, Int32, Cstring, Ptr{Ptr{gnnmg_tensor}}), graph,
          edge_type, name, tensor)
gnnmg_graph_export_coo(graph, edge_type, sources, targets) =
    ccall(entry(47), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Ptr{gnnmg_tensor}},
          Ptr{Ptr{gnnmg_tensor}}), graph, edge_type, sources, targets)
gnnmg_graph_export_csc(graph, edge_type, indptr, indices, edge_ids) =
    ccall(entry(48), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Ptr{gnnmg_tensor}},
          Ptr{Ptr{gnnmg_tensor}}, Ptr{Ptr{gnnmg_tensor}}), graph, edge_type, indptr, indices,
          edge_ids)
gnnmg_graph_get_in_edges(graph, edge_type, target, sources, edge_ids, capacity, needed) =
    ccall(entry(49), Int32, (Ptr{gnnmg_graph}, Int32, Int64, Ptr{Int64}, Ptr{Int64}, Int64,
          Ptr{Int64}), graph, edge_type, target, sources, edge_ids, capacity, needed)
gnnmg_dataset_open(context, path, settings, dataset, timeout_ms) =
    ccall(entry(50), Int32, (Ptr{gnnmg_context}, Cstring, Cstring, Ptr{Ptr{gnnmg_dataset}},
          Int64), context, path, settings, dataset, timeout_ms)
gnnmg_dataset_generate(context, generator, settings, dataset) =
    ccall(entry(51), Int32, (Ptr{gnnmg_context}, Cstring, Cstring, Ptr{Ptr{gnnmg_dataset}}),
          context, generator, settings, dataset)
gnnmg_dataset_create(graph, features, labels, task, num_classes, dataset) =
    ccall(entry(52), Int32, (Ptr{gnnmg_graph}, Cstring, Cstring, gnnmg_task, Int64,
          Ptr{Ptr{gnnmg_dataset}}), graph, features, labels, task, num_classes, dataset)
gnnmg_dataset_create_graphs(graph, graph_ptr, num_graphs, features, labels, task, num_classes, dataset) =
    ccall(entry(53), Int32, (Ptr{gnnmg_graph}, Ptr{Int64}, Int64, Cstring, Ptr{gnnmg_tensor},
          gnnmg_task, Int64, Ptr{Ptr{gnnmg_dataset}}), graph, graph_ptr, num_graphs, features,
          labels, task, num_classes, dataset)
gnnmg_dataset_free(dataset) =
    ccall(entry(54), Cvoid, (Ptr{gnnmg_dataset},), dataset)
gnnmg_dataset_save(dataset, path, timeout_ms) =
    ccall(entry(55), Int32, (Ptr{gnnmg_dataset}, Cstring, Int64), dataset, path, timeout_ms)
gnnmg_dataset_save_parts(dataset, folder, given, num_given, config, settings, timeout_ms) =
    ccall(entry(56), Int32, (Ptr{gnnmg_dataset}, Cstring, Ptr{Int32}, Int64,
          Ptr{gnnmg_parts_config}, Cstring, Int64), dataset, folder, given, num_given, config,
          settings, timeout_ms)
gnnmg_dataset_get_parts_info(dataset, info) =
    ccall(entry(57), Int32, (Ptr{gnnmg_dataset}, Ptr{gnnmg_parts_info}), dataset, info)
gnnmg_dataset_get_part_info(dataset, part, cache_rows, info) =
    ccall(entry(58), Int32, (Ptr{gnnmg_dataset}, Int32, Int64, Ptr{gnnmg_part_info}), dataset,
          part, cache_rows, info)
gnnmg_dataset_export_book(dataset, book) =
    ccall(entry(59), Int32, (Ptr{gnnmg_dataset}, Ptr{Ptr{gnnmg_tensor}}), dataset, book)
gnnmg_dataset_get_info(dataset, info) =
    ccall(entry(60), Int32, (Ptr{gnnmg_dataset}, Ptr{gnnmg_dataset_info}), dataset, info)
gnnmg_dataset_get_names(dataset, name, features, labels) =
    ccall(entry(61), Int32, (Ptr{gnnmg_dataset}, Ptr{Cstring}, Ptr{Cstring}, Ptr{Cstring}),
          dataset, name, features, labels)
gnnmg_dataset_get_graph(dataset, index, graph) =
    ccall(entry(62), Int32, (Ptr{gnnmg_dataset}, Int64, Ptr{Ptr{gnnmg_graph}}), dataset, index,
          graph)
gnnmg_dataset_get_split_info(dataset, position, name, info) =
    ccall(entry(63), Int32, (Ptr{gnnmg_dataset}, Int64, Ptr{Cstring}, Ptr{gnnmg_split_info}),
          dataset, position, name, info)
gnnmg_dataset_select_split(dataset, name, index, selected) =
    ccall(entry(64), Int32, (Ptr{gnnmg_dataset}, Cstring, Int32, Ptr{Ptr{gnnmg_dataset}}),
          dataset, name, index, selected)
gnnmg_dataset_add_split(dataset, name, train, num_train, validation, num_validation, test, num_test) =
    ccall(entry(65), Int32, (Ptr{gnnmg_dataset}, Cstring, Ptr{Int64}, Int64, Ptr{Int64}, Int64,
          Ptr{Int64}, Int64), dataset, name, train, num_train, validation, num_validation, test,
          num_test)
gnnmg_dataset_add_random_split(dataset, name, settings) =
    ccall(entry(66), Int32, (Ptr{gnnmg_dataset}, Cstring, Cstring), dataset, name, settings)
gnnmg_dataset_add_folds(dataset, name, settings) =
    ccall(entry(67), Int32, (Ptr{gnnmg_dataset}, Cstring, Cstring), dataset, name, settings)
gnnmg_dataset_export_labels(dataset, labels) =
    ccall(entry(68), Int32, (Ptr{gnnmg_dataset}, Ptr{Ptr{gnnmg_tensor}}), dataset, labels)
gnnmg_dataset_export_graph_ptr(dataset, graph_ptr) =
    ccall(entry(69), Int32, (Ptr{gnnmg_dataset}, Ptr{Ptr{gnnmg_tensor}}), dataset, graph_ptr)
gnnmg_dataset_export_split(dataset, part, ids) =
    ccall(entry(70), Int32, (Ptr{gnnmg_dataset}, gnnmg_part, Ptr{Ptr{gnnmg_tensor}}), dataset,
          part, ids)
gnnmg_dataset_set_class_weights(dataset, weights, num_weights) =
    ccall(entry(71), Int32, (Ptr{gnnmg_dataset}, Ptr{Float64}, Int64), dataset, weights,
          num_weights)
gnnmg_dataset_balance_classes(dataset) =
    ccall(entry(72), Int32, (Ptr{gnnmg_dataset},), dataset)
gnnmg_dataset_set_sample_weights(dataset, weights) =
    ccall(entry(73), Int32, (Ptr{gnnmg_dataset}, Ptr{gnnmg_tensor}), dataset, weights)
gnnmg_dataset_export_class_weights(dataset, weights) =
    ccall(entry(74), Int32, (Ptr{gnnmg_dataset}, Ptr{Ptr{gnnmg_tensor}}), dataset, weights)
gnnmg_dataset_export_sample_weights(dataset, weights) =
    ccall(entry(75), Int32, (Ptr{gnnmg_dataset}, Ptr{Ptr{gnnmg_tensor}}), dataset, weights)
gnnmg_sampler_create(graph, config, settings, sampler) =
    ccall(entry(76), Int32, (Ptr{gnnmg_graph}, Ptr{gnnmg_sampler_config}, Cstring,
          Ptr{Ptr{gnnmg_sampler}}), graph, config, settings, sampler)
gnnmg_sampler_create_custom(graph, config, settings, function_, user_data, release, sampler) =
    ccall(entry(77), Int32, (Ptr{gnnmg_graph}, Ptr{gnnmg_sampler_config}, Cstring, Ptr{Cvoid},
          Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{gnnmg_sampler}}), graph, config, settings, function_,
          user_data, release, sampler)
gnnmg_sampler_create_graphs(dataset, config, settings, sampler) =
    ccall(entry(78), Int32, (Ptr{gnnmg_dataset}, Ptr{gnnmg_sampler_config}, Cstring,
          Ptr{Ptr{gnnmg_sampler}}), dataset, config, settings, sampler)
gnnmg_sampler_free(sampler) =
    ccall(entry(79), Cvoid, (Ptr{gnnmg_sampler},), sampler)
gnnmg_sampler_num_layers(sampler, count) =
    ccall(entry(80), Int32, (Ptr{gnnmg_sampler}, Ptr{Int32}), sampler, count)
gnnmg_sampler_sample(sampler, dataset, seeds, num_seeds, times, seed, epoch, number, batch, timeout_ms) =
    ccall(entry(81), Int32, (Ptr{gnnmg_sampler}, Ptr{gnnmg_dataset}, Ptr{Int64}, Int64,
          Ptr{Int64}, UInt64, UInt64, UInt64, Ptr{Ptr{gnnmg_batch}}, Int64), sampler, dataset,
          seeds, num_seeds, times, seed, epoch, number, batch, timeout_ms)
gnnmg_sink_add_edges(sink, sources, targets, edge_ids, num_edges) =
    ccall(entry(82), Int32, (Ptr{gnnmg_sink}, Ptr{Int64}, Ptr{Int64}, Ptr{Int64}, Int64), sink,
          sources, targets, edge_ids, num_edges)
gnnmg_graph_sample_neighbors(graph, edge_type, targets, num_targets, fanout, replace, key, sink) =
    ccall(entry(83), Int32, (Ptr{gnnmg_graph}, Int32, Ptr{Int64}, Int64, Int64, Int32, UInt64,
          Ptr{gnnmg_sink}), graph, edge_type, targets, num_targets, fanout, replace, key, sink)
gnnmg_loader_create(dataset, sampler, config, settings, loader) =
    ccall(entry(84), Int32, (Ptr{gnnmg_dataset}, Ptr{gnnmg_sampler}, Ptr{gnnmg_loader_config},
          Cstring, Ptr{Ptr{gnnmg_loader}}), dataset, sampler, config, settings, loader)
gnnmg_loader_create_from_seeds(dataset, sampler, node_type, seeds, num_seeds, times, config, settings, loader) =
    ccall(entry(85), Int32, (Ptr{gnnmg_dataset}, Ptr{gnnmg_sampler}, Int32, Ptr{Int64}, Int64,
          Ptr{Int64}, Ptr{gnnmg_loader_config}, Cstring, Ptr{Ptr{gnnmg_loader}}), dataset,
          sampler, node_type, seeds, num_seeds, times, config, settings, loader)
gnnmg_loader_free(loader) =
    ccall(entry(86), Cvoid, (Ptr{gnnmg_loader},), loader)
gnnmg_loader_get_info(loader, info) =
    ccall(entry(87), Int32, (Ptr{gnnmg_loader}, Ptr{gnnmg_loader_info}), loader, info)
gnnmg_loader_start(loader, epoch, step) =
    ccall(entry(88), Int32, (Ptr{gnnmg_loader}, Int64, Int64), loader, epoch, step)
gnnmg_loader_next(loader, batch, timeout_ms) =
    ccall(entry(89), Int32, (Ptr{gnnmg_loader}, Ptr{Ptr{gnnmg_batch}}, Int64), loader, batch,
          timeout_ms)
gnnmg_loader_cancel(loader) =
    ccall(entry(90), Cvoid, (Ptr{gnnmg_loader},), loader)
gnnmg_batch_free(batch) =
    ccall(entry(91), Cvoid, (Ptr{gnnmg_batch},), batch)
gnnmg_batch_get_info(batch, info) =
    ccall(entry(92), Int32, (Ptr{gnnmg_batch}, Ptr{gnnmg_batch_info}), batch, info)
gnnmg_batch_get_block_info(batch, layer, edge_type, info) =
    ccall(entry(93), Int32, (Ptr{gnnmg_batch}, Int32, Int32, Ptr{gnnmg_block_info}), batch,
          layer, edge_type, info)
gnnmg_batch_export_seeds(batch, seeds) =
    ccall(entry(94), Int32, (Ptr{gnnmg_batch}, Ptr{Ptr{gnnmg_tensor}}), batch, seeds)
gnnmg_batch_export_graph_ptr(batch, graph_ptr) =
    ccall(entry(95), Int32, (Ptr{gnnmg_batch}, Ptr{Ptr{gnnmg_tensor}}), batch, graph_ptr)
gnnmg_batch_export_node_ids(batch, node_type, node_ids) =
    ccall(entry(96), Int32, (Ptr{gnnmg_batch}, Int32, Ptr{Ptr{gnnmg_tensor}}), batch, node_type,
          node_ids)
gnnmg_batch_export_features(batch, node_type, features) =
    ccall(entry(97), Int32, (Ptr{gnnmg_batch}, Int32, Ptr{Ptr{gnnmg_tensor}}), batch, node_type,
          features)
gnnmg_batch_export_sparse_features(batch, node_type, indptr, indices, values) =
    ccall(entry(98), Int32, (Ptr{gnnmg_batch}, Int32, Ptr{Ptr{gnnmg_tensor}},
          Ptr{Ptr{gnnmg_tensor}}, Ptr{Ptr{gnnmg_tensor}}), batch, node_type, indptr, indices,
          values)
gnnmg_batch_export_labels(batch, labels) =
    ccall(entry(99), Int32, (Ptr{gnnmg_batch}, Ptr{Ptr{gnnmg_tensor}}), batch, labels)
gnnmg_batch_export_weights(batch, weights) =
    ccall(entry(100), Int32, (Ptr{gnnmg_batch}, Ptr{Ptr{gnnmg_tensor}}), batch, weights)
gnnmg_batch_export_block(batch, layer, edge_type, indptr, indices, edge_ids) =
    ccall(entry(101), Int32, (Ptr{gnnmg_batch}, Int32, Int32, Ptr{Ptr{gnnmg_tensor}},
          Ptr{Ptr{gnnmg_tensor}}, Ptr{Ptr{gnnmg_tensor}}), batch, layer, edge_type, indptr,
          indices, edge_ids)
gnnmg_model_create(context, dataset, config, settings, model) =
    ccall(entry(102), Int32, (Ptr{gnnmg_context}, Ptr{gnnmg_dataset}, Ptr{gnnmg_model_config},
          Cstring, Ptr{Ptr{gnnmg_model}}), context, dataset, config, settings, model)
gnnmg_model_add_conv(model, name, config, settings) =
    ccall(entry(103), Int32, (Ptr{gnnmg_model}, Cstring, Ptr{gnnmg_model_config}, Cstring),
          model, name, config, settings)
gnnmg_model_add_linear(model, name, output_dim, bias) =
    ccall(entry(104), Int32, (Ptr{gnnmg_model}, Cstring, Int64, Int32), model, name, output_dim,
          bias)
gnnmg_model_add_norm(model, name, norm, settings) =
    ccall(entry(105), Int32, (Ptr{gnnmg_model}, Cstring, gnnmg_norm, Cstring), model, name,
          norm, settings)
gnnmg_model_add_activation(model, name, activation) =
    ccall(entry(106), Int32, (Ptr{gnnmg_model}, Cstring, gnnmg_activation), model, name,
          activation)
gnnmg_model_add_dropout(model, rate) =
    ccall(entry(107), Int32, (Ptr{gnnmg_model}, Float64), model, rate)
gnnmg_model_add_readout(model, name, readout, size) =
    ccall(entry(108), Int32, (Ptr{gnnmg_model}, Cstring, gnnmg_readout, Int32), model, name,
          readout, size)
gnnmg_model_set_device(model, device, index, stream) =
    ccall(entry(109), Int32, (Ptr{gnnmg_model}, gnnmg_device_type, Int32, UInt64), model,
          device, index, stream)
gnnmg_model_create_copy(model, copy) =
    ccall(entry(110), Int32, (Ptr{gnnmg_model}, Ptr{Ptr{gnnmg_model}}), model, copy)
gnnmg_model_free(model) =
    ccall(entry(111), Cvoid, (Ptr{gnnmg_model},), model)
gnnmg_model_get_info(model, info) =
    ccall(entry(112), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_model_info}), model, info)
gnnmg_model_tensor_key(model, index, key, trained) =
    ccall(entry(113), Int32, (Ptr{gnnmg_model}, Int64, Ptr{Cstring}, Ptr{Int32}), model, index,
          key, trained)
gnnmg_model_export_tensor(model, key, tensor) =
    ccall(entry(114), Int32, (Ptr{gnnmg_model}, Cstring, Ptr{Ptr{gnnmg_tensor}}), model, key,
          tensor)
gnnmg_model_set_tensor(model, key, values) =
    ccall(entry(115), Int32, (Ptr{gnnmg_model}, Cstring, Ptr{gnnmg_tensor}), model, key, values)
gnnmg_model_set_trainable(model, pattern, trainable) =
    ccall(entry(116), Int32, (Ptr{gnnmg_model}, Cstring, Int32), model, pattern, trainable)
gnnmg_model_export_gradient(model, key, gradient) =
    ccall(entry(117), Int32, (Ptr{gnnmg_model}, Cstring, Ptr{Ptr{gnnmg_tensor}}), model, key,
          gradient)
gnnmg_model_export_parameters(model, parameters) =
    ccall(entry(118), Int32, (Ptr{gnnmg_model}, Ptr{Ptr{gnnmg_tensor}}), model, parameters)
gnnmg_model_export_gradients(model, gradients) =
    ccall(entry(119), Int32, (Ptr{gnnmg_model}, Ptr{Ptr{gnnmg_tensor}}), model, gradients)
gnnmg_model_infer(model, batch, logits) =
    ccall(entry(120), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_batch}, Ptr{Ptr{gnnmg_tensor}}),
          model, batch, logits)
gnnmg_model_forward(model, batch, logits) =
    ccall(entry(121), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_batch}, Ptr{Ptr{gnnmg_tensor}}),
          model, batch, logits)
gnnmg_model_backward(model, loss, value) =
    ccall(entry(122), Int32, (Ptr{gnnmg_model}, gnnmg_loss, Ptr{Float64}), model, loss, value)
gnnmg_model_backward_from(model, gradient) =
    ccall(entry(123), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_tensor}), model, gradient)
gnnmg_model_evaluate(model, dataset, part, top_k, metrics, confusion, timeout_ms) =
    ccall(entry(124), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_dataset}, gnnmg_part, Int32,
          Ptr{gnnmg_metrics}, Ptr{Ptr{gnnmg_tensor}}, Int64), model, dataset, part, top_k,
          metrics, confusion, timeout_ms)
gnnmg_model_embed(model, dataset, node_type, path, rows, timeout_ms) =
    ccall(entry(125), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_dataset}, Int32, Cstring,
          Ptr{Ptr{gnnmg_tensor}}, Int64), model, dataset, node_type, path, rows, timeout_ms)
gnnmg_model_save(model, path, settings, timeout_ms) =
    ccall(entry(126), Int32, (Ptr{gnnmg_model}, Cstring, Cstring, Int64), model, path, settings,
          timeout_ms)
gnnmg_model_open(context, path, model) =
    ccall(entry(127), Int32, (Ptr{gnnmg_context}, Cstring, Ptr{Ptr{gnnmg_model}}), context,
          path, model)
gnnmg_model_get_config(model, config) =
    ccall(entry(128), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_model_config}), model, config)
gnnmg_model_get_settings(model, settings) =
    ccall(entry(129), Int32, (Ptr{gnnmg_model}, Ptr{Cstring}), model, settings)
gnnmg_model_load(model, path, settings, timeout_ms) =
    ccall(entry(130), Int32, (Ptr{gnnmg_model}, Cstring, Cstring, Int64), model, path, settings,
          timeout_ms)
gnnmg_optimizer_create(model, settings, optimizer) =
    ccall(entry(131), Int32, (Ptr{gnnmg_model}, Cstring, Ptr{Ptr{gnnmg_optimizer}}), model,
          settings, optimizer)
gnnmg_optimizer_free(optimizer) =
    ccall(entry(132), Cvoid, (Ptr{gnnmg_optimizer},), optimizer)
gnnmg_optimizer_step(optimizer) =
    ccall(entry(133), Int32, (Ptr{gnnmg_optimizer},), optimizer)
gnnmg_optimizer_set_learning_rate(optimizer, rate) =
    ccall(entry(134), Int32, (Ptr{gnnmg_optimizer}, Float64), optimizer, rate)
gnnmg_optimizer_learning_rate(optimizer, rate) =
    ccall(entry(135), Int32, (Ptr{gnnmg_optimizer}, Ptr{Float64}), optimizer, rate)
gnnmg_optimizer_save(optimizer, path, settings, timeout_ms) =
    ccall(entry(136), Int32, (Ptr{gnnmg_optimizer}, Cstring, Cstring, Int64), optimizer, path,
          settings, timeout_ms)
gnnmg_optimizer_load(optimizer, path, settings, timeout_ms) =
    ccall(entry(137), Int32, (Ptr{gnnmg_optimizer}, Cstring, Cstring, Int64), optimizer, path,
          settings, timeout_ms)
gnnmg_comm_create_group(context, world_size, config, comms) =
    ccall(entry(138), Int32, (Ptr{gnnmg_context}, Int32, Ptr{gnnmg_comm_config},
          Ptr{Ptr{gnnmg_comm}}), context, world_size, config, comms)
gnnmg_comm_create(context, host, network_interface, token_file, config, comm, timeout_ms) =
    ccall(entry(139), Int32, (Ptr{gnnmg_context}, Cstring, Cstring, Cstring,
          Ptr{gnnmg_comm_config}, Ptr{Ptr{gnnmg_comm}}, Int64), context, host,
          network_interface, token_file, config, comm, timeout_ms)
gnnmg_comm_create_from_env(context, config, comm, timeout_ms) =
    ccall(entry(140), Int32, (Ptr{gnnmg_context}, Ptr{gnnmg_comm_config}, Ptr{Ptr{gnnmg_comm}},
          Int64), context, config, comm, timeout_ms)
gnnmg_comm_free(comm) =
    ccall(entry(141), Cvoid, (Ptr{gnnmg_comm},), comm)
gnnmg_comm_rank(comm, rank) =
    ccall(entry(142), Int32, (Ptr{gnnmg_comm}, Ptr{Int32}), comm, rank)
gnnmg_comm_world_size(comm, size) =
    ccall(entry(143), Int32, (Ptr{gnnmg_comm}, Ptr{Int32}), comm, size)
gnnmg_comm_all_reduce(comm, tensor, operation, timeout_ms) =
    ccall(entry(144), Int32, (Ptr{gnnmg_comm}, Ptr{gnnmg_tensor}, gnnmg_reduce, Int64), comm,
          tensor, operation, timeout_ms)
gnnmg_comm_broadcast(comm, tensor, root, timeout_ms) =
    ccall(entry(145), Int32, (Ptr{gnnmg_comm}, Ptr{gnnmg_tensor}, Int32, Int64), comm, tensor,
          root, timeout_ms)
gnnmg_comm_all_gather(comm, input, outputs, timeout_ms) =
    ccall(entry(146), Int32, (Ptr{gnnmg_comm}, Ptr{gnnmg_tensor}, Ptr{Ptr{gnnmg_tensor}},
          Int64), comm, input, outputs, timeout_ms)
gnnmg_comm_all_to_all(comm, inputs, outputs, timeout_ms) =
    ccall(entry(147), Int32, (Ptr{gnnmg_comm}, Ptr{Ptr{gnnmg_tensor}}, Ptr{Ptr{gnnmg_tensor}},
          Int64), comm, inputs, outputs, timeout_ms)
gnnmg_comm_barrier(comm, timeout_ms) =
    ccall(entry(148), Int32, (Ptr{gnnmg_comm}, Int64), comm, timeout_ms)
gnnmg_comm_cancel(comm) =
    ccall(entry(149), Cvoid, (Ptr{gnnmg_comm},), comm)
gnnmg_comm_shutdown(comm, timeout_ms) =
    ccall(entry(150), Int32, (Ptr{gnnmg_comm}, Int64), comm, timeout_ms)
gnnmg_dataset_open_parts(context, comm, folder, config, dataset, timeout_ms) =
    ccall(entry(151), Int32, (Ptr{gnnmg_context}, Ptr{gnnmg_comm}, Cstring,
          Ptr{gnnmg_served_config}, Ptr{Ptr{gnnmg_dataset}}, Int64), context, comm, folder,
          config, dataset, timeout_ms)
gnnmg_dataset_open_served(context, addresses, token_file, config, settings, dataset, timeout_ms) =
    ccall(entry(152), Int32, (Ptr{gnnmg_context}, Cstring, Cstring, Ptr{gnnmg_served_config},
          Cstring, Ptr{Ptr{gnnmg_dataset}}, Int64), context, addresses, token_file, config,
          settings, dataset, timeout_ms)
gnnmg_trainer_create(model, dataset, sampler, comm, config, settings, trainer) =
    ccall(entry(153), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_dataset}, Ptr{gnnmg_sampler},
          Ptr{gnnmg_comm}, Ptr{gnnmg_trainer_config}, Cstring, Ptr{Ptr{gnnmg_trainer}}), model,
          dataset, sampler, comm, config, settings, trainer)
gnnmg_trainer_free(trainer) =
    ccall(entry(154), Cvoid, (Ptr{gnnmg_trainer},), trainer)
gnnmg_trainer_set_record(trainer, record, path) =
    ccall(entry(155), Int32, (Ptr{gnnmg_trainer}, gnnmg_record, Cstring), trainer, record, path)
gnnmg_trainer_set_checkpoints(trainer, folder, config) =
    ccall(entry(156), Int32, (Ptr{gnnmg_trainer}, Cstring, Ptr{gnnmg_checkpoint_config}),
          trainer, folder, config)
gnnmg_trainer_save(trainer, path, timeout_ms) =
    ccall(entry(157), Int32, (Ptr{gnnmg_trainer}, Cstring, Int64), trainer, path, timeout_ms)
gnnmg_trainer_load(trainer, path, timeout_ms) =
    ccall(entry(158), Int32, (Ptr{gnnmg_trainer}, Cstring, Int64), trainer, path, timeout_ms)
gnnmg_trainer_get_optimizer(trainer, optimizer) =
    ccall(entry(159), Int32, (Ptr{gnnmg_trainer}, Ptr{Ptr{gnnmg_optimizer}}), trainer,
          optimizer)
gnnmg_trainer_set_loss(trainer, function_, user_data, release) =
    ccall(entry(160), Int32, (Ptr{gnnmg_trainer}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), trainer,
          function_, user_data, release)
gnnmg_trainer_set_learning_rate(trainer, rate) =
    ccall(entry(161), Int32, (Ptr{gnnmg_trainer}, Float64), trainer, rate)
gnnmg_trainer_start(trainer, on_epoch, user_data, release) =
    ccall(entry(162), Int32, (Ptr{gnnmg_trainer}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), trainer,
          on_epoch, user_data, release)
gnnmg_trainer_wait(trainer, timeout_ms) =
    ccall(entry(163), Int32, (Ptr{gnnmg_trainer}, Int64), trainer, timeout_ms)
gnnmg_trainer_run(trainer, on_epoch, user_data, release) =
    ccall(entry(164), Int32, (Ptr{gnnmg_trainer}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), trainer,
          on_epoch, user_data, release)
gnnmg_trainer_stop(trainer) =
    ccall(entry(165), Cvoid, (Ptr{gnnmg_trainer},), trainer)
gnnmg_trainer_cancel(trainer) =
    ccall(entry(166), Cvoid, (Ptr{gnnmg_trainer},), trainer)
gnnmg_trainer_step(trainer, loss, timeout_ms) =
    ccall(entry(167), Int32, (Ptr{gnnmg_trainer}, Ptr{Float64}, Int64), trainer, loss,
          timeout_ms)
gnnmg_trainer_evaluate(trainer, part, metrics, confusion, timeout_ms) =
    ccall(entry(168), Int32, (Ptr{gnnmg_trainer}, gnnmg_part, Ptr{gnnmg_metrics},
          Ptr{Ptr{gnnmg_tensor}}, Int64), trainer, part, metrics, confusion, timeout_ms)
gnnmg_trainer_embed(trainer, node_type, path, rows, timeout_ms) =
    ccall(entry(169), Int32, (Ptr{gnnmg_trainer}, Int32, Cstring, Ptr{Ptr{gnnmg_tensor}},
          Int64), trainer, node_type, path, rows, timeout_ms)
gnnmg_trainer_get_memory_info(trainer, gpu_bytes, info) =
    ccall(entry(170), Int32, (Ptr{gnnmg_trainer}, Csize_t, Ptr{gnnmg_memory_info}), trainer,
          gpu_bytes, info)
gnnmg_trainer_progress(trainer, info) =
    ccall(entry(171), Int32, (Ptr{gnnmg_trainer}, Ptr{gnnmg_progress_info}), trainer, info)
gnnmg_trainer_get_rank_info(trainer, index, info) =
    ccall(entry(172), Int32, (Ptr{gnnmg_trainer}, Int64, Ptr{gnnmg_rank_info}), trainer, index,
          info)
gnnmg_trainer_get_model(trainer, model) =
    ccall(entry(173), Int32, (Ptr{gnnmg_trainer}, Ptr{Ptr{gnnmg_model}}), trainer, model)
gnnmg_trainer_snapshot(trainer, model) =
    ccall(entry(174), Int32, (Ptr{gnnmg_trainer}, Ptr{Ptr{gnnmg_model}}), trainer, model)
gnnmg_predictor_create(model, dataset, settings, predictor) =
    ccall(entry(175), Int32, (Ptr{gnnmg_model}, Ptr{gnnmg_dataset}, Cstring,
          Ptr{Ptr{gnnmg_predictor}}), model, dataset, settings, predictor)
gnnmg_predictor_run(predictor, ids, num_ids, output, out, capacity, needed) =
    ccall(entry(176), Int32, (Ptr{gnnmg_predictor}, Ptr{Int64}, Int64, gnnmg_output, Ptr{Cvoid},
          Csize_t, Ptr{Csize_t}), predictor, ids, num_ids, output, out, capacity, needed)
gnnmg_predictor_get_info(predictor, info) =
    ccall(entry(177), Int32, (Ptr{gnnmg_predictor}, Ptr{gnnmg_predictor_info}), predictor, info)
gnnmg_predictor_free(predictor) =
    ccall(entry(178), Cvoid, (Ptr{gnnmg_predictor},), predictor)
gnnmg_server_create(context, folder, parts, num_parts, address, token_file, config, server, timeout_ms) =
    ccall(entry(179), Int32, (Ptr{gnnmg_context}, Cstring, Ptr{Int32}, Int64, Cstring, Cstring,
          Ptr{gnnmg_server_config}, Ptr{Ptr{gnnmg_server}}, Int64), context, folder, parts,
          num_parts, address, token_file, config, server, timeout_ms)
gnnmg_server_set_tls(server, certificate, key, authority) =
    ccall(entry(180), Int32, (Ptr{gnnmg_server}, Cstring, Cstring, Cstring), server,
          certificate, key, authority)
gnnmg_server_start(server) =
    ccall(entry(181), Int32, (Ptr{gnnmg_server},), server)
gnnmg_server_get_info(server, info) =
    ccall(entry(182), Int32, (Ptr{gnnmg_server}, Ptr{gnnmg_server_info}), server, info)
gnnmg_server_shutdown(server, timeout_ms) =
    ccall(entry(183), Int32, (Ptr{gnnmg_server}, Int64), server, timeout_ms)
gnnmg_server_free(server) =
    ccall(entry(184), Cvoid, (Ptr{gnnmg_server},), server)
