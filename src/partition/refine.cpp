#include "partition/refine.h"

#include <numeric>

#include "partition/tally.h"

namespace gnnmg::partition {
namespace {

// If a pass moves fewer than one row in this many, it is the last.
constexpr int64_t kRefined = 1000;

// Returns the new part of a row, or its own part if it stays.
uint32_t better_part(const Tally& tally, uint32_t own, const Load& row, const Load& goal,
                     const std::vector<Load>& loads) {
  const bool must = takes_from_excess(loads[own], row, goal);
  uint32_t best = own;
  int64_t best_weight = 0;
  for (const Tally::Entry& entry : tally.entries())
    if (entry.label == own && !must) best_weight = entry.weight;
  for (const Tally::Entry& entry : tally.entries()) {
    if (entry.label == own || entry.weight < best_weight) continue;
    // The emptier of equal parts is better, so that rows do not oscillate.
    if (entry.weight == best_weight && loads[entry.label].nodes + 1 >= loads[best].nodes) continue;
    if (!(loads[entry.label] + row).within(goal)) continue;
    best = entry.label;
    best_weight = entry.weight;
  }
  return best;
}

int64_t refine_once(const CscRows& rows, const Load& goal, const Work& work,
                    std::span<uint16_t> parts, std::vector<Load>& loads) {
  Tally tally;
  int64_t moved = 0;
  for (int64_t v = 0; v < rows.size(); ++v) {
    if (v % kRowsPerCheck == 0) work.check();
    tally.clear();
    rows.for_each(v, [&](uint32_t u, int64_t weight) {
      if (u != v) tally.add(parts[u], weight);
    });
    const Load row = rows.weight(v);
    const uint32_t best = better_part(tally, parts[v], row, goal, loads);
    if (best == parts[v]) continue;
    loads[parts[v]] -= row;
    loads[best] += row;
    parts[v] = static_cast<uint16_t>(best);
    ++moved;
  }
  return moved;
}

}  // namespace

std::vector<Load> loads_of(const CscRows& rows, std::span<const uint16_t> parts,
                           int32_t num_parts) {
  std::vector<Load> loads(num_parts);
  for (int64_t v = 0; v < rows.size(); ++v) loads[parts[v]] += rows.weight(v);
  return loads;
}

void refine(const CscRows& rows, const Load& goal, int32_t passes, const Work& work,
            std::span<uint16_t> parts, std::vector<Load>& loads) {
  for (int32_t pass = 0; pass < passes; ++pass) {
    work.begin(base::text("refining, pass ", pass + 1, " of ", passes));
    if (refine_once(rows, goal, work, parts, loads) * kRefined < rows.size()) return;
  }
}

void relieve(const CscRows& rows, const Load& goal, const Work& work, std::span<uint16_t> parts,
             std::vector<Load>& loads) {
  work.begin("moving rows out of full parts");
  for (int64_t v = 0; v < rows.size(); ++v) {
    if (v % kRowsPerCheck == 0) work.check();
    const Load row = rows.weight(v);
    if (!takes_from_excess(loads[parts[v]], row, goal)) continue;
    const int32_t to = emptiest(loads, row, goal);
    if (to < 0) continue;
    loads[parts[v]] -= row;
    loads[to] += row;
    parts[v] = static_cast<uint16_t>(to);
  }
}

std::vector<uint16_t> dealt(const CscRows& rows, int32_t num_parts, const Work& work) {
  work.begin("dealing out rows");
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (rows.trains(a) != rows.trains(b)) return rows.trains(a);
    return rows.degree(a) != rows.degree(b) ? rows.degree(a) > rows.degree(b) : a < b;
  });
  std::vector<uint16_t> parts(rows.size());
  std::vector<int64_t> edges(num_parts);
  std::vector<uint16_t> turn(num_parts);
  for (size_t begin = 0; begin < order.size(); begin += num_parts) {
    const size_t count = std::min<size_t>(num_parts, order.size() - begin);
    const std::span<uint32_t> round = std::span(order).subspan(begin, count);
    std::sort(round.begin(), round.end(), [&](uint32_t a, uint32_t b) {
      return rows.degree(a) != rows.degree(b) ? rows.degree(a) > rows.degree(b) : a < b;
    });
    std::iota(turn.begin(), turn.end(), uint16_t{0});
    std::sort(turn.begin(), turn.end(), [&](uint16_t a, uint16_t b) {
      return edges[a] != edges[b] ? edges[a] < edges[b] : a < b;
    });
    for (size_t i = 0; i < count; ++i) {
      parts[round[i]] = turn[i];
      edges[turn[i]] += rows.degree(round[i]);
    }
  }
  return parts;
}

}  // namespace gnnmg::partition
