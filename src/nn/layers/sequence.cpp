#include "nn/layers/sequence.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/error.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/made_block.h"
#include "nn/torch/linear.h"

namespace gnnmg::nn {
namespace {

// Row k of the result is row order[k] of x, or zeros if that is -1.
at::Tensor gather(const at::Tensor& x, const std::vector<int32_t>& order,
                  const Execution& execution) {
  std::vector<int32_t> indptr{0}, indices;
  for (int32_t row : order) {
    if (row >= 0) indices.push_back(row);
    indptr.push_back(static_cast<int32_t>(indices.size()));
  }
  const auto block =
      execution.device
          ? std::make_shared<const MadeBlock>(execution, x.size(0), put(execution, indptr),
                                              put(execution, indices))
          : std::make_shared<const MadeBlock>(x.size(0), std::move(indptr), std::move(indices));
  return aggregate(x, block->view(), Reduce::kSum, execution.with(block));
}

// The lists of a block in host memory. The lengths of sequences determine the number of steps, so
// on a device the host waits for them.
struct HostLists {
  HostLists(const sample::BlockView& block, const Execution& execution)
      : indptr(block.indptr), indices(block.indices) {
    if (!execution.device) return;
    kept = at::cat({indptr_of(block, execution), sources_of_edges(block, execution)}).cpu();
    indptr = kept.const_data_ptr<int32_t>();
    indices = indptr + block.num_targets + 1;
  }
  at::Tensor kept;
  const int32_t *indptr, *indices;
};

// The work of all steps of sequences with these rows.
double work_of(const at::Tensor& rows, const Lstm& lstm) {
  const int64_t width = lstm.weight_ih.size(1);
  return static_cast<double>(rows.numel() / width) *
         static_cast<double>(lstm.weight_ih.numel() + lstm.weight_hh.numel());
}

std::vector<at::Tensor> parameters(const Lstm& lstm) {
  return {lstm.weight_ih, lstm.weight_hh, lstm.bias_ih, lstm.bias_hh};
}

// Computes a step's states from its input's contribution to the gates.
struct State {
  at::Tensor hidden, cell;
};
State stepped(const Lstm& lstm, const at::Tensor& input, const State& state) {
  const std::vector<at::Tensor> gate =
      (input + torch_linear(state.hidden, lstm.weight_hh, lstm.bias_hh)).chunk(4, 1);  // i, f, g, o
  State next;
  next.cell = at::sigmoid(gate[1]) * state.cell + at::sigmoid(gate[0]) * at::tanh(gate[2]);
  next.hidden = at::sigmoid(gate[3]) * at::tanh(next.cell);
  return next;
}
State zero_state(const at::Tensor& x, int64_t rows, int64_t hidden) {
  const at::Tensor zeros = at::zeros({rows, hidden}, x.options().requires_grad(false));
  return {zeros, zeros};
}

// Returns the state after the last step of each sequence, on a device, where LibTorch's layer has
// gradients that differ from run to run. Step k takes the next sizes[k] rows of x, those of the
// first sequences.
at::Tensor run_steps(const at::Tensor& x, const Lstm& lstm, std::span<const int64_t> sizes) {
  const at::Tensor inputs = torch_linear(x, lstm.weight_ih, lstm.bias_ih);
  State state = zero_state(x, sizes[0], lstm.weight_hh.size(1));
  std::vector<at::Tensor> ended;  // the shortest sequences first
  int64_t first = 0;
  for (const int64_t size : sizes) {
    if (const int64_t left = state.hidden.size(0) - size; left > 0) {
      ended.push_back(state.hidden.narrow(0, size, left));
      state = {state.hidden.narrow(0, 0, size), state.cell.narrow(0, 0, size)};
    }
    state = stepped(lstm, inputs.narrow(0, first, size), state);
    first += size;
  }
  ended.push_back(state.hidden);
  std::ranges::reverse(ended);
  return ended.size() > 1 ? at::cat(ended) : ended[0];
}

// Returns [layers, N, hidden]: the states along the first dimension of x [layers, N, width], or in
// reverse.
std::vector<at::Tensor> states_of(const at::Tensor& x, const Lstm& lstm, bool backward) {
  std::vector<at::Tensor> states(x.size(0));
  State state = zero_state(x, x.size(1), lstm.weight_hh.size(1));
  for (int64_t k = 0; k < x.size(0); ++k) {
    const int64_t at = backward ? x.size(0) - 1 - k : k;
    state = stepped(lstm, torch_linear(x[at], lstm.weight_ih, lstm.bias_ih), state);
    states[at] = state.hidden;
  }
  return states;
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
  const HostLists lists(block, execution);
  int64_t steps = least_steps;
  for (int64_t t = 0; t < n; ++t)
    steps = std::max<int64_t>(steps, lists.indptr[t + 1] - lists.indptr[t]);
  if (steps == 0) return at::zeros({n, hidden}, x.options().requires_grad(false));
  base::checked_mul(base::checked_mul(n, steps, "steps of the neighbors' sequences"), x.size(1),
                    "rows of the neighbors' sequences");
  std::vector<int32_t> order(n * steps, -1);  // ordered by step, then by target
  for (int64_t t = 0; t < n; ++t)
    for (int32_t e = lists.indptr[t]; e < lists.indptr[t + 1]; ++e)
      order[(e - lists.indptr[t]) * n + t] = lists.indices[e];
  const at::Tensor in_order = gather(x, order, execution);
  if (execution.device) return run_steps(in_order, lstm, std::vector<int64_t>(steps, n));
  const at::Tensor rows = in_order.view({steps, n, x.size(1)});
  const at::Tensor start = at::zeros({1, n, hidden}, x.options().requires_grad(false));
  const TorchThreads threads(rows, work_of(rows, lstm));
  return std::get<1>(at::lstm(rows, {start, start}, parameters(lstm), /*has_biases=*/true,
                              /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                              /*bidirectional=*/false, /*batch_first=*/false))
      .view({n, hidden});
}

namespace {

// The same as run_steps(), by LibTorch's layer.
at::Tensor packed(const at::Tensor& rows, const Lstm& lstm, std::vector<int64_t>& sizes) {
  const int64_t reached = sizes[0], hidden = lstm.weight_hh.size(1);
  const at::Tensor start = at::zeros({1, reached, hidden}, rows.options().requires_grad(false));
  const at::Tensor counts = at::from_blob(sizes.data(), {static_cast<int64_t>(sizes.size())},
                                          at::TensorOptions(at::kLong))
                                .clone();
  const TorchThreads threads(rows, work_of(rows, lstm));
  return std::get<1>(at::lstm(rows, counts, {start, start}, parameters(lstm), /*has_biases=*/true,
                              /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                              /*bidirectional=*/false))
      .view({reached, hidden});
}

}  // namespace

at::Tensor lstm_packed(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       const Execution& execution) {
  const int64_t n = block.num_targets, hidden = lstm.weight_hh.size(1);
  const HostLists lists(block, execution);
  const auto degree = [&](int64_t t) { return lists.indptr[t + 1] - lists.indptr[t]; };
  // Longest sequences first; step k takes the first sizes[k] of them.
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
      order.push_back(lists.indices[lists.indptr[by_length[k]] + step]);
  }
  const at::Tensor rows = gather(x, order, execution);
  const at::Tensor last =
      execution.device ? run_steps(rows, lstm, sizes) : packed(rows, lstm, sizes);
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
  const auto weighted = [&](const at::Tensor& states) {
    const at::Tensor shares = at::softmax(torch_linear(states, score.weight, score.bias), 0);
    return (x * shares).sum(0);
  };
  if (!x.is_cpu())
    return weighted(at::cat(
        {at::stack(states_of(x, forward, false), 0), at::stack(states_of(x, backward, true), 0)},
        2));
  const at::Tensor start =
      at::zeros({2, x.size(1), forward.weight_hh.size(1)}, x.options().requires_grad(false));
  std::vector<at::Tensor> both = parameters(forward);
  for (const at::Tensor& parameter : parameters(backward)) both.push_back(parameter);
  const TorchThreads threads(x, 2 * work_of(x, forward));
  const at::Tensor states = std::get<0>(at::lstm(x, {start, start}, both, /*has_biases=*/true,
                                                 /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                                                 /*bidirectional=*/true, /*batch_first=*/false));
  return weighted(states);
}

}  // namespace gnnmg::nn
