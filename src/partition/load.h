// Weights of rows, clusters and parts, and limits for parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gnnmg::partition {

// Three weights: the number of nodes, of their incoming edges, and of training ids.
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
  // Returns the largest of the three shares of `limit`; of a weight with limit 0, its value.
  double share_of(const Load& limit) const {
    const auto share = [](int64_t value, int64_t most) {
      return most > 0 ? static_cast<double>(value) / static_cast<double>(most)
                      : static_cast<double>(value);
    };
    return std::max(
        {share(nodes, limit.nodes), share(edges, limit.edges), share(train, limit.train)});
  }
};

// For each weight, the largest part divided by the mean part. 1 or more.
struct Slack {
  double nodes = 1.05, edges = 1.10, train = 1.05;
};

// Returns the limit of a part during the partitioning: slack times the mean, and at least the mean.
inline Load goal_of(const Load& total, const Slack& slack, int64_t parts) {
  const auto most = [&](int64_t sum, double factor) {
    const double mean = static_cast<double>(sum) / static_cast<double>(parts);
    return std::max((sum + parts - 1) / parts, static_cast<int64_t>(std::floor(factor * mean)));
  };
  return {most(total.nodes, slack.nodes), most(total.edges, slack.edges),
          most(total.train, slack.train)};
}

// Returns the final limit of a part: slack times the mean plus one row. `largest` is the largest
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

// True if moving `row` out of a part reduces the part's excess over `goal`.
inline bool takes_from_excess(const Load& load, const Load& row, const Load& goal) {
  return (load.nodes > goal.nodes && row.nodes > 0) || (load.edges > goal.edges && row.edges > 0) ||
         (load.train > goal.train && row.train > 0);
}

// Returns the least full part with room for `row`, or -1.
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
