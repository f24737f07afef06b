#include "nn/model/input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>

#include <memory>

#include "base/error.h"
#include "graph/homogeneous.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/readout.h"
#include "nn/ops/tensors.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

namespace {

SparseView sparse_view_of(const feature::SparseRows& rows) {
  return {rows.num_rows,      rows.num_cols,       rows.indptr[rows.num_rows],
          rows.indptr.data(), rows.indices.data(), rows.values.data()};
}

// Returns the number of rows.
int64_t check_features(const ModelConfig& config, const RowInput& in) {
  const bool sparse = in.sparse || in.sparse_on_device;
  if (in.dense.defined() + (in.sparse != nullptr) + (in.sparse_on_device != nullptr) +
          in.table.defined() !=
      1)
    fail(Status::kInvalidArgument, "expected rows in one form: dense, sparse or a table with ids");
  const at::Tensor& rows = in.dense.defined() ? in.dense : in.table;
  if (rows.defined() && rows.dim() != 2)
    fail(Status::kInvalidArgument, "features have ", rows.dim(), " dimensions, expected 2");
  const int64_t width = in.sparse             ? in.sparse->num_cols
                        : in.sparse_on_device ? in.sparse_on_device->num_cols
                                              : rows.size(1);
  if (width != config.input_dim)
    fail(Status::kInvalidArgument, "features have ", width, " columns, the model has input_dim ",
         config.input_dim);
  const bool categories = !config.node_vocabulary.empty();
  if (categories && sparse)
    fail(Status::kUnsupported, "features are a sparse matrix, and the model reads categories");
  if (!categories && rows.defined() && !rows.is_floating_point())
    fail(Status::kUnsupported, "features have elements of type ", base::dtype_name(dtype_of(rows)),
         ", expected floats");
  return in.sparse             ? in.sparse->num_rows
         : in.sparse_on_device ? in.sparse_on_device->num_rows
         : in.dense.defined()  ? in.dense.size(0)
                               : static_cast<int64_t>(in.ids.size());
}

// Returns the number of nodes. Ids on a device are not checked: their maker has checked that all
// nodes of the graph have weights.
int64_t check_nodes(const ModelConfig& config, std::span<const int64_t> ids, const Device* device) {
  if (device) return static_cast<int64_t>(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= config.input_dim)
      fail(Status::kRange, "node ", i, " of the mini-batch has the id ", ids[i],
           ", and the model has weights for those from 0 to ", config.input_dim - 1);
  return static_cast<int64_t>(ids.size());
}

}  // namespace

void check_input(const ModelConfig& config, const ForwardArgs& args, const Device* device) {
  if (args.graph) graph::expect_homogeneous(*args.graph, "models");
  if (static_cast<int64_t>(args.blocks.size()) != config.num_layers)
    fail(Status::kInvalidArgument, "the mini-batch has ", args.blocks.size(),
         " blocks, the model has ", config.num_layers, " layers");
  int64_t available = config.reads_features() ? check_features(config, args.input)
                                              : check_nodes(config, args.node_ids, device);
  for (size_t i = 0; i < args.blocks.size(); ++i) {
    const sample::BlockView& block = args.blocks[i];
    if (block.num_sources > available || block.num_targets > block.num_sources)
      fail(Status::kInvalidArgument, "block ", i, " leads from ", block.num_sources, " sources to ",
           block.num_targets, " targets, and there are ", available, " rows");
    available = block.num_targets;
    // A run of nodes is a graph in every layer.
    if (!args.graph_ptr.empty() && block.num_targets != block.num_sources)
      fail(Status::kInvalidArgument, "block ", i, " of a batch of graphs leads from ",
           block.num_sources, " sources to ", block.num_targets, " targets, expected as many");
  }
  if (!args.degrees.empty() && args.degrees.size() != args.node_ids.size())
    fail(Status::kInvalidArgument, "the degrees of ", args.degrees.size(), " nodes are given, and ",
         args.node_ids.size(), " nodes");
  if (!args.weight_sums.empty() && args.weight_sums.size() != args.node_ids.size())
    fail(Status::kInvalidArgument, "the sums of weights of ", args.weight_sums.size(),
         " nodes are given, and ", args.node_ids.size(), " nodes");
  if (!args.graph_ptr.empty()) check_graph_ptr(args.graph_ptr, available);
  if (config.readout != Readout::kNone && args.graph_ptr.empty())
    fail(Status::kInvalidArgument,
         "a model with a readout reads batches of graphs, and this mini-batch is of nodes");
  if (!args.edges.empty() && args.edges.size() != args.blocks.size())
    fail(Status::kInvalidArgument, "the edges of ", args.edges.size(), " blocks have data, ",
         "and there are ", args.blocks.size());
}

