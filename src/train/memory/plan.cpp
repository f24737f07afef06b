#include "train/memory/plan.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.h"

namespace gnnmg::train {

using loader::FeaturePlacement;
using loader::GraphPlacement;

DegreeCounts::DegreeCounts(const graph::Csc& csc) {
  int64_t largest = 0;
  for (int64_t t = 0; t < csc.num_targets; ++t) largest = std::max(largest, csc.in_degree(t));
  counts_.resize(static_cast<size_t>(largest) + 1);
  for (int64_t t = 0; t < csc.num_targets; ++t) ++counts_[static_cast<size_t>(csc.in_degree(t))];
}

int64_t DegreeCounts::most_edges(int64_t rows, int64_t fanout) const {
  int64_t edges = 0;
  for (int64_t degree = largest(); degree > 0 && rows > 0; --degree) {
    const int64_t nodes = std::min(rows, counts_[static_cast<size_t>(degree)]);
    edges += nodes * (fanout < 0 ? degree : std::min(degree, fanout));
    rows -= nodes;
  }
  return edges;
}

std::vector<nn::LayerBounds> batch_bounds(const sample::NeighborConfig& config,
                                          const DegreeCounts& degrees, int64_t num_nodes,
                                          int64_t max_seeds) {
  const bool once = config.expansion == sample::Expansion::kOnce;
  std::vector<nn::LayerBounds> layers;
  int64_t nodes = max_seeds, rows = max_seeds, edges_of_all = 0;
  for (const int64_t fanout : config.fanouts) {
    if (!once) rows = nodes;
    // With replacement, any node with a neighbor gives the full fan-out; seeds may be repeated.
    const int64_t repeated = std::max<int64_t>(rows - num_nodes, 0);
    int64_t edges =
        degrees.most_edges(rows, fanout) + repeated * (fanout < 0 ? degrees.largest() : fanout);
    if (config.replace && fanout > 0) edges = rows * fanout;
    edges_of_all = once ? edges_of_all + edges : edges;
    const int64_t sources = std::min(nodes + edges, num_nodes + max_seeds);
    layers.insert(layers.begin(), {nodes, sources, edges_of_all});
    rows = std::min(edges, num_nodes);
    nodes = sources;
  }
  return layers;
}

MemoryPlan plan_memory(const MemoryRequest& r, int64_t memory) {
  MemoryPlan plan;
  plan.memory = memory;
  plan.bounded = r.bounded;
  plan.pass = r.pass;
  plan.evaluation = r.evaluation;
  plan.rows = r.rows;
  plan.parameters = r.parameters;
  plan.optimizer = r.optimizer;
  plan.communication = r.communication;
  plan.reserve = r.reserve;
  const int64_t beside = plan.rows + std::max(plan.pass, plan.evaluation) + plan.parameters +
                         plan.optimizer + plan.communication;
  const int64_t free = std::max<int64_t>(memory - r.reserve, 0);
  const loader::Room room{free, std::max(r.sampler, r.copied) + beside};

  plan.graph_placement = r.placement.graph;
  if (r.graph == 0)
    plan.graph_placement = GraphPlacement::kHost;
  else if (r.placement.graph == GraphPlacement::kAuto)
    plan.graph_placement =
        room.for_graph(r.graph) ? GraphPlacement::kDevice : GraphPlacement::kPinned;
  if (plan.graph_placement == GraphPlacement::kDevice) plan.graph = r.graph;
  if (plan.graph_placement == GraphPlacement::kPinned) plan.pinned += r.graph;
  plan.sampler = plan.graph_placement == GraphPlacement::kHost ? r.copied : r.sampler;

  const loader::Room left{free - plan.graph, plan.sampler + beside};
  plan.feature_placement = r.placement.features;
  if (r.features == 0) {
    plan.feature_placement = FeaturePlacement::kHost;
  } else if (r.placement.features == FeaturePlacement::kAuto) {
    const int64_t rows = left.for_cache(r.placement.cache_bytes, r.num_nodes) / r.feature_row;
    plan.feature_placement = left.for_features(r.features) ? FeaturePlacement::kDevice
                             : r.can_cache && rows > 0     ? FeaturePlacement::kCached
                                                           : FeaturePlacement::kPinned;
  }
  switch (plan.feature_placement) {
    case FeaturePlacement::kDevice:
      plan.features = r.features + r.scales;
      break;
    case FeaturePlacement::kCached:
      plan.num_cached = std::min(
          left.for_cache(r.placement.cache_bytes, r.num_nodes) / r.feature_row, r.num_nodes);
      plan.features = plan.num_cached * r.feature_row + 4 * r.num_nodes + r.scales;
      plan.pinned += r.features;
      break;
    case FeaturePlacement::kSplit: {
      const auto gpus = static_cast<int64_t>(std::max<size_t>(r.placement.devices.size(), 1));
      const int64_t here = std::min(
          left.for_cache(r.placement.cache_bytes, r.num_nodes) / r.feature_row, r.num_nodes);
      plan.num_cached = std::min(here * gpus, r.num_nodes);
      plan.features =
          (plan.num_cached + gpus - 1) / gpus * r.feature_row + 4 * r.num_nodes + r.scales;
      plan.pinned += r.features;
      break;
    }
    case FeaturePlacement::kPinned:
      plan.features = r.scales;
      plan.pinned += r.features;
      break;
    default:
      break;
  }
  // A table of all rows is read in place.
  if ((plan.feature_placement == FeaturePlacement::kDevice ||
       (plan.feature_placement == FeaturePlacement::kPinned && !r.placement.gather_pinned)) &&
      r.features > 0 && !r.placement.gather && r.placement.form != feature::Form::kInt8)
    plan.rows = 0;
  plan.total =
      plan.graph + plan.features + plan.sampler + beside - r.rows + plan.rows + plan.reserve;
  if (r.capture > 0 && plan.graph_placement != GraphPlacement::kHost &&
      plan.feature_placement != FeaturePlacement::kHost) {
    plan.capture_wanted = r.capture + (plan.rows > 0 ? r.capture_rows : 0);
    if (r.must_capture || plan.total + plan.capture_wanted <= memory)
      plan.capture = plan.capture_wanted;
    plan.total += plan.capture;
  }
  plan.fits = plan.total <= memory;
  return plan;
}

std::string list_parts(const MemoryPlan& plan) {
  const struct {
    const char* name;
    int64_t bytes;
  } parts[] = {{"graph", plan.graph},
               {"features", plan.features},
               {"sampler", plan.sampler},
               {"gathered rows", plan.rows},
               {"a step", plan.pass},
               {"an evaluation, between steps", plan.evaluation},
               {"parameters and gradients", plan.parameters},
               {"optimizer", plan.optimizer},
               {"communication", plan.communication},
               {"padded steps", plan.capture},
               {"reserve", plan.reserve}};
  std::string text;
  for (const auto& part : parts)
    if (part.bytes > 0) text += base::text(text.empty() ? "" : ", ", part.name, " ", part.bytes);
  return text;
}

std::string remedies(const MemoryPlan& plan) {
  const int64_t batch = plan.sampler + plan.rows + plan.pass;
  if (plan.evaluation > plan.pass && plan.evaluation > plan.graph + plan.features)
    return "set evaluation to sampled, or lower eval_batch_size, or evaluate on the CPU";
  if (plan.graph + plan.features > batch)
    return "set graph placement to pinned, or feature placement to cached or pinned, or the form "
           "of features to bf16 or int8";
  return "take smaller mini-batches (batch_size), fan-outs or widths, or fewer made ahead "
         "(prefetch)";
}

}  // namespace gnnmg::train
