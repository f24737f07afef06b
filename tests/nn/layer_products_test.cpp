// Products of layers with factors rounded to bf16 on the CPU: against the rounded factors in f64,
// and the same bits on any threads.
#include "nn/ops/layer_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <functional>

#include "nn/support.h"
#include "nn/torch/parallel.h"

namespace gnnmg::nn {
namespace {

Execution in_bf16() {
  Execution execution;
  execution.gradients = true;
  execution.bf16 = true;
  return execution;
}

at::Tensor rounded(const at::Tensor& t) { return t.to(at::kBFloat16).to(at::kDouble); }

// Products of bf16 are exact in f32, so each of the additions adds at most half a unit in the last
// place of a sum that never exceeds the sum of absolute values.
testing::AssertionResult within_sums(const at::Tensor& found, const at::Tensor& a,
                                     const at::Tensor& b, const at::Tensor& before = {}) {
  at::Tensor exact = a.matmul(b), bound = a.abs().matmul(b.abs());
  if (before.defined()) {
    exact = exact + before.to(at::kDouble);
    bound = bound + before.to(at::kDouble).abs();
  }
  const double roundings = static_cast<double>(a.size(1) + 3);
  const at::Tensor excess = (found.to(at::kDouble) - exact).abs() - bound * roundings * 0x1p-24;
  const double worst = excess.max().item<double>();
  if (worst <= 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "an element is " << worst << " outside of its bound";
}

TEST(LayerProducts, AreThoseOfRoundedFactors) {
  const Execution execution = in_bf16();
  for (const int64_t rows : {1, 33, 512, 1100})
    for (const int64_t in : {1, 47, 100})
      for (const int64_t out : {1, 17, 64}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out);
        // Rows with a gap, and not aligned to a vector.
        const at::Tensor x = random_tensor({rows, in + 3}, at::kFloat, 1).narrow(1, 1, in);
        const at::Tensor weight = random_tensor({in, out}, at::kFloat, 2).t();
        const at::Tensor dz = random_tensor({rows, out}, at::kFloat, 3);
        const auto forward = ForwardProduct::make(weight, execution);
        const at::Tensor y = at::zeros({rows, out}), again = at::zeros({rows, out});
        forward->multiply(y, x);
        EXPECT_TRUE(within_sums(y, rounded(x), rounded(weight).t()));
        const at::Tensor kept = forward->room(rows);
        EXPECT_EQ(kept.scalar_type(), at::kBFloat16);
        forward->keep(x, kept);
        forward->multiply(again, kept);
        EXPECT_TRUE(again.equal(y));

        const auto backward = BackwardProducts::make(weight, true, execution);
        const at::Tensor before = random_tensor({out, in}, at::kFloat, 4);
        const at::Tensor dx_before = random_tensor({rows, in}, at::kFloat, 5);
        for (const bool add : {false, true}) {
          const at::Tensor dw = before.clone(), dx = dx_before.clone(), of_kept = before.clone();
          backward->multiply(dz, x, {dw, add}, {dx, add});
          const auto old = [&](const at::Tensor& t) { return add ? t : at::Tensor(); };
          EXPECT_TRUE(within_sums(dw, rounded(dz).t(), rounded(x), old(before)));
          EXPECT_TRUE(within_sums(dx, rounded(dz), rounded(weight), old(dx_before)));
          BackwardProducts::make(weight, false, execution)->multiply(dz, kept, {of_kept, add}, {});
          EXPECT_TRUE(of_kept.equal(dw));
        }
      }
}

TEST(LayerProducts, OfF64AreNotRounded) {
  const at::Tensor x = random_tensor({5, 7}, at::kDouble, 1);
  const at::Tensor weight = random_tensor({3, 7}, at::kDouble, 2);
  const at::Tensor y = at::zeros({5, 3}, at::kDouble);
  ForwardProduct::make(weight, in_bf16())->multiply(y, x);
  EXPECT_TRUE(near(y, x.matmul(weight.t()), 1e-14));
}

// Results and gradients of an operation over inputs that want gradients.
using Operation = std::function<at::Tensor(const std::vector<at::Tensor>&, const Execution&)>;
std::vector<at::Tensor> pass(const Operation& operation, const std::vector<at::Tensor>& inputs,
                             const Execution& execution) {
  for (const at::Tensor& input : inputs) input.mutable_grad().reset();
  const at::Tensor y = operation(inputs, execution);
  (y * y).sum().backward();
  std::vector<at::Tensor> all{y.detach()};
  for (const at::Tensor& input : inputs) all.push_back(input.grad());
  return all;
}

// The same bits on one and on two threads, and on pools; near f32 and not the same.
void expect_one_result(const Operation& operation, const std::vector<at::Tensor>& inputs) {
  Execution execution = in_bf16();
  set_loop_threads(1);
  const std::vector<at::Tensor> expected = pass(operation, inputs, execution);
  const auto expect_same = [&] {
    const std::vector<at::Tensor> found = pass(operation, inputs, execution);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
  };
  set_loop_threads(2);
  expect_same();
  set_loop_threads(0);
  for (const int threads : {1, 3}) {
    base::ThreadPool pool(threads);
    execution.pool = &pool;
    expect_same();
    execution.pool = nullptr;
  }
  execution.gradients = false;
  EXPECT_TRUE(operation(inputs, execution).equal(expected[0])) << "without gradients";
  execution = in_bf16();
  execution.bf16 = false;
  const std::vector<at::Tensor> full = pass(operation, inputs, execution);
  for (size_t i = 0; i < full.size(); ++i) {
    EXPECT_TRUE(near(expected[i], full[i], 0.03)) << i;
    EXPECT_FALSE(expected[i].equal(full[i])) << i;
  }
}

at::Tensor leaf(at::IntArrayRef sizes, uint64_t seed) {
  return random_tensor(sizes, at::kFloat, seed).set_requires_grad(true);
}

TEST(LayerProducts, LinearLayersHaveOneResult) {
  const Finish finish{true, kernels::make_dropout(0.4, 1, 2, 3, 4)};
  for (const int64_t rows : {1, 5000})
    expect_one_result(
        [&](const std::vector<at::Tensor>& in, const Execution& execution) {
          return linear(in[0], in[1], in[2], execution, finish);
        },
        {leaf({rows, 37}, 1), leaf({50, 37}, 2), leaf({50}, 3)});
}

TEST(LayerProducts, AggregationsHaveOneResult) {
  const TestBlock block(3000, 1500, random_edges(3000, 1500, 9000, 5));
  for (const Reduce reduce : {Reduce::kMean, Reduce::kMax})
    expect_one_result(
        [&](const std::vector<at::Tensor>& in, const Execution& execution) {
          AggregateLinear layer;
          layer.x = in[0];
          layer.lin_l = in[1];
          layer.bias = in[2];
          layer.lin_r = in[3];
          return aggregate_linear(layer, block.view(), reduce, Finish{}, execution);
        },
        {leaf({3000, 20}, 8), leaf({33, 20}, 9), leaf({33}, 10), leaf({33, 20}, 11)});
}

TEST(LayerProducts, BlocksMayBeEmpty) {
  for (const int64_t targets : {0, 3}) {
    const TestBlock block(4, targets, {});
    AggregateLinear layer;
    layer.x = leaf({4, 5}, 1);
    layer.lin_l = leaf({6, 5}, 2);
    layer.bias = leaf({6}, 3);
    const at::Tensor y = aggregate_linear(layer, block.view(), Reduce::kMean, Finish{}, in_bf16());
    EXPECT_TRUE(y.equal(layer.bias.expand({targets, 6})));
    y.sum().backward();
    EXPECT_TRUE(layer.bias.grad().equal(at::ones({6}) * targets));
    EXPECT_TRUE(layer.lin_l.grad().equal(at::zeros({6, 5})));
    EXPECT_TRUE(layer.x.grad().equal(at::zeros({4, 5})));
  }
}

}  // namespace
}  // namespace gnnmg::nn
