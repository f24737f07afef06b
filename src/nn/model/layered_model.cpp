#include "nn/model/layered_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/error.h"
#include "nn/model/input.h"
#include "nn/model/thinned_batch.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

LayeredModel::LayeredModel(const ModelConfig& config, const Device* device)
    : config_(config),
      device_(device),
      known_(edge_needs(config), scalar_type(config.dtype), device) {
  use_device();
}

at::Tensor LayeredModel::forward(const ForwardArgs& args) {
  return pass({&args, 1}, {args.training, args.training || args.gradients})[0];
}

std::vector<at::Tensor> LayeredModel::forward_step(std::span<const ForwardArgs> batches,
                                                   const SumOverRanks& sum) {
  return pass(batches, {true, true, sum});
}

std::vector<at::Tensor> LayeredModel::pass(std::span<const ForwardArgs> batches,
                                           RunOptions options) {
  use_device();
  for (const ForwardArgs& args : batches) check_input(config_, args, device_);
  if (!options.training || (config_.edge_dropout == 0 && config_.node_dropout == 0))
    return run(batches, options);
  const auto thinned = std::make_shared<std::deque<ThinnedBatch>>();
  std::vector<ForwardArgs> left;
  for (const ForwardArgs& args : batches)
    left.push_back(thinned
                       ->emplace_back(args, config_.edge_dropout, config_.node_dropout,
                                      execution_of(batches, options))
                       .args());
  options.owner = thinned;
  return run(left, options);
}

Execution LayeredModel::execution_of(std::span<const ForwardArgs> batches,
                                     const RunOptions& options) const {
  return {batches.empty() ? nullptr : batches[0].pool,
          scratch_,
          options.gradients,
          options.owner,
          device_,
          bf16_ && options.training};
}

void LayeredModel::absent_backward(const SumOverRanks& sum) {
  use_device();
  statistics_.absent_backward(sum);
}

void LayeredModel::fold_batch_statistics(const at::Tensor& rows) {
  use_device();
  statistics_.fold(rows);
}

void LayeredModel::set_frozen(const std::vector<bool>& frozen) {
  use_device();
  parameters_.freeze(frozen);
}

at::Tensor LayeredModel::take_batch_statistics() {
  use_device();
  return statistics_.width() ? statistics_.take() : at::empty({0, 0}, parameters_.flat().options());
}

void LayeredModel::declare_embedding(ParameterList& list) {
  // The initialization of torch's Embedding.
  list.normal("embedding.weight", {config_.input_dim, config_.hidden_dim}, 1, &embedding_);
}

// DGL uses the degrees of the block.
bool LayeredModel::reads_degrees(const Conv& conv, const ModelConfig& options) {
  return conv.degrees() != Degrees::kNone && !options.block_degrees &&
         options.framework != Framework::kDgl;
}

bool LayeredModel::reads_weight_sums(const Conv& conv, const ModelConfig& options) {
  return reads_degrees(conv, options) && options.edge_weights && conv.degrees() != Degrees::kOut;
}

void LayeredModel::add_piece_needs(const Conv& conv, const ModelConfig& options,
                                   PieceNeeds& needs) {
  const Degrees degrees = conv.degrees();
  const bool sent = degrees == Degrees::kOut;
  needs.sent = needs.sent || sent;
  needs.degrees = needs.degrees || (degrees != Degrees::kNone && !sent);
  needs.weight_sums =
      needs.weight_sums || (degrees != Degrees::kNone && !sent && options.edge_weights);
  needs.largest_degree = needs.largest_degree || conv.reads_largest_degree();
  needs.all_nodes = needs.all_nodes || conv.normalizes_all_rows() || conv.reads_largest_degree();
  if (conv.normalizes_all_rows() && !conv.staged())
    needs.obstacle = "norms over the rows of all edges inside a layer";
}

PieceNeeds LayeredModel::own_piece_needs() const {
  PieceNeeds needs;
  if (config_.input == Input::kNodes) needs.obstacle = "weights of each node in a layer";
  return needs;
}

void LayeredModel::expect_told_on_device() const {
  if (device_)
    base::fail(base::Status::kUnsupported,
               "a layer on a GPU reads degrees of nodes of a graph in parts, and the mini-batch "
               "does not have them; samplers of gnnmg_trainer_create() provide them");
}

// Takes the degrees from the sample, or requests them here.
std::vector<sample::NodeDegree> LayeredModel::degrees_elsewhere(const ForwardArgs& args,
                                                                int64_t num_nodes) const {
  std::vector<sample::NodeDegree> degrees(static_cast<size_t>(num_nodes));
  if (!args.degrees.empty()) {
    std::copy_n(args.degrees.begin(), num_nodes, degrees.begin());
    return degrees;
  }
  expect_told_on_device();
  args.graph->elsewhere()->degrees(args.node_ids.first(static_cast<size_t>(num_nodes)),
                                   degrees.data());
  return degrees;
}

// The same for sums of weights.
std::vector<graph::WeightSums> LayeredModel::weight_sums_elsewhere(const ForwardArgs& args,
                                                                   int64_t num_nodes) const {
  std::vector<graph::WeightSums> sums(static_cast<size_t>(num_nodes));
  if (!args.weight_sums.empty()) {
    std::copy_n(args.weight_sums.begin(), num_nodes, sums.begin());
    return sums;
  }
  expect_told_on_device();
  const graph::Elsewhere& rows = *args.graph->elsewhere();
  rows.weight_sums(weights_column(rows.edge_columns()),
                   args.node_ids.first(static_cast<size_t>(num_nodes)), sums.data());
  return sums;
}

at::Tensor LayeredModel::degrees_of(const Conv& conv, const ModelConfig& options,
                                    const ForwardArgs& args, int64_t num_nodes) {
  if (!args.graph || !reads_degrees(conv, options)) return {};
  const Degrees wanted = conv.degrees();
  const c10::NoGradGuard no_grad;
  Execution execution;
  execution.device = device_;
  if (args.graph->elsewhere()) {
    const at::ScalarType type = scalar_type(config_.dtype);
    const std::vector<sample::NodeDegree> degrees = degrees_elsewhere(args, num_nodes);
    const at::Tensor known =
        reads_weight_sums(conv, options)
            ? weighted_degrees_of(weight_sums_elsewhere(args, num_nodes), degrees, wanted,
                                  edge_needs(options).loop_weight,
                                  device_ ? std::span<const int64_t>() : args.node_ids, type)
            : node_degrees(degrees, wanted, type);
    return device_ ? put(execution, known, "the degrees of nodes") : known;
  }
  const at::Tensor rows = view_on(execution, args.node_ids.data(), {num_nodes});
  return known_.of(args.graph)
      .degrees(*args.graph, wanted, options.edge_weights)
      .index_select(0, rows);
}

std::unique_ptr<Model> LayeredModel::filled(std::unique_ptr<LayeredModel> copy) const {
  const c10::NoGradGuard no_grad;
  use_device();
  copy->use_device();
  copy->parameters_.freeze(frozen());
  copy->parameters_.flat().copy_(parameters_.flat());
  for (size_t i = 0; i < buffers().size(); ++i)
    copy->buffers()[i].tensor.copy_(buffers()[i].tensor);
  if (copy->device_ == device_) copy->known_ = known_;
  copy->file_names_ = file_names_;
  return copy;
}

}  // namespace gnnmg::nn
