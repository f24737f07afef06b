#include "nn/sequence.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "nn/made_block.h"

namespace gnnmg::nn {
namespace {

// Row k of the result is row order[k] of x, or zeros where that is -1.
at::Tensor gather(const at::Tensor& x, const std::vector<int32_t>& order,
                  const Execution& execution) {
  std::vector<int32_t> indptr{0}, indices;
  for (int32_t row : order) {
    if (row >= 0) indices.push_back(row);
    indptr.push_back(static_cast<int32_t>(indices.size()));
  }
  const auto block =
      std::make_shared<const MadeBlock>(x.size(0), std::move(indptr), std::move(indices));
  return aggregate(x, block->view(), Reduce::kSum, execution.with(block));
}

std::vector<at::Tensor> parameters(const Lstm& lstm) {
  return {lstm.weight_ih, lstm.weight_hh, lstm.bias_ih, lstm.bias_hh};
}

}  // namespace

void Lstm::declare(ParameterList& list, const std::string& name, int64_t in, int64_t hidden,
                   bool reverse) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const std::string end = reverse ? "_l0_reverse" : "_l0";
  list.uniform(name + ".weight_ih" + end, {4 * hidden, in}, bound, &weight_ih);
  list.uniform(name + ".weight_hh" + end, {4 * hidden, hidden}, bound, &weight_hh);
  list.uniform(name + ".bias_ih" + end, {4 * hidden}, bound, &bias_ih);
  list.uniform(name + ".bias_hh" + end, {4 * hidden}, bound, &bias_hh);
}

at::Tensor lstm_padded(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       int64_t least_steps, const Execution& execution) {
  const int64_t n = block.num_targets, hidden = lstm.weight_hh.size(1);
  int64_t steps = least_steps;
  for (int64_t t = 0; t < n; ++t)
    steps = std::max<int64_t>(steps, block.indptr[t + 1] - block.indptr[t]);
  if (steps == 0) return at::zeros({n, hidden}, x.options().requires_grad(false));
  base::checked_mul(base::checked_mul(n, steps, "steps of the neighbours' sequences"), x.size(1),
                    "rows of the neighbours' sequences");
  std::vector<int32_t> order(n * steps, -1);  // by step, then by target
  for (int64_t t = 0; t < n; ++t)
    for (int32_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
      order[(e - block.indptr[t]) * n + t] = block.indices[e];
  const at::Tensor rows = gather(x, order, execution).view({steps, n, x.size(1)});
  const at::Tensor start = at::zeros({1, n, hidden}, x.options().requires_grad(false));
  return std::get<1>(at::lstm(rows, {start, start}, parameters(lstm), /*has_biases=*/true,
                              /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                              /*bidirectional=*/false, /*batch_first=*/false))
      .view({n, hidden});
}

at::Tensor lstm_packed(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       const Execution& execution) {
  const int64_t n = block.num_targets, hidden = lstm.weight_hh.size(1);
  const auto degree = [&](int64_t t) { return block.indptr[t + 1] - block.indptr[t]; };
  // Longest sequences first; step k is made of the first sizes[k] of them.
  std::vector<int32_t> by_length(n);
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](int32_t a, int32_t b) { return degree(a) > degree(b); });
  const int64_t reached =
      std::find_if(by_length.begin(), by_length.end(), [&](int32_t t) { return degree(t) == 0; }) -
      by_length.begin();
  if (reached == 0) return at::zeros({n, hidden}, x.options().requires_grad(false));
  std::vector<int64_t> sizes;
  std::vector<int32_t> order;
  order.reserve(block.num_edges);
  int64_t left = reached;
  for (int32_t step = 0; left > 0; ++step) {
    while (left > 0 && degree(by_length[left - 1]) <= step) --left;
    if (left > 0) sizes.push_back(left);
    for (int64_t k = 0; k < left; ++k)
      order.push_back(block.indices[block.indptr[by_length[k]] + step]);
  }
  const at::Tensor rows = gather(x, order, execution);
  const at::Tensor start = at::zeros({1, reached, hidden}, x.options().requires_grad(false));
  const at::Tensor counts = at::from_blob(sizes.data(), {static_cast<int64_t>(sizes.size())},
                                          at::TensorOptions(at::kLong))
                                .clone();
  const at::Tensor last =
      std::get<1>(at::lstm(rows, counts, {start, start}, parameters(lstm), /*has_biases=*/true,
                           /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                           /*bidirectional=*/false))
          .view({reached, hidden});
  std::vector<int32_t> back(n, -1);
  for (int64_t k = 0; k < reached; ++k) back[by_length[k]] = static_cast<int32_t>(k);
  return gather(last, back, execution);
}

void LayerAttention::declare(ParameterList& list, const std::string& name, int64_t width,
                             int64_t layers) {
  const int64_t hidden = layers * width / 2;
  forward.declare(list, name + ".lstm", width, hidden);
  backward.declare(list, name + ".lstm", width, hidden, /*reverse=*/true);
  list.linear(name + ".att", 1, 2 * hidden, true, score);
}

at::Tensor LayerAttention::operator()(const std::vector<at::Tensor>& layers) const {
  const at::Tensor x = at::stack(layers, 0);
  const at::Tensor start =
      at::zeros({2, x.size(1), forward.weight_hh.size(1)}, x.options().requires_grad(false));
  std::vector<at::Tensor> both = parameters(forward);
  for (const at::Tensor& parameter : parameters(backward)) both.push_back(parameter);
  const at::Tensor states = std::get<0>(at::lstm(x, {start, start}, both, /*has_biases=*/true,
                                                 /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                                                 /*bidirectional=*/true, /*batch_first=*/false));
  const at::Tensor shares = at::softmax(at::linear(states, score.weight, score.bias), 0);
  return (x * shares).sum(0);
}

}  // namespace gnnmg::nn
