// Gradients of every differentiable operation compared with central differences, in f64.
#include "nn/ops/functions.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros_like.h>

#include <functional>

#include "base/error.h"
#include "nn/conv/sage_conv.h"
#include "nn/ops/edge_functions.h"
#include "nn/support.h"
#include "nn/torch/linear.h"

namespace gnnmg::nn {
namespace {

using Function = std::function<at::Tensor()>;

// Compares backward() of sum(f() * c) with differences in every element of every input.
void expect_right_gradients(const Function& f, const std::vector<at::Tensor>& inputs) {
  const at::Tensor out = f();
  const at::Tensor cotangent = random_tensor(out.sizes(), at::kDouble, 99);
  for (const at::Tensor& input : inputs) input.mutable_grad() = at::Tensor();
  (out * cotangent).sum().backward();
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < inputs.size(); ++i) {
    at::Tensor numeric = at::zeros_like(inputs[i]);
    at::Tensor values = inputs[i].detach();
    for (int64_t k = 0; k < values.numel(); ++k) {
      double& value = values.mutable_data_ptr<double>()[k];
      const double before = value;
      value = before + kStep;
      const double above = (f().detach() * cotangent).sum().item<double>();
      value = before - kStep;
      const double below = (f().detach() * cotangent).sum().item<double>();
      value = before;
      numeric.mutable_data_ptr<double>()[k] = (above - below) / (2 * kStep);
    }
    EXPECT_TRUE(near(inputs[i].grad(), numeric, 1e-7, 1)) << "input " << i;
  }
}

at::Tensor variable(at::IntArrayRef sizes, uint64_t seed) {
  return random_tensor(sizes, at::kDouble, seed).set_requires_grad(true);
}

class Functions : public testing::Test {
 protected:
  Functions() { execution_.gradients = true; }
  Execution execution_;
  const TestBlock block_{12, 7, random_edges(12, 7, 30, 3)};
};

// With the guard a GPU adds the bias after the product; the CPU has no TF32.
TEST_F(Functions, TorchLinearWithAndWithoutTf32) {
  const at::Tensor x = variable({6, 5}, 1), w = variable({4, 5}, 2), b = variable({4}, 3);
  const at::Tensor expected = at::linear(x, w, b);
  EXPECT_TRUE(at::equal(torch_linear(x, w, b), expected));
  const at::NoTF32Guard in_f32;
  EXPECT_TRUE(at::equal(torch_linear(x, w, b), expected));
  EXPECT_TRUE(at::equal(torch_linear(x, w), at::linear(x, w)));
  EXPECT_TRUE(near(linear_then_bias(x, w, b), expected, 1e-12, 1));
  expect_right_gradients([&] { return linear_then_bias(x, w, b); }, {x, w, b});
}

TEST_F(Functions, Aggregate) {
  for (const Reduce reduce : {Reduce::kSum, Reduce::kMean}) {
    const at::Tensor x = variable({12, 5}, 1);
    expect_right_gradients([&] { return aggregate(x, block_.view(), reduce, execution_); }, {x});
  }
}

TEST_F(Functions, AggregateReadsStridedRows) {
  const at::Tensor wide = random_tensor({12, 9}, at::kDouble, 2);
  const at::Tensor part = wide.narrow(1, 3, 4);
  EXPECT_TRUE(aggregate(part, block_.view(), Reduce::kMean, execution_)
                  .equal(aggregate(part.contiguous(), block_.view(), Reduce::kMean, execution_)));
}

TEST_F(Functions, Linear) {
  const at::Tensor x = variable({7, 4}, 1), weight = variable({3, 4}, 2), bias = variable({3}, 3);
  const at::Tensor first = variable({2, 4}, 4), shift = variable({2}, 5);
  expect_right_gradients([&] { return linear(x, weight, bias, execution_); }, {x, weight, bias});
  const at::Tensor other = variable({7, 3}, 6);
  expect_right_gradients([&] { return linear(other, weight.t(), {}, execution_); },
                         {other, weight});
  const LinearOfEnds both{weight, bias, 5, first, shift}, plain{weight, {}, 5, first, {}};
  for (const LinearOfEnds& ends : {both, plain}) {
    std::vector<at::Tensor> inputs{x, weight, first};
    if (ends.bias.defined()) inputs.insert(inputs.end(), {bias, shift});
    expect_right_gradients(
        [&] {
          const auto [all, some] = linear_of_ends(x, ends, execution_);
          EXPECT_EQ(some.size(0), 5);
          return at::cat({all.reshape({-1}), some.reshape({-1})});
        },
        inputs);
  }
  // Only one of the results.
  expect_right_gradients([&] { return linear_of_ends(x, both, execution_).first; }, {x, weight});
  expect_right_gradients([&] { return linear_of_ends(x, both, execution_).second; }, {x, first});
}

// Operations after a product or a sum are part of its pass.
TEST_F(Functions, LinearAndWeightedSumWithAFinish) {
  const at::Tensor x = variable({12, 4}, 1), weight = variable({3, 4}, 2), bias = variable({3}, 3);
  const at::Tensor shift = variable({4}, 4), weights = variable({block_.view().num_edges}, 5);
  const at::Tensor own = variable({6}, 6), target = variable({7, 4}, 7);
  const Dropout dropout = kernels::make_dropout(0.4, 1, 2, 3, 4);
  for (const Finish& finish :
       {Finish{}, Finish{true, {}}, Finish{false, dropout}, Finish{true, dropout}}) {
    SCOPED_TRACE(testing::Message() << finish.relu << finish.dropout.active());
    expect_right_gradients([&] { return linear(x, weight, bias, execution_, finish); },
                           {x, weight, bias});
    expect_right_gradients([&] { return linear(x, weight, {}, execution_, finish); }, {x, weight});
    EXPECT_TRUE(near(linear(x, weight, bias, execution_, finish).detach(),
                     apply_finish(at::linear(x, weight, bias), finish, execution_).detach(),
                     1e-13));
    const WeightedSum all{x, weights, target, own, shift, finish};
    expect_right_gradients([&] { return weighted_sum(all, block_.view(), execution_); },
                           {x, weights, target, own, shift});
    const WeightedSum sum{x, {}, {}, {}, shift, finish};
    expect_right_gradients([&] { return weighted_sum(sum, block_.view(), execution_); },
                           {x, shift});
    EXPECT_TRUE(near(weighted_sum(sum, block_.view(), execution_).detach(),
                     apply_finish(aggregate(x, block_.view(), Reduce::kSum, execution_) + shift,
                                  finish, execution_)
                         .detach(),
                     1e-13));
  }
}

// Rows in several chunks, with and without a pool, on any number of threads: equal numbers.
TEST_F(Functions, LinearInChunks) {
  const at::Tensor x = random_tensor({5000, 6}, at::kFloat, 1).set_requires_grad(true);
  const at::Tensor weight = random_tensor({5, 6}, at::kFloat, 2).set_requires_grad(true);
  const at::Tensor bias = random_tensor({5}, at::kFloat, 3).set_requires_grad(true);
  const Finish finish{true, kernels::make_dropout(0.4, 1, 2, 3, 4)};
  std::vector<std::vector<at::Tensor>> results;
  for (const int threads : {0, 1, 3}) {
    base::ThreadPool pool(std::max(1, threads));
    Execution execution;
    execution.gradients = true;
    execution.pool = threads ? &pool : nullptr;
    for (const at::Tensor& input : {x, weight, bias}) input.mutable_grad().reset();
    const at::Tensor y = linear(x, weight, bias, execution, finish);
    (y * y).sum().backward();
    results.push_back({y.detach(), x.grad(), weight.grad(), bias.grad()});
  }
  for (const auto& found : results)
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(results[0][i])) << i;
  for (const at::Tensor& input : {x, weight, bias}) input.mutable_grad().reset();
  const at::Tensor plain = apply_finish(at::linear(x, weight, bias), finish, execution_);
  (plain * plain).sum().backward();
  const std::vector<at::Tensor> expected{plain.detach(), x.grad(), weight.grad(), bias.grad()};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(near(results[0][i], expected[i], 1e-5, 1)) << i;
}

