// A small graph with all kinds of data, mini-batches of it, and the configs of all kinds of models.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "nn/model/model.h"
#include "nn/support.h"
#include "sample/sampler.h"

namespace gnnmg::nn {

constexpr int64_t kNodes = 60, kFeatures = 10, kEdgeColumns = 3, kTypes = 4;

// 60 nodes, two of them isolated, with dense ("x") and sparse ("s") features, and categories ("c",
// columns of 4 and 3); edges with rows ("edge_attr"), weights, types; at most one loop per node.
graph::GraphRef make_graph();

// A mini-batch with its rows.
struct Batch {
  graph::GraphRef graph;
  sample::Sample sample;
  at::Tensor dense, codes;
  feature::SparseRows sparse;
};
Batch sample_batch(const graph::GraphRef& graph, std::vector<int64_t> fanouts,
                   const std::vector<int64_t>& seeds,
                   sample::Expansion expansion = sample::Expansion::kOnce, uint64_t seed = 0);
ForwardArgs args_of(const Batch& batch, bool sparse, bool training);
// Returns the rows of the whole graph, computed for `grain` nodes at a time.
at::Tensor infer(Model& model, const graph::Graph& graph, const char* features, int64_t grain);

ModelConfig small_config();
// All settings, one or two at a time.
std::vector<ModelConfig> configs();
std::string describe(const ModelConfig& config);

base::Status status_of(const std::function<void()>& f, std::string* text = nullptr);

}  // namespace gnnmg::nn
