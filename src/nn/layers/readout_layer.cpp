#include "nn/layers/readout_layer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/ops/device_lists.h"
#include "nn/ops/edge_functions.h"
#include "nn/ops/made_block.h"
#include "nn/ops/tensors.h"
#include "nn/torch/linear.h"

namespace gnnmg::nn {
namespace {

// Makes a block with graphs as targets, each of which reads its nodes.
std::shared_ptr<const MadeBlock> nodes_to_graphs(std::span<const int64_t> graph_ptr,
                                                 int64_t num_nodes, const Execution& execution) {
  if (execution.device) {
    const std::vector<int32_t> pointers(graph_ptr.begin(), graph_ptr.end());
    return std::make_shared<MadeBlock>(execution, num_nodes, put(execution, pointers),
                                       at::arange(num_nodes, options_of(execution, at::kInt)));
  }
  std::vector<int32_t> nodes(num_nodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  return std::make_shared<MadeBlock>(
      num_nodes, std::vector<int32_t>(graph_ptr.begin(), graph_ptr.end()), std::move(nodes));
}

}  // namespace

ReadoutLayer::ReadoutLayer(const ModelConfig& config, int64_t width)
    : kind_(config.readout),
      ties_(config.framework == Framework::kDgl ? Ties::kFirst : Ties::kSplit),
      width_(width),
      steps_(config.readout_steps),
      rows_(config.sort_rows) {}

void ReadoutLayer::declare(ParameterList& list) {
  if (kind_ == Readout::kAttention) list.linear("gate_nn", 1, width_, true, gate_);
  if (kind_ == Readout::kSet2Set) lstm_.declare(list, "lstm", 2 * width_, width_);
}

at::Tensor ReadoutLayer::apply(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                               const Execution& execution) const {
  check_graph_ptr(graph_ptr, x.size(0));
  switch (kind_) {
    case Readout::kNone:
      return x;
    case Readout::kAttention:
      return attention(x, graph_ptr, execution);
    case Readout::kSet2Set:
      return set2set(x, graph_ptr, execution);
    case Readout::kSort:
      return sorted(x, graph_ptr, execution);
    default:
      return readout(x, graph_ptr, kind_, ties_, execution);
  }
}

at::Tensor ReadoutLayer::attention(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                                   const Execution& execution) const {
  const auto graphs = nodes_to_graphs(graph_ptr, x.size(0), execution);
  const Execution kept = execution.with(graphs);
  WeightedSum sum;
  sum.x = x;
  sum.weights = edge_softmax(torch_linear(x, gate_.weight, gate_.bias), graphs->view(), kept);
  return weighted_sum(sum, graphs->view(), kept);
}

at::Tensor ReadoutLayer::set2set(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                                 const Execution& execution) const {
  const auto graphs = nodes_to_graphs(graph_ptr, x.size(0), execution);
  const Execution kept = execution.with(graphs);
  const auto options = x.options().requires_grad(false);
  const int64_t count = static_cast<int64_t>(graph_ptr.size()) - 1;
  at::Tensor hidden = at::zeros({count, width_}, options), cell = hidden;
  at::Tensor answer = at::zeros({count, 2 * width_}, options);
  for (int64_t step = 0; step < steps_; ++step) {
    const at::Tensor gates = torch_linear(answer, lstm_.weight_ih, lstm_.bias_ih) +
                             torch_linear(hidden, lstm_.weight_hh, lstm_.bias_hh);
    const std::vector<at::Tensor> gate = gates.chunk(4, 1);  // i, f, g, o
    cell = at::sigmoid(gate[1]) * cell + at::sigmoid(gate[0]) * at::tanh(gate[2]);
    hidden = at::sigmoid(gate[3]) * at::tanh(cell);
    WeightedSum sum;
    sum.x = x;
    sum.weights = edge_softmax(edge_dots(x, hidden, 1, graphs->view(), kept), graphs->view(), kept);
    answer = at::cat({hidden, weighted_sum(sum, graphs->view(), kept)}, 1);
  }
  return answer;
}

// Like sorted(): the rows of each graph by descending `last`, NaN first, equal ones in order.
at::Tensor ReadoutLayer::places_on_device(const at::Tensor& last,
                                          std::span<const int64_t> graph_ptr,
                                          const Execution& execution) const {
  const int64_t nodes = last.size(0), graphs = static_cast<int64_t>(graph_ptr.size()) - 1;
  const at::TensorOptions numbers = options_of(execution, at::kLong);
  if (nodes == 0) return at::zeros({graphs * rows_}, numbers);
  const at::Tensor pointers =
      put(execution, std::vector<int64_t>(graph_ptr.begin(), graph_ptr.end()));
  const at::Tensor begin = pointers.narrow(0, 0, graphs), end = pointers.narrow(0, 1, graphs);
  const at::Tensor graph_of =
      at::searchsorted(end, at::arange(nodes, numbers), /*out_int32=*/false, /*right=*/true);
  const at::Tensor by_value =
      std::get<1>(at::sort(last, /*stable=*/true, /*dim=*/0, /*descending=*/true));
  const at::Tensor order =
      by_value.index_select(0, stable_order(graph_of.index_select(0, by_value)));
  const at::Tensor taken = begin.unsqueeze(1) + at::arange(rows_, numbers);
  const at::Tensor rows = order.index_select(0, taken.clamp_max(nodes - 1).view({-1}));
  return rows.masked_fill((taken >= end.unsqueeze(1)).view({-1}), nodes);
}

at::Tensor ReadoutLayer::sorted(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                                const Execution& execution) const {
  const int64_t nodes = x.size(0), graphs = static_cast<int64_t>(graph_ptr.size()) - 1;
  // Every row except the row of zeros is taken at most once, so its gradient is no sum.
  const auto rows_at = [&](const at::Tensor& index) {
    return at::cat({x, at::zeros({1, width_}, x.options().requires_grad(false))})
        .index_select(0, index)
        .view({graphs, rows_ * width_});
  };
  if (execution.device)
    return rows_at(places_on_device(x.detach().select(1, width_ - 1), graph_ptr, execution));
  const at::Tensor last = x.detach().select(1, width_ - 1).to(at::kDouble).contiguous();
  const double* key = last.const_data_ptr<double>();
  // The position after all nodes: a row of zeros.
  std::vector<int64_t> places(graphs * rows_, nodes);
  std::vector<int64_t> order;
  for (int64_t g = 0; g < graphs; ++g) {
    order.resize(graph_ptr[g + 1] - graph_ptr[g]);
    std::iota(order.begin(), order.end(), graph_ptr[g]);
    // NaN is above all other numbers, as in LibTorch.
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
      return std::isnan(key[b]) ? false : std::isnan(key[a]) || key[a] > key[b];
    });
    const size_t taken = std::min(order.size(), static_cast<size_t>(rows_));
    std::copy_n(order.begin(), taken, places.begin() + g * rows_);
  }
  const at::Tensor index = at::from_blob(places.data(), {graphs * rows_}, at::kLong).clone();
  return rows_at(index);
}

}  // namespace gnnmg::nn