TEST_F(Functions, FinishWithABias) {
  const at::Tensor x = variable({9, 5}, 1), bias = variable({5}, 2);
  const Dropout dropout = kernels::make_dropout(0.4, 1, 2, 3, 4);
  for (const Finish& finish : {Finish{}, Finish{true, {}}, Finish{true, dropout}})
    expect_right_gradients([&] { return apply_finish(x, finish, execution_, bias); }, {x, bias});
}

TEST_F(Functions, AggregateLinear) {
  const Dropout dropout = kernels::make_dropout(0.4, 1, 2, 3, 4);
  for (const Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax})
    for (const Finish& finish :
         {Finish{}, Finish{true, {}}, Finish{false, dropout}, Finish{true, dropout}})
      for (const bool own : {true, false})
        for (const bool separate : {true, false}) {
          if (separate && !own) continue;
          SCOPED_TRACE(testing::Message() << static_cast<int>(reduce) << finish.relu
                                          << finish.dropout.active() << own << separate);
          AggregateLinear in;
          in.x = variable({12, 4}, 3);
          in.lin_l = variable({3, 4}, 4);
          in.bias = variable({3}, 5);
          std::vector<at::Tensor> inputs{in.x, in.lin_l, in.bias};
          if (own) inputs.push_back(in.lin_r = variable({3, separate ? 2 : 4}, 6));
          if (separate) inputs.push_back(in.x_target = variable({7, 2}, 7));
          expect_right_gradients(
              [&] { return aggregate_linear(in, block_.view(), reduce, finish, execution_); },
              inputs);
        }
}

