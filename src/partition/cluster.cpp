#include "partition/cluster.h"

#include <limits>
#include <numeric>

#include "partition/tally.h"

namespace gnnmg::partition {
namespace {

// If a pass moves fewer than one row in this many, it is the last.
constexpr int64_t kSettled = 200;

// Loads of clusters in half the space. Sums saturate at 2^32 - 1, which is beyond every limit.
class ClusterLoads {
 public:
  ClusterLoads(int64_t count, const Load& limit)
      : loads_(count), limit_{narrow(limit.nodes), narrow(limit.edges), narrow(limit.train)} {}

  void add(uint32_t label, const Load& row) {
    Narrow& load = loads_[label];
    load = {sum(load.nodes, row.nodes), sum(load.edges, row.edges), sum(load.train, row.train)};
  }
  // Undoes add(). A cluster with a saturated load holds a single row.
  void remove(uint32_t label, const Load& row) {
    Narrow& load = loads_[label];
    load = {load.nodes - narrow(row.nodes), load.edges - narrow(row.edges),
            load.train - narrow(row.train)};
  }
  bool has_room(uint32_t label, const Load& row) const {
    const Narrow& load = loads_[label];
    return load.nodes + static_cast<uint64_t>(row.nodes) <= limit_.nodes &&
           load.edges + static_cast<uint64_t>(row.edges) <= limit_.edges &&
           load.train + static_cast<uint64_t>(row.train) <= limit_.train;
  }
  bool alone(uint32_t label, const Load& row) const {
    return loads_[label].nodes == narrow(row.nodes);
  }

 private:
  struct Narrow {
    uint32_t nodes = 0, edges = 0, train = 0;
  };
  static uint32_t narrow(int64_t value) {
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(std::min(value, kMost));
  }
  static uint32_t sum(uint32_t a, int64_t b) { return narrow(int64_t{a} + b); }

  std::vector<Narrow> loads_;
  Narrow limit_;
};

// Returns the label with the most weight that has room. Ties go to the row's own label, then by a
// hash with the seed.
uint32_t best_label(const Tally& tally, uint32_t own, const Load& row, uint64_t seed,
                    const ClusterLoads& loads) {
  uint32_t best = own;
  int64_t best_weight = 0;
  uint64_t best_tie = std::numeric_limits<uint64_t>::max();  // the row's own label wins ties
  for (const Tally::Entry& entry : tally.entries())
    if (entry.label == own) best_weight = entry.weight;
  for (const Tally::Entry& entry : tally.entries()) {
    if (entry.label == own || entry.weight < best_weight) continue;
    const uint64_t tie = mixed(seed, entry.label);
    if (entry.weight == best_weight && tie <= best_tie) continue;
    if (!loads.has_room(entry.label, row)) continue;
    best = entry.label;
    best_weight = entry.weight;
    best_tie = tie;
  }
  return best;
}

// One pass over all rows; returns the number of rows that changed their label.
template <typename Rows>
int64_t propagate(const Rows& rows, uint64_t seed, const Work& work, std::vector<uint32_t>& labels,
                  ClusterLoads& loads) {
  Tally tally;
  int64_t moved = 0;
  for (int64_t v = 0; v < rows.size(); ++v) {
    if (v % kRowsPerCheck == 0) work.check();
    if (rows.degree(v) == 0) continue;
    tally.clear();
    rows.for_each(v, [&](uint32_t u, int64_t weight) {
      if (u != v) tally.add(labels[u], weight);
    });
    const uint32_t own = labels[v];
    const Load row = rows.weight(v);
    const uint32_t best = best_label(tally, own, row, seed, loads);
    if (best == own) continue;
    loads.remove(own, row);
    loads.add(best, row);
    labels[v] = best;
    ++moved;
  }
  return moved;
}

// Rows without incoming edges have seen no label; each joins a cluster that reads it.
void adopt(const CscRows& rows, const Work& work, std::vector<uint32_t>& labels,
           ClusterLoads& loads) {
  for (int64_t v = 0; v < rows.size(); ++v) {
    if (v % kRowsPerCheck == 0) work.check();
    rows.for_each(v, [&](uint32_t u, int64_t) {
      if (rows.degree(u) > 0 || labels[u] != u) return;
      const Load row = rows.weight(u);
      if (!loads.alone(u, row) || !loads.has_room(labels[v], row)) return;
      loads.remove(u, row);
      loads.add(labels[v], row);
      labels[u] = labels[v];
    });
  }
}

template <typename Rows>
std::vector<uint32_t> labels_of(const Rows& rows, const ClusterConfig& config, const Work& work) {
  std::vector<uint32_t> labels(rows.size());
  std::iota(labels.begin(), labels.end(), uint32_t{0});
  ClusterLoads loads(rows.size(), config.limit);
  for (int64_t v = 0; v < rows.size(); ++v) loads.add(static_cast<uint32_t>(v), rows.weight(v));
  for (int32_t pass = 0; pass < config.passes; ++pass) {
    if constexpr (!Rows::kSymmetric)
      work.begin(base::text("clustering, pass ", pass + 1, " of ", config.passes));
    const int64_t moved = propagate(rows, mixed(config.seed, pass), work, labels, loads);
    if (moved * kSettled < rows.size()) break;
  }
  if constexpr (!Rows::kSymmetric) adopt(rows, work, labels, loads);
  return labels;
}

}  // namespace

std::vector<uint32_t> cluster(const CscRows& rows, const ClusterConfig& config, const Work& work) {
  return labels_of(rows, config, work);
}

std::vector<uint32_t> cluster(const SmallGraph& rows, const ClusterConfig& config,
                              const Work& work) {
  return labels_of(rows, config, work);
}

}  // namespace gnnmg::partition