ConvInput first_input(const InputLayer& layer, const ForwardArgs& args) {
  const RowInput& input = args.input;
  const auto sources = static_cast<size_t>(args.blocks[0].num_sources);
  ConvInput in;
  if (layer.config.input == Input::kNodes) {
    in.ids = args.node_ids.data();
    return in;
  }
  if (layer.config.input == Input::kEmbedding) {
    const at::Tensor ids = as_tensor(layer.execution, args.node_ids.first(sources));
    // On a device the gradient of index_select() is added in arbitrary order, that of an embedding
    // in a fixed one.
    in.x = layer.execution.device ? at::embedding(layer.embedding, ids)
                                  : layer.embedding.index_select(0, ids);
    in.x = apply_finish(in.x, {false, layer.dropout}, layer.execution);
    return in;
  }
  if (input.sparse || input.sparse_on_device) {
    in.sparse = true;
    in.type = scalar_type(layer.config.dtype);
    in.rows = input.sparse ? sparse_view_of(*input.sparse) : *input.sparse_on_device;
    in.rows_dropout = layer.dropout;
    in.by_column = std::make_shared<Transposed>();
    return in;
  }
  const at::ScalarType type = scalar_type(layer.config.dtype);
  const bool converts = (input.table.defined() ? input.table : input.dense).scalar_type() != type;
  in.as_stored =
      (!converts || layer.execution.device) && !layer.dropout.active() && !layer.nodes.defined();
  if (input.table.defined()) {
    if (in.as_stored) {
      in.x = input.table;
      in.ids = input.ids.data();
      in.type = type;
      return in;
    }
    const std::span<const int64_t> ids = input.ids.first(sources);
    in.x = layer.nodes.defined() ? input.table.index_select(0, as_tensor(layer.execution, ids))
                                 : rows_of_table(input.table, ids, type, layer.execution);
  } else {
    in.x = input.dense;
  }
  in.x = layer.nodes.defined() ? layer.nodes.encode(in.x, "node", layer.execution) : in.x.to(type);
  in.x = apply_finish(in.x, {false, layer.dropout}, layer.execution);
  return in;
}

std::vector<EdgeValues> edges_of(KnownGraph& known_graph, const CategoryEncoder& encoder,
                                 const ForwardArgs& args, const Execution& execution) {
  std::vector<EdgeValues> edges(args.edges.begin(), args.edges.end());
  if (edges.empty() && known_graph.needs().any()) {
    if (!args.graph)
      fail(Status::kInvalidArgument,
           "the model reads what edges carry, and was given neither that nor a graph");
    edges = known_graph.of(args.graph).of_blocks(args.blocks);
  }
  if (!encoder.defined()) return edges;
  at::Tensor codes, rows;  // tensors of the previous block, which trimmed layers share
  for (EdgeValues& of_block : edges) {
    const at::Tensor& own = of_block.features;
    if (!own.defined())
      fail(Status::kInvalidArgument, "the model reads categories of edges, and was given none");
    const bool known = codes.defined() && own.numel() > 0 && own.data_ptr() == codes.data_ptr() &&
                       own.size(0) <= codes.size(0);
    if (!known) {
      codes = own;
      rows = encoder.encode(own, "edge", execution);
    }
    of_block.features = known ? rows.narrow(0, 0, own.size(0)) : rows;
  }
  return edges;
}

}  // namespace gnnmg::nn
