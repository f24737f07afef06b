#include "partition/assign.h"

#include <limits>

#include "base/error.h"
#include "partition/book.h"
#include "partition/cluster.h"
#include "partition/contract.h"
#include "partition/metis.h"
#include "partition/refine.h"
#include "partition/small.h"
#include "partition/topology.h"

namespace gnnmg::partition {
namespace {

using base::fail;
using base::Status;

// A cluster may hold 1 / kClusterShare of a part. Smaller clusters give better parts and a larger
// graph of clusters.
constexpr int64_t kClusterShare = 128;
constexpr int64_t kBytesPerNode = 26;  // labels, loads, training ids, parts
// A pair of clusters during the count (in a table that is at most seven tenths full and may be
// growing) and in the graphs made from it.
constexpr int64_t kBytesPerPair = 56;
constexpr int64_t kFewestPairs = 1 << 16, kMostPairs = 5'500'000;

void check(const graph::Csc& csc, std::span<const int64_t> train, const Config& config) {
  const auto expect = [](bool right, const char* name, auto value, const char* expected) {
    if (!right) fail(Status::kInvalidArgument, name, " is ", value, ", expected ", expected);
  };
  expect(config.num_parts >= 1 && config.num_parts <= kMaxParts, "num_parts", config.num_parts,
         "1 to 65535");
  expect(config.passes >= 1, "passes", config.passes, "1 or more");
  expect(config.refine_passes >= 0, "refine_passes", config.refine_passes, "0 or more");
  const auto slack = [&](double value, const char* name) {
    expect(value >= 1 && value <= 1000, name, value, "1 to 1000");
  };
  slack(config.slack.nodes, "node_slack");
  slack(config.slack.edges, "edge_slack");
  slack(config.slack.train, "train_slack");
  expect(config.memory_limit >= 0, "memory_limit", config.memory_limit, "0 or more");
  if (csc.num_sources != csc.num_targets)
    fail(Status::kInvalidArgument, "edges lead from ", csc.num_sources, " nodes to ",
         csc.num_targets, "; parts need edges that join nodes of one type");
  if (csc.num_targets > std::numeric_limits<uint32_t>::max())
    fail(Status::kUnsupported, csc.num_targets, " nodes: parts are made for up to 2^32 - 1");
  for (size_t i = 0; i < train.size(); ++i)
    if (train[i] < 0 || train[i] >= csc.num_targets)
      fail(Status::kRange, "training id ", i, " is node ", train[i], ", expected 0 to ",
           csc.num_targets - 1);
  const int64_t needed = memory_needed(csc.num_targets, csc.num_edges(), config.method);
  const int64_t least = config.method == Method::kCluster
                            ? needed - (kMostPairs - kFewestPairs) * kBytesPerPair
                            : needed;
  if (config.memory_limit > 0 && config.memory_limit < least)
    fail(Status::kNoMemory, "partitioning ", csc.num_targets, " nodes and ", csc.num_edges(),
         " edges takes ", least, " bytes in addition to the graph, and memory_limit is ",
         config.memory_limit);
}

int64_t pairs_within(int64_t memory_limit, int64_t num_nodes) {
  if (memory_limit == 0) return kMostPairs;
  return std::clamp((memory_limit - num_nodes * kBytesPerNode) / kBytesPerPair, kFewestPairs,
                    kMostPairs);
}

std::vector<uint16_t> parts_by_clusters(const CscRows& rows, const Load& total, const Load& goal,
                                        const Config& config, const Work& work) {
  const auto most = [&](int64_t sum) {
    const int64_t shares = kClusterShare * config.num_parts;
    return (sum + shares - 1) / shares;
  };
  const Load limit{most(total.nodes), most(total.edges), most(total.train)};
  std::vector<uint32_t> places = cluster(rows, {limit, config.passes, config.seed}, work);
  work.begin("merging the clusters");
  std::vector<uint16_t> of_clusters;
  {
    const SmallGraph graph =
        contract(rows, {limit, pairs_within(config.memory_limit, rows.size())}, work, places);
    work.begin(base::text("partitioning ", graph.size(), " clusters"));
    of_clusters = partition_small(graph, config.num_parts, goal, config.seed, work);
  }
  std::vector<uint16_t> parts(places.size());
  for (size_t v = 0; v < places.size(); ++v) parts[v] = of_clusters[places[v]];
  return parts;
}

// METIS exceeds its bounds a little, and moves that correct that cost edges.
Slack half_of(const Slack& slack) {
  return {(1 + slack.nodes) / 2, (1 + slack.edges) / 2, (1 + slack.train) / 2};
}

std::vector<uint16_t> parts_by_ranges(int64_t num_nodes, int32_t num_parts) {
  std::vector<uint16_t> parts(num_nodes);
  for (int64_t p = 0; p < num_parts; ++p)
    std::fill(parts.begin() + num_nodes * p / num_parts,
              parts.begin() + num_nodes * (p + 1) / num_parts, static_cast<uint16_t>(p));
  return parts;
}

std::vector<uint16_t> parts_by_hash(int64_t num_nodes, const Config& config) {
  std::vector<uint16_t> parts(num_nodes);
  for (int64_t v = 0; v < num_nodes; ++v)
    parts[v] = static_cast<uint16_t>(mixed(mixed(config.seed, 0), v) %
                                     static_cast<uint64_t>(config.num_parts));
  return parts;
}

}  // namespace

int64_t memory_needed(int64_t num_nodes, int64_t num_edges, Method method) {
  switch (method) {
    case Method::kCluster:
      return num_nodes * kBytesPerNode + kMostPairs * kBytesPerPair;
    case Method::kMetis:
      return num_nodes * kBytesPerNode + 2 * num_edges * 60;
    default:
      return num_nodes * 2;
  }
}

std::vector<uint16_t> assign_parts(const graph::Csc& csc, std::span<const int64_t> train,
                                   const Config& config, const Work& work) {
  check(csc, train, config);
  work.check();
  if (config.num_parts == 1) return std::vector<uint16_t>(csc.num_targets);
  if (config.method == Method::kRange) return parts_by_ranges(csc.num_targets, config.num_parts);
  if (config.method == Method::kHash) return parts_by_hash(csc.num_targets, config);

  const CscRows rows(csc, train);
  const Load total = total_of(rows);
  const Load goal = goal_of(total, config.slack, config.num_parts);
  const Load bound = bound_of(total, largest_of(rows), config.slack, config.num_parts);
  std::vector<uint16_t> parts =
      config.method == Method::kMetis
          ? partition_by_metis(rows, config.num_parts, half_of(config.slack), config.seed, work)
          : parts_by_clusters(rows, total, goal, config, work);
  std::vector<Load> loads = loads_of(rows, parts, config.num_parts);
  const auto bounded = [&] {
    return std::all_of(loads.begin(), loads.end(),
                       [&](const Load& load) { return load.within(bound); });
  };
  if (config.method == Method::kCluster || !bounded())
    refine(rows, goal, config.refine_passes, work, parts, loads);
  if (!bounded()) relieve(rows, goal, work, parts, loads);
  if (bounded()) return parts;
  work.begin("no parts with few cut edges keep the bounds");
  return dealt(rows, config.num_parts, work);
}

}  // namespace gnnmg::partition
