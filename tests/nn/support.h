// Common parts of the layers' tests: blocks made from edge lists, and comparisons of tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "base/tensor.h"
#include "io/npy.h"
#include "nn/model/model.h"
#include "sample/mini_batch.h"

namespace gnnmg::nn {

// A block with its storage. Sources of a target keep the order of the edges.
class TestBlock {
 public:
  using Edges = std::vector<std::pair<int64_t, int64_t>>;  // pairs of source and target
  TestBlock(int64_t num_sources, int64_t num_targets, const Edges& edges);
  // The whole graph as `num_layers` blocks.
  static std::vector<sample::BlockView> repeated(const TestBlock& block, int num_layers) {
    return std::vector<sample::BlockView>(num_layers, block.view());
  }
  sample::BlockView view() const;

 private:
  int64_t num_sources_, num_targets_;
  std::vector<int32_t> indptr_, indices_, out_indptr_, out_targets_;
};

// Random edges, some of them repeated; target 0 is a hub, the last target and the last source have
// no edge.
TestBlock::Edges random_edges(int64_t num_sources, int64_t num_targets, int64_t num_edges,
                              uint64_t seed);
at::Tensor random_tensor(at::IntArrayRef sizes, at::ScalarType type, uint64_t seed);
// Returns a copy.
at::Tensor to_torch(const base::Tensor& tensor);

// Succeeds if the largest |a - b| is at most `tolerance` times max(the largest |b|, floor).
testing::AssertionResult near(const at::Tensor& a, const at::Tensor& b, double tolerance,
                              double floor = 0);
double largest(const at::Tensor& t);

// For a stored case: returns the largest of all gradients; compares every "gradp.KEY" with the
// computed one, which must be zero if the case has none.
double largest_gradient(const io::Npz& npz);
void expect_gradients(const io::Npz& npz, const std::vector<NamedTensor>& parameters,
                      double tolerance);

// Adam, AdamW or SGD with momentum, written out, with the options of a stored case.
class PlainOptimizer {
 public:
  using Options = std::map<std::string, std::string>;
  PlainOptimizer(const Options& options, const at::Tensor& weights);
  void step(at::Tensor weights, const at::Tensor& gradient);

 private:
  bool adam_, decoupled_;
  double rate_, decay_ = 0, momentum_ = 0;
  int steps_ = 0;
  at::Tensor first_, second_;
};

}  // namespace gnnmg::nn
