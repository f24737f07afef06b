#include "nn/layered_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/error.h"
#include "nn/device_lists.h"
#include "nn/model_input.h"
#include "nn/tensors.h"
#include "nn/thinned_batch.h"
#include "nn/torch_tensor.h"

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

void LayeredModel::add_piece_needs(const Conv& conv, const ModelConfig& options,
                                   PieceNeeds& needs) {
  const Degrees degrees = conv.degrees();
  needs.degrees = needs.degrees || degrees != Degrees::kNone;
  if (conv.normalises_all_rows() || conv.staged())
    needs.obstacle = "norms over the rows of all edges inside a layer";
  else if (conv.reads_largest_degree())
    needs.obstacle = "a layer whose lists are as long as the longest in the graph";
  else if (degrees == Degrees::kOut)
    needs.obstacle = "a layer that reads how many edges leave a node";
  else if (degrees != Degrees::kNone && options.edge_weights)
    needs.obstacle = "a layer that reads the sum of the weights of all edges into a node";
}

PieceNeeds LayeredModel::own_piece_needs() const {
  PieceNeeds needs;
  if (config_.input == Input::kNodes) needs.obstacle = "weights of each node in a layer";
  return needs;
}

// Takes the degrees from the sample, or requests them here.
std::vector<sample::NodeDegree> LayeredModel::degrees_elsewhere(const ForwardArgs& args,
                                                                int64_t num_nodes) const {
  std::vector<sample::NodeDegree> degrees(static_cast<size_t>(num_nodes));
  if (!args.degrees.empty()) {
    std::copy_n(args.degrees.begin(), num_nodes, degrees.begin());
    return degrees;
  }
  if (device_)
    base::fail(base::Status::kUnsupported,
               "a layer on a GPU reads degrees of nodes of a graph in parts, and the mini-batch "
               "does not have them; samplers of gnnmg_trainer_create() provide them");
  args.graph->elsewhere()->degrees(args.node_ids.first(static_cast<size_t>(num_nodes)),
                                   degrees.data());
  return degrees;
}

at::Tensor LayeredModel::degrees_of(const Conv& conv, const ModelConfig& options,
                                    const ForwardArgs& args, int64_t num_nodes) {
  if (!args.graph || !reads_degrees(conv, options)) return {};
  const Degrees wanted = conv.degrees();
  const c10::NoGradGuard no_grad;
  Execution execution;
  execution.device = device_;
  if (args.graph->elsewhere()) {
    if (options.edge_weights) fail_weighted_degrees();
    const at::Tensor known =
        node_degrees(degrees_elsewhere(args, num_nodes), wanted, scalar_type(config_.dtype));
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