// A pool and the number of threads do not change the numbers.
TEST_F(Functions, AggregateLinearOnAPool) {
  const TestBlock block(3000, 1500, random_edges(3000, 1500, 9000, 5));
  for (const Reduce reduce : {Reduce::kMean, Reduce::kMax}) {
    std::vector<std::vector<at::Tensor>> results;
    for (const int threads : {0, 1, 2, 5}) {
      base::ThreadPool pool(std::max(1, threads));
      Execution execution;
      execution.gradients = true;
      execution.pool = threads ? &pool : nullptr;
      AggregateLinear in;
      in.x = random_tensor({3000, 20}, at::kFloat, 8).set_requires_grad(true);
      in.lin_l = random_tensor({9, 20}, at::kFloat, 9).set_requires_grad(true);
      in.bias = random_tensor({9}, at::kFloat, 10).set_requires_grad(true);
      in.lin_r = random_tensor({9, 20}, at::kFloat, 11).set_requires_grad(true);
      const at::Tensor y = aggregate_linear(in, block.view(), reduce, Finish{true, {}}, execution);
      (y * y).sum().backward();
      results.push_back(
          {y.detach(), in.x.grad(), in.lin_l.grad(), in.bias.grad(), in.lin_r.grad()});
      execution.gradients = false;
      EXPECT_TRUE(
          aggregate_linear(in, block.view(), reduce, Finish{true, {}}, execution).equal(y.detach()))
          << "without gradients";
    }
    for (size_t i = 2; i < results.size(); ++i)
      for (size_t k = 0; k < results[i].size(); ++k)
        EXPECT_TRUE(results[i][k].equal(results[1][k])) << i << " " << k;
    for (size_t k = 0; k < results[0].size(); ++k)
      EXPECT_TRUE(near(results[0][k], results[1][k], 1e-5)) << k;
  }
}

TEST_F(Functions, SparseLinear) {
  const std::vector<int64_t> indptr{0, 2, 2, 5, 6};
  const std::vector<int32_t> indices{1, 4, 0, 4, 4, 2};
  const std::vector<float> values{0.5f, -1, 2, 3, 0.25f, 1.5f};
  const SparseView x{4, 6, indptr[4], indptr.data(), indices.data(), values.data()};
  for (const double rate : {0.0, 0.5}) {
    const Dropout dropout = kernels::make_dropout(rate, 4, 3, 2, 1);
    const at::Tensor weight = variable({5, 6}, 12);
    expect_right_gradients([&] { return sparse_linear(x, 3, dropout, weight, execution_); },
                           {weight});
    const at::Tensor dense = densify(x, dropout, at::kDouble, execution_);
    EXPECT_TRUE(near(sparse_linear(x, 4, dropout, weight, execution_),
                     dense.matmul(weight.detach().t()), 1e-12));
  }
}

TEST_F(Functions, Finish) {
  const Dropout dropout = kernels::make_dropout(0.3, 1, 1, 1, 1);
  for (const Finish& finish : {Finish{true, {}}, Finish{false, dropout}, Finish{true, dropout}}) {
    const at::Tensor x = variable({6, 130}, 13);
    expect_right_gradients([&] { return apply_finish(x, finish, execution_); }, {x});
  }
}

TEST_F(Functions, Normalize) {
  const at::Tensor x = variable({5, 7}, 14);
  expect_right_gradients([&] { return normalize_rows(x, execution_); }, {x});
}

