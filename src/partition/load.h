// What rows, clusters and parts weigh, and how much a part may hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gnnmg::partition {

// Three weights at once: nodes, edges that lead to them, and training ids among them.
struct Load {
  int64_t nodes = 0, edges = 0, train = 0;

  Load& operator+=(const Load& other) {
    nodes += other.nodes;
    edges += other.edges;
    train += other.train;
    return *this;
  }
  Load& operator-=(const Load& other) {
    nodes -= other.nodes;
    edges -= other.edges;
    train -= other.train;
    return *this;
  }
  friend Load operator+(Load a, const Load& b) { return a += b; }
  bool operator==(const Load&) const = default;
  bool within(const Load& limit) const {
    return nodes <= limit.nodes && edges <= limit.edges && train <= limit.train;
  }
  // The largest of the three shares of `limit`; of nothing where the limit is 0.
  double share_of(const Load& limit) const {
    const auto share = [](int64_t value, int64_t most) {
      return most > 0 ? static_cast<double>(value) / static_cast<double>(most)
                      : static_cast<double>(value);
    };
    return std::max(
        {share(nodes, limit.nodes), share(edges, limit.edges), share(train, limit.train)});
  }
};

// The largest part divided by the mean part, for each weight. 1 or more.
struct Slack {
  double nodes = 1.05, edges = 1.10, train = 1.05;
};

// What a part may hold while the parts are made: slack times the mean, and at least the mean.
inline Load goal_of(const Load& total, const Slack& slack, int64_t parts) {
  const auto most = [&](int64_t sum, double factor) {
    const double mean = static_cast<double>(sum) / static_cast<double>(parts);
    return std::max((sum + parts - 1) / parts, static_cast<int64_t>(std::floor(factor * mean)));
  };
  return {most(total.nodes, slack.nodes), most(total.edges, slack.edges),
          most(total.train, slack.train)};
}

// What no part exceeds in the end: slack times the mean plus one row. `largest` is the largest
// weight of a row in each of the three.
inline Load bound_of(const Load& total, const Load& largest, const Slack& slack, int64_t parts) {
  const auto most = [&](int64_t sum, double factor, int64_t row) {
    return static_cast<int64_t>(
               std::floor(factor * static_cast<double>(sum) / static_cast<double>(parts))) +
           row;
  };
  return {most(total.nodes, slack.nodes, largest.nodes),
          most(total.edges, slack.edges, largest.edges),
          most(total.train, slack.train, largest.train)};
}

// Whether moving `row` out of a part makes that less beyond `goal`.
inline bool takes_from_excess(const Load& load, const Load& row, const Load& goal) {
  return (load.nodes > goal.nodes && row.nodes > 0) || (load.edges > goal.edges && row.edges > 0) ||
         (load.train > goal.train && row.train > 0);
}

// The least full part that has room for `row`; -1: none has.
inline int32_t emptiest(const std::vector<Load>& loads, const Load& row, const Load& goal) {
  int32_t found = -1;
  double least = 0;
  for (size_t p = 0; p < loads.size(); ++p) {
    if (!(loads[p] + row).within(goal)) continue;
    const double share = loads[p].share_of(goal);
    if (found >= 0 && share >= least) continue;
    found = static_cast<int32_t>(p);
    least = share;
  }
  return found;
}

}  // namespace gnnmg::partition
