#include "feature/hotness.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "graph/transform.h"

namespace gnnmg::feature {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kGrain = 4096;

// The expected share of a node's `degree` edges that one fan-out draws.
double draw_probability(int64_t degree, int64_t fanout, bool replace) {
  if (degree == 0 || fanout == 0) return 0;
  if (fanout < 0) return 1;
  const double d = static_cast<double>(degree), f = static_cast<double>(fanout);
  if (replace) return degree == 1 ? 1 : -std::expm1(f * std::log1p(-1 / d));
  return fanout >= degree ? 1 : f / d;
}

void check(const graph::Csc& csc, std::span<const int64_t> seeds, const SamplingLaw& law) {
  if (csc.num_sources != csc.num_targets)
    fail(Status::kInvalidArgument, "edges lead from ", csc.num_sources, " nodes to ",
         csc.num_targets, "; hotness needs edges that join nodes of one type");
  if (law.batch_size < 1)
    fail(Status::kInvalidArgument, "batch size is ", law.batch_size, ", expected 1 or more");
  for (size_t hop = 0; hop < law.fanouts.size(); ++hop)
    if (law.fanouts[hop] < -1)
      fail(Status::kInvalidArgument, "fan-out of hop ", hop, " is ", law.fanouts[hop],
           ", expected -1 or more");
  for (size_t i = 0; i < seeds.size(); ++i)
    if (seeds[i] < 0 || seeds[i] >= csc.num_targets)
      fail(Status::kRange, "seed ", i, " is node ", seeds[i], ", expected 0 to ",
           csc.num_targets - 1);
}

// Returns q(0, v) of each node.
std::vector<double> seed_probabilities(int64_t num_nodes, std::span<const int64_t> seeds,
                                       int64_t batch_size) {
  std::vector<double> first(num_nodes);
  const double share =
      seeds.empty()
          ? 0
          : std::min(1.0, static_cast<double>(batch_size) / static_cast<double>(seeds.size()));
  for (const int64_t seed : seeds) first[seed] = share;
  return first;
}

}  // namespace

std::vector<double> hotness_by_degree(const graph::Csc& csc, base::ThreadPool& pool) {
  std::vector<int64_t> counts(csc.num_sources);
  graph::visit_indices(csc, [&](auto sources) {
    pool.parallel_for(csc.num_edges(), 16 * kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e)
        std::atomic_ref(counts[sources[e]]).fetch_add(1, std::memory_order_relaxed);
    });
  });
  return {counts.begin(), counts.end()};
}

std::vector<double> hotness_by_formula(const graph::Csc& csc, std::span<const int64_t> seeds,
                                       const SamplingLaw& law, base::ThreadPool& pool) {
  check(csc, seeds, law);
  const int64_t num_nodes = csc.num_targets;
  std::vector<double> first = seed_probabilities(num_nodes, seeds, law.batch_size);
  if (law.fanouts.empty()) return first;

  const graph::Csc outgoing = graph::reversed(csc, pool);
  const auto starts = outgoing.indptr.as<int64_t>();
  std::vector<double> known = first, before(num_nodes), drawn(num_nodes);
  for (const int64_t fanout : law.fanouts) {
    pool.parallel_for(num_nodes, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v) {
        const double draw = draw_probability(csc.in_degree(v), fanout, law.replace);
        drawn[v] += draw * (known[v] - (law.every_layer ? drawn[v] : before[v]));
      }
    });
    std::swap(before, known);  // the loop writes every entry of `known`
    graph::visit_indices(outgoing, [&](auto targets) {
      pool.parallel_for(num_nodes, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; ++u) {
          double missed = 1 - first[u];
          for (int64_t e = starts[u]; e < starts[u + 1]; ++e) missed *= 1 - drawn[targets[e]];
          known[u] = 1 - missed;
        }
      });
    });
  }
  return known;
}

std::vector<double> hotness_by_rows(const graph::Csc& csc, std::span<const int64_t> seeds,
                                    const SamplingLaw& law, const std::function<void()>& check_in) {
  check(csc, seeds, law);
  const int64_t num_nodes = csc.num_targets;
  const std::vector<double> first = seed_probabilities(num_nodes, seeds, law.batch_size);
  std::vector<double> known = first, before(num_nodes), drawn(num_nodes);
  const auto starts = csc.indptr.as<const int64_t>();
  for (const int64_t fanout : law.fanouts) {
    for (int64_t v = 0; v < num_nodes; ++v) {
      const double draw = draw_probability(csc.in_degree(v), fanout, law.replace);
      drawn[v] += draw * (known[v] - (law.every_layer ? drawn[v] : before[v]));
    }
    std::swap(before, known);
    // Probability of not being reached so far.
    for (int64_t v = 0; v < num_nodes; ++v) known[v] = 1 - first[v];
    graph::visit_indices(csc, [&](auto sources) {
      for (int64_t v = 0; v < num_nodes; ++v) {
        if (v % kGrain == 0) check_in();
        if (drawn[v] == 0) continue;
        for (int64_t e = starts[v]; e < starts[v + 1]; ++e) known[sources[e]] *= 1 - drawn[v];
      }
    });
    for (double& probability : known) probability = 1 - probability;
  }
  return known;
}

std::vector<double> hotness_by_counting(int64_t num_nodes, int64_t num_batches,
                                        const NodesOfBatch& nodes_of, base::ThreadPool& pool) {
  if (num_batches < 1)
    fail(Status::kInvalidArgument, "number of mini-batches to count is ", num_batches,
         ", expected 1 or more");
  std::vector<int64_t> counts(num_nodes);
  pool.parallel_for(num_batches, 1, [&](int64_t begin, int64_t end) {
    base::PageVector<int64_t> nodes;
    for (int64_t batch = begin; batch < end; ++batch) {
      nodes.clear();
      nodes_of(batch, nodes);
      for (const int64_t node : nodes) {
        if (node < 0 || node >= num_nodes)
          fail(Status::kRange, "mini-batch ", batch, " holds node ", node, ", expected 0 to ",
               num_nodes - 1);
        std::atomic_ref(counts[node]).fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
  std::vector<double> shares(num_nodes);
  for (int64_t v = 0; v < num_nodes; ++v)
    shares[v] = static_cast<double>(counts[v]) / static_cast<double>(num_batches);
  return shares;
}

std::vector<int64_t> hottest(std::span<const double> hotness, int64_t count) {
  std::vector<int64_t> nodes(hotness.size());
  std::iota(nodes.begin(), nodes.end(), int64_t{0});
  const auto hotter = [&](int64_t a, int64_t b) {
    return hotness[a] != hotness[b] ? hotness[a] > hotness[b] : a < b;
  };
  const auto last =
      nodes.begin() + std::clamp<int64_t>(count, 0, static_cast<int64_t>(nodes.size()));
  std::partial_sort(nodes.begin(), last, nodes.end(), hotter);
  nodes.erase(last, nodes.end());
  return nodes;
}

}  // namespace gnnmg::feature
