#include "partition/moves.h"

#include <queue>

#include "partition/tally.h"

namespace gnnmg::partition {
namespace {

// A row with more neighbors is not updated each time that one of them moves.
constexpr int64_t kMostUpdated = 250;
constexpr int kMostPasses = 5;

struct Move {
  int64_t gain = 0;
  uint64_t tie = 0;
  uint32_t row = 0;
  uint16_t to = 0;
  bool operator<(const Move& other) const {
    return gain != other.gain ? gain < other.gain : tie < other.tie;
  }
};

class Mover {
 public:
  Mover(const SmallGraph& graph, const Load& goal, uint64_t seed, Parts& parts)
      : graph_(graph), goal_(goal), seed_(seed), parts_(parts) {}

  // Finds the part with room that row `v` has the most edges to, except its own. Returns false if
  // there is none.
  bool best_move(uint32_t v, Move& move) {
    tally_.clear();
    graph_.for_each(v, [&](uint32_t u, int64_t weight) { tally_.add(parts_.of[u], weight); });
    const Load& row = graph_.weight(v);
    int64_t own = 0, best = -1;
    uint64_t best_tie = 0;
    for (const Tally::Entry& entry : tally_.entries()) {
      if (entry.label == parts_.of[v]) {
        own = entry.weight;
        continue;
      }
      const uint64_t tie = mixed(seed_ + v, entry.label);
      if (entry.weight < best || (entry.weight == best && tie < best_tie)) continue;
      if (!(parts_.loads[entry.label] + row).within(goal_)) continue;
      best = entry.weight;
      best_tie = tie;
      move.to = static_cast<uint16_t>(entry.label);
    }
    if (best < 0) return false;
    move.row = v;
    move.gain = best - own;
    move.tie = best_tie;
    return true;
  }

  // One pass; returns the reduction of the cut.
  int64_t pass(const Work& work) {
    std::vector<uint8_t> moved(graph_.size());
    std::priority_queue<Move> moves;
    Move move;
    for (int64_t v = 0; v < graph_.size(); ++v)
      if (borders(v) && best_move(static_cast<uint32_t>(v), move)) moves.push(move);
    const size_t patience = 100 + static_cast<size_t>(graph_.size() / 50);
    std::vector<std::pair<uint32_t, uint16_t>> done;  // the row and its previous part
    size_t best_at = 0;
    int64_t gained = 0, best = 0;
    while (!moves.empty() && done.size() - best_at < patience) {
      if (done.size() % 256 == 0) work.check();
      const Move next = moves.top();
      moves.pop();
      if (moved[next.row] || !best_move(next.row, move)) continue;
      if (move.gain < next.gain) {  // the gain has changed since it was queued
        moves.push(move);
        continue;
      }
      done.emplace_back(move.row, parts_.of[move.row]);
      parts_.move(move.row, move.to, graph_.weight(move.row));
      moved[move.row] = 1;
      gained += move.gain;
      if (gained > best) {
        best = gained;
        best_at = done.size();
      }
      if (graph_.degree(move.row) <= kMostUpdated) push_neighbors(move.row, moved, moves);
    }
    for (; done.size() > best_at; done.pop_back())
      parts_.move(done.back().first, done.back().second, graph_.weight(done.back().first));
    return best;
  }

 private:
  bool borders(int64_t v) const {
    for (int64_t e = graph_.starts[v]; e < graph_.starts[v + 1]; ++e)
      if (parts_.of[graph_.ends[e]] != parts_.of[v]) return true;
    return false;
  }
  void push_neighbors(uint32_t v, const std::vector<uint8_t>& moved,
                      std::priority_queue<Move>& moves) {
    Move move;
    for (int64_t e = graph_.starts[v]; e < graph_.starts[v + 1]; ++e) {
      const uint32_t u = graph_.ends[e];
      if (!moved[u] && graph_.degree(u) <= kMostUpdated && best_move(u, move)) moves.push(move);
    }
  }

  const SmallGraph& graph_;
  const Load& goal_;
  const uint64_t seed_;
  Parts& parts_;
  Tally tally_;
};

}  // namespace

double Parts::excess(const Load& goal) const {
  const auto beyond = [](int64_t value, int64_t most) {
    return value <= most ? 0 : static_cast<double>(value - most) / static_cast<double>(most + 1);
  };
  double sum = 0;
  for (const Load& load : loads)
    sum += beyond(load.nodes, goal.nodes) + beyond(load.edges, goal.edges) +
           beyond(load.train, goal.train);
  return sum;
}

int64_t cut_of(const SmallGraph& graph, const std::vector<uint16_t>& parts) {
  int64_t cut = 0;
  for (int64_t v = 0; v < graph.size(); ++v)
    graph.for_each(v, [&](uint32_t u, int64_t weight) {
      if (u < v && parts[u] != parts[v]) cut += weight;
    });
  return cut;
}

void rebalance(const SmallGraph& graph, const Load& goal, uint64_t seed, Parts& parts) {
  if (parts.excess(goal) == 0) return;
  Mover mover(graph, goal, seed, parts);
  std::vector<Move> moves;
  Move move;
  for (int64_t v = 0; v < graph.size(); ++v) {
    if (!takes_from_excess(parts.loads[parts.of[v]], graph.weight(v), goal)) continue;
    if (!mover.best_move(static_cast<uint32_t>(v), move)) {
      move = {std::numeric_limits<int64_t>::min(), mixed(seed, v), static_cast<uint32_t>(v), 0};
    }
    moves.push_back(move);
  }
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return b < a; });
  for (const Move& wanted : moves) {
    const Load& row = graph.weight(wanted.row);
    if (!takes_from_excess(parts.loads[parts.of[wanted.row]], row, goal)) continue;
    if (mover.best_move(wanted.row, move)) {
      parts.move(wanted.row, move.to, row);
    } else if (const int32_t to = emptiest(parts.loads, row, goal); to >= 0) {
      parts.move(wanted.row, static_cast<uint16_t>(to), row);
    }
  }
}

void improve(const SmallGraph& graph, const Load& goal, uint64_t seed, const Work& work,
             Parts& parts) {
  Mover mover(graph, goal, seed, parts);
  for (int pass = 0; pass < kMostPasses; ++pass)
    if (mover.pass(work) == 0) return;
}

}  // namespace gnnmg::partition
