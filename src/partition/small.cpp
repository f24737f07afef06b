#include "partition/small.h"

#include <numeric>
#include <queue>
#include <utility>

#include "partition/cluster.h"
#include "partition/contract.h"
#include "partition/moves.h"

namespace gnnmg::partition {
namespace {

// Rows per part; coarsening may end earlier if the graph has too few edges.
constexpr int64_t kCoarsestRows = 24;
constexpr int kStarts = 8;  // initial partitions of the coarsest graph
// Complete runs, for graphs with fewer edges than the next constant.
constexpr int kTries = 2;
constexpr size_t kEdgesOfTries = size_t{1} << 21;
constexpr int64_t kMostPushed = 1000;  // growth does not update a row with more neighbors

struct Level {
  SmallGraph graph;
  std::vector<uint32_t> places;  // cluster of each row of the previous level
};

// Coarser and coarser graphs, each made of clusters of the one before.
std::vector<Level> coarsened(const SmallGraph& graph, int32_t num_parts, uint64_t seed,
                             const Work& work) {
  const Load total = total_of(graph);
  std::vector<Level> levels;
  for (int64_t share = 96; share >= 12; share /= 2) {  // a cluster's limit is 1 / share of a part
    const SmallGraph& last = levels.empty() ? graph : levels.back().graph;
    if (last.size() <= kCoarsestRows * num_parts) break;
    const auto most = [&](int64_t sum) {
      return (sum + share * num_parts - 1) / (share * num_parts);
    };
    const Load limit{most(total.nodes), most(total.edges), most(total.train)};
    Level level;
    level.places = cluster(last, {limit, 3, mixed(seed, share)}, work);
    level.graph = contract(last, {limit, std::numeric_limits<int32_t>::max()}, work, level.places);
    if (level.graph.size() * 20 > last.size() * 19) continue;
    levels.push_back(std::move(level));
  }
  return levels;
}

std::vector<uint32_t> shuffled(int64_t count, uint64_t seed) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), uint32_t{0});
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[mixed(seed, i) % static_cast<uint64_t>(i + 1)]);
  return order;
}

// Parts that grow concurrently, each from a row of its own: the emptiest part takes the row with
// the most edges to it.
class Growth {
 public:
  Growth(const SmallGraph& graph, int32_t num_parts, const Load& goal, uint64_t seed)
      : graph_(graph),
        goal_(goal),
        order_(shuffled(graph.size(), seed)),
        parts_(graph.size(), kNone),
        loads_(num_parts),
        wanted_(num_parts) {}

  std::vector<uint16_t> run() {
    std::priority_queue<Turn> turns;
    for (size_t p = 0; p < loads_.size(); ++p) turns.push({0, static_cast<uint16_t>(p)});
    while (!turns.empty() && left_ > 0) {
      const uint16_t part = turns.top().part;
      turns.pop();
      if (grow(part)) turns.push({-loads_[part].share_of(goal_), part});
    }
    for (int64_t v = 0; v < graph_.size(); ++v)  // no part has room for these rows
      if (parts_[v] == kNone) assign(static_cast<uint32_t>(v), least_full());
    return {parts_.begin(), parts_.end()};
  }

 private:
  static constexpr int32_t kNone = -1;
  struct Turn {
    double room;
    uint16_t part;
    bool operator<(const Turn& other) const {
      return room != other.room ? room < other.room : part > other.part;
    }
  };
  using Wanted = std::pair<int64_t, uint32_t>;  // weight of the edges to the part, and row