TEST_F(Functions, SageConv) {
  for (const Reduce reduce : {Reduce::kMean, Reduce::kSum, Reduce::kMax})
    for (const bool normalize : {false, true})
      for (const bool project : {false, true})
        for (const bool skip : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << static_cast<int>(reduce) << normalize << project << skip);
          const at::Tensor x = variable({12, 4}, 15);
          SageConvWeights w;
          w.lin_l = variable({3, 4}, 16);
          w.lin_l_bias = variable({3}, 17);
          w.lin_r = variable({3, 4}, 18);
          std::vector<at::Tensor> inputs{x, w.lin_l, w.lin_l_bias, w.lin_r};
          if (project) {
            inputs.push_back(w.lin = variable({4, 4}, 19));
            inputs.push_back(w.lin_bias = variable({4}, 20));
          }
          if (skip) {
            inputs.push_back(w.skip = variable({3, 4}, 21));
            inputs.push_back(w.skip_bias = variable({3}, 22));
          }
          ConvInput in;
          in.x = x;
          expect_right_gradients(
              [&] {
                return sage_conv(w, in, block_.view(), {reduce, normalize}, Finish{true, {}},
                                 execution_);
              },
              inputs);
        }
}

// Returns the gradients of all inputs of two consecutive layers, optionally with a second reader of
// the result between them, or with two second layers.
std::vector<at::Tensor> stacked_gradients(Reduce reduce, bool internal, int readers,
                                          const Execution& execution) {
  const TestBlock lower(2000, 1500, random_edges(2000, 1500, 9000, 5));
  const TestBlock upper(1500, 400, random_edges(1500, 400, 3000, 6));
  const at::Tensor x = variable({2000, 5}, 1);
  std::vector<at::Tensor> inputs{x};
  const auto weights = [&](AggregateLinear& in, int64_t out, int64_t width, uint64_t seed) {
    inputs.push_back(in.lin_l = variable({out, width}, seed));
    inputs.push_back(in.bias = variable({out}, seed + 1));
    inputs.push_back(in.lin_r = variable({out, width}, seed + 2));
  };
  AggregateLinear first, second, third;
  first.x = x;
  weights(first, 6, 5, 10);
  const Finish finish{true, kernels::make_dropout(0.3, 1, 2, 3, 4)};
  const at::Tensor between = aggregate_linear(first, lower.view(), reduce, finish, execution);
  second.x = third.x = between;
  second.x_is_internal = third.x_is_internal = internal;
  weights(second, 4, 6, 20);
  weights(third, 4, 6, 30);
  at::Tensor loss = aggregate_linear(second, upper.view(), reduce, finish, execution).sum();
  if (readers == 2) loss = loss + (between * between).sum();
  if (readers == 3)
    loss = loss + aggregate_linear(third, upper.view(), reduce, Finish{}, execution).sum();
  loss.backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& input : inputs)
    gradients.push_back(input.grad().defined() ? input.grad() : at::zeros_like(input));
  return gradients;
}

TEST_F(Functions, ALayerMayTakeItsGradientFromTheOneAbove) {
  for (const Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax})
    for (const int readers : {1, 2, 3}) {
      const auto plain = stacked_gradients(reduce, false, readers, execution_);
      const auto handed = stacked_gradients(reduce, true, readers, execution_);
      for (size_t i = 0; i < plain.size(); ++i) {
        if (readers == 1)
          EXPECT_TRUE(plain[i].equal(handed[i])) << readers << " readers, input " << i;
        else  // two terms are added in the other order
          EXPECT_TRUE(near(handed[i], plain[i], 1e-13)) << readers << " readers, input " << i;
      }
    }
}

TEST_F(Functions, GradientsNeedListsBySource) {
  sample::BlockView block = block_.view();
  block.out_indptr = block.out_targets = nullptr;
  const at::Tensor x = variable({12, 5}, 1);
  EXPECT_THROW(aggregate(x, block, Reduce::kMean, execution_), base::Error);
  const at::Tensor features = x.detach();
  EXPECT_EQ(aggregate(features, block, Reduce::kMean, execution_).size(0), 7);
}

// Blocks are reused: a step of equal sizes takes no new memory.
TEST(Scratch, KeepsItsBlocks) {
  Scratch scratch;
  void* first = nullptr;
  {
    const auto memory = scratch.take(1 << 20);
    first = memory.get();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  }
  EXPECT_EQ(scratch.take((1 << 20) - 1000).get(), first);
  const int64_t held = scratch.held_bytes();
  EXPECT_GE(held, 1 << 20);
  std::shared_ptr<void> survivor;
  {
    Scratch gone;
    survivor = gone.take(100);
  }
  static_cast<char*>(survivor.get())[99] = 1;
  for (int64_t size = 1 << 20; size < 16 << 20; size += 1 << 18) scratch.take(size);
  EXPECT_LE(scratch.held_bytes(), 18 << 20) << "outgrown blocks go";
}

}  // namespace
}  // namespace gnnmg::nn
