#include "partition/contract.h"

#include <limits>
#include <utility>

#include "partition/tally.h"

namespace gnnmg::partition {
namespace {

constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();

// Counts pairs in bounded memory. If the table is full, the lightest pairs are dropped until half
// of it is free (as in Manku and Motwani, "Approximate frequency counts over data streams", 2002).
class PairCounts {
 public:
  explicit PairCounts(int64_t max_pairs) : max_pairs_(max_pairs), slots_(1 << 12) {}

  void add(uint32_t a, uint32_t b, int64_t weight) {
    const uint64_t key = a < b ? uint64_t{a} << 32 | b : uint64_t{b} << 32 | a;
    if (put(key, weight)) return;
    if (++size_ > max_pairs_)
      drop_lightest();
    else if (size_ * 10 > static_cast<int64_t>(slots_.size()) * 7)
      grow();
  }
  template <typename F>
  void for_each(F&& f) const {
    for (const Slot& slot : slots_)
      if (slot.weight)
        f(static_cast<uint32_t>(slot.key >> 32), static_cast<uint32_t>(slot.key), slot.weight);
  }

 private:
#pragma pack(push, 4)
  struct Slot {
    uint64_t key = 0;
    uint32_t weight = 0;  // 0: free slot
  };
#pragma pack(pop)

  static uint32_t capped(int64_t weight) {
    return static_cast<uint32_t>(std::min<int64_t>(weight, std::numeric_limits<uint32_t>::max()));
  }
  // Returns true if the pair was there already.
  bool put(uint64_t key, int64_t weight) {
    const uint64_t mask = slots_.size() - 1;
    uint64_t at = mixed(0, key) & mask;
    while (slots_[at].weight && slots_[at].key != key) at = (at + 1) & mask;
    Slot& slot = slots_[at];
    const bool known = slot.weight != 0;
    slot.key = key;
    slot.weight = capped(slot.weight + weight);
    return known;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    std::swap(old, slots_);
    for (const Slot& slot : old)
      if (slot.weight) put(slot.key, slot.weight);
  }
  void drop_lightest() {
    uint32_t most = 1;  // the largest weight to drop
    while (count_above(most) * 2 > max_pairs_) most *= 2;
    std::vector<Slot> kept;
    kept.reserve(count_above(most));
    for (Slot& slot : slots_) {
      if (slot.weight > most) kept.push_back(slot);
      slot = {};
    }
    for (const Slot& slot : kept) put(slot.key, slot.weight);
    size_ = static_cast<int64_t>(kept.size());
  }
  int64_t count_above(uint32_t weight) const {
    return std::count_if(slots_.begin(), slots_.end(),
                         [&](const Slot& slot) { return slot.weight > weight; });
  }

  int64_t max_pairs_;
  int64_t size_ = 0;
  std::vector<Slot> slots_;
};

// Numbers labels by first appearance; returns their number.
uint32_t number(std::vector<uint32_t>& labels) {
  std::vector<uint32_t> places(labels.size(), kNowhere);
  uint32_t count = 0;
  for (uint32_t& label : labels) {
    uint32_t& place = places[label];
    if (place == kNowhere) place = count++;
    label = place;
  }
  return count;
}

template <typename Rows>
PairCounts count_pairs(const Rows& rows, const std::vector<uint32_t>& labels, int64_t max_pairs,
                       const Work& work) {
  PairCounts pairs(max_pairs);
  Tally tally;
  for (int64_t v = 0; v < rows.size(); ++v) {
    if (v % kRowsPerCheck == 0) work.check();
    tally.clear();
    rows.for_each(v, [&](uint32_t u, int64_t weight) {
      if (Rows::kSymmetric && u > v) return;  // the other end of the edge counts it
      if (labels[u] != labels[v]) tally.add(labels[u], weight);
    });
    for (const Tally::Entry& entry : tally.entries())
      pairs.add(labels[v], entry.label, entry.weight);
  }
  return pairs;
}

// Returns new numbers for clusters, in their order; clusters without edges are merged as far as the
// limit allows.
std::vector<uint32_t> pack_loose(const std::vector<Load>& loads, const std::vector<uint8_t>& joined,
                                 const Load& limit) {
  std::vector<uint32_t> places(loads.size());
  uint32_t count = 0, bin = kNowhere;
  Load in_bin;
  for (size_t c = 0; c < loads.size(); ++c) {
    if (joined[c]) {
      places[c] = count++;
      continue;
    }
    if (bin == kNowhere || !(in_bin + loads[c]).within(limit)) {
      bin = count++;
      in_bin = {};
    }
    in_bin += loads[c];
    places[c] = bin;
  }
  return places;
}

void fill(const PairCounts& pairs, const std::vector<uint32_t>& places, SmallGraph& graph) {
  graph.starts.assign(graph.size() + 1, 0);
  pairs.for_each([&](uint32_t a, uint32_t b, uint32_t) {
    ++graph.starts[places[a] + 1];
    ++graph.starts[places[b] + 1];
  });
  for (size_t v = 1; v < graph.starts.size(); ++v) graph.starts[v] += graph.starts[v - 1];
  graph.ends.resize(graph.starts.back());
  graph.weights.resize(graph.starts.back());
  std::vector<int64_t> next(graph.starts.begin(), graph.starts.end() - 1);
  const auto put = [&](uint32_t from, uint32_t to, uint32_t weight) {
    graph.ends[next[from]] = to;
    graph.weights[next[from]++] = weight;
  };
  pairs.for_each([&](uint32_t a, uint32_t b, uint32_t weight) {
    put(places[a], places[b], weight);
    put(places[b], places[a], weight);
  });
}

template <typename Rows>
SmallGraph contracted(const Rows& rows, const ContractConfig& config, const Work& work,
                      std::vector<uint32_t>& labels) {
  const uint32_t clusters = number(labels);
  const PairCounts pairs = count_pairs(rows, labels, config.max_pairs, work);
  std::vector<Load> loads(clusters);
  for (int64_t v = 0; v < rows.size(); ++v) loads[labels[v]] += rows.weight(v);
  std::vector<uint8_t> joined(clusters);
  pairs.for_each([&](uint32_t a, uint32_t b, uint32_t) { joined[a] = joined[b] = 1; });
  const std::vector<uint32_t> places = pack_loose(loads, joined, config.limit);
  SmallGraph graph;
  for (uint32_t c = 0; c < clusters; ++c) {
    if (places[c] >= graph.loads.size()) graph.loads.resize(places[c] + 1);
    graph.loads[places[c]] += loads[c];
  }
  fill(pairs, places, graph);
  for (uint32_t& label : labels) label = places[label];
  return graph;
}

}  // namespace

SmallGraph contract(const CscRows& rows, const ContractConfig& config, const Work& work,
                    std::vector<uint32_t>& labels) {
  return contracted(rows, config, work, labels);
}

SmallGraph contract(const SmallGraph& rows, const ContractConfig& config, const Work& work,
                    std::vector<uint32_t>& labels) {
  return contracted(rows, config, work, labels);
}

}  // namespace gnnmg::partition