  bool fits(uint32_t v, uint16_t part) const {
    return (loads_[part] + graph_.weight(v)).within(goal_);
  }
  // Adds one row to the part. Returns false if no row fits.
  bool grow(uint16_t part) {
    auto& wanted = wanted_[part];
    while (!wanted.empty()) {
      const uint32_t v = wanted.top().second;
      wanted.pop();
      if (parts_[v] != kNone || !fits(v, part)) continue;
      assign(v, part);
      return true;
    }
    while (first_ < order_.size() && parts_[order_[first_]] != kNone) ++first_;
    for (size_t i = first_; i < std::min(order_.size(), first_ + 64); ++i) {
      if (parts_[order_[i]] != kNone || !fits(order_[i], part)) continue;
      assign(order_[i], part);
      return true;
    }
    return false;
  }
  void assign(uint32_t v, uint16_t part) {
    parts_[v] = part;
    loads_[part] += graph_.weight(v);
    --left_;
    if (graph_.degree(v) > kMostPushed) return;
    graph_.for_each(v, [&](uint32_t u, int64_t weight) {
      if (parts_[u] == kNone) wanted_[part].emplace(edges_to(u, part, weight), u);
    });
  }
  int64_t edges_to(uint32_t v, uint16_t part, int64_t least) const {
    if (graph_.degree(v) > kMostPushed) return least;
    int64_t sum = 0;
    graph_.for_each(v, [&](uint32_t u, int64_t weight) {
      if (parts_[u] == part) sum += weight;
    });
    return sum;
  }
  uint16_t least_full() const {
    const auto fuller = [&](const Load& a, const Load& b) {
      return a.share_of(goal_) < b.share_of(goal_);
    };
    return static_cast<uint16_t>(std::min_element(loads_.begin(), loads_.end(), fuller) -
                                 loads_.begin());
  }

  const SmallGraph& graph_;
  const Load& goal_;
  std::vector<uint32_t> order_;
  size_t first_ = 0;  // all earlier rows of `order_` have a part
  std::vector<int32_t> parts_;
  std::vector<Load> loads_;
  std::vector<std::priority_queue<Wanted>> wanted_;
  int64_t left_ = graph_.size();
};

// Parts and their quality: the excess over the goal first, then the cut.
struct Candidate {
  std::vector<uint16_t> parts;
  double excess = std::numeric_limits<double>::infinity();
  int64_t cut = 0;
  bool better_than(const Candidate& other) const {
    return excess != other.excess ? excess < other.excess : cut < other.cut;
  }
};

Candidate polished(const SmallGraph& graph, std::vector<uint16_t> of, int32_t num_parts,
                   const Load& goal, uint64_t seed, const Work& work) {
  Parts parts(graph, std::move(of), num_parts);
  rebalance(graph, goal, seed, parts);
  improve(graph, goal, seed, work, parts);
  const int64_t cut = cut_of(graph, parts.of);
  const double excess = parts.excess(goal);
  return {std::move(parts.of), excess, cut};
}

Candidate best_start(const SmallGraph& graph, int32_t num_parts, const Load& goal, uint64_t seed,
                     const Work& work) {
  const int starts = graph.ends.size() < kEdgesOfTries ? kStarts : 1;
  Candidate best;
  for (int start = 0; start < starts; ++start) {
    const uint64_t own = mixed(seed, start);
    Candidate next =
        polished(graph, Growth(graph, num_parts, goal, own).run(), num_parts, goal, own, work);
    if (start == 0 || next.better_than(best)) best = std::move(next);
  }
  return best;
}

Candidate one_try(const SmallGraph& graph, int32_t num_parts, const Load& goal, uint64_t seed,
                  const Work& work) {
  const std::vector<Level> levels = coarsened(graph, num_parts, seed, work);
  const auto graph_at = [&](size_t level) -> const SmallGraph& {
    return level == 0 ? graph : levels[level - 1].graph;
  };
  Candidate found = best_start(graph_at(levels.size()), num_parts, goal, seed, work);
  for (size_t level = levels.size(); level > 0; --level) {
    const std::vector<uint32_t>& places = levels[level - 1].places;
    std::vector<uint16_t> parts(places.size());
    for (size_t v = 0; v < places.size(); ++v) parts[v] = found.parts[places[v]];
    found = polished(graph_at(level - 1), std::move(parts), num_parts, goal, seed, work);
  }
  return found;
}

}  // namespace

std::vector<uint16_t> partition_small(const SmallGraph& graph, int32_t num_parts, const Load& goal,
                                      uint64_t seed, const Work& work) {
  const int tries = graph.ends.size() < kEdgesOfTries ? kTries : 1;
  Candidate best;
  for (int number = 0; number < tries; ++number) {
    Candidate next = one_try(graph, num_parts, goal, mixed(seed, number), work);
    if (number == 0 || next.better_than(best)) best = std::move(next);
  }
  return best.parts;
}

}  // namespace gnnmg::partition
