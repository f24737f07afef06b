// GATv2's sums over all edges, computed in parts, which are runs of targets: the vector's gradient,
// together with that of the targets' rows, and the gradient of the matrix that maps edge features.
// Each lane has a column; columns are independent.
#pragma once

#include "cuda/layer/attention_edges.h"

namespace gnnmg::cuda {

// Parts of the targets for sums over all edges: of vectors, and of matrices, whose parts are
// larger. Their number depends only on the number of targets.
struct TargetParts {
  int64_t rows, number;
  static TargetParts of(int64_t targets, int64_t most) {
    constexpr int64_t kLeastRows = 4;
    const int64_t rows = greatest(kLeastRows, (targets + most - 1) / most);
    return {rows, (targets + rows - 1) / rows};
  }
  static TargetParts of_vector(int64_t targets) { return of(targets, 2048); }
  static TargetParts of_matrix(int64_t targets) { return of(targets, 512); }
};

// The gradient of GATv2's target rows, and for each part of the targets the gradient of the vector.
template <typename T, Scores kScores>
struct TargetGradients {
  nn::kernels::Attention<T> a;
  const T* scores;
  nn::kernels::Matrix<T> to_target;
  T* parts;  // [parts, heads * channels]
  Divisor by_channels;

  struct Sums {
    T by_vector, by_target;
  };
  GNNMG_BOTH int64_t part_of(int64_t row) const { return row; }
  GNNMG_BOTH void walk(const TargetEdges<T>& edges, int64_t, int64_t c, uint32_t first,
                       uint32_t last, Sums& sums) const {
    const int64_t h = by_channels(c);
    const T target = row_of(a.target, edges.target)[c];
    for (uint32_t i = first; i < last; ++i) {
      const int64_t place = edges.place(i);
      const T source = row_of(a.source, edges.source(i))[c];
      const T sum = gatv2_sum<kScores>(a, source, target, place, c);
      const T factor = scores[place * a.heads + h] * (sum > 0 ? T{1} : a.slope);
      sums.by_vector = multiply_add(factor, sum, sums.by_vector);
      sums.by_target += factor;
    }
  }
  GNNMG_BOTH void add(Sums& sums, const Sums& next) const {
    sums.by_vector += next.by_vector;
    sums.by_target += next.by_target;
  }
  // The sums that continue with the next target, and the result for one target's edges.
  GNNMG_BOTH Sums carried(const Sums& sums) const { return {sums.by_vector, T{0}}; }
  GNNMG_BOTH void close_target(int64_t t, int64_t c, Sums& sums) const {
    if (to_target.data != nullptr) row_of(to_target, t)[c] = sums.by_target * a.vector[c];
    sums.by_target = 0;
  }
  GNNMG_BOTH void write(int64_t part, int64_t c, const Sums& sums) const {
    parts[part * a.heads * a.channels + c] = sums.by_vector;
  }
};

// For each part of the targets, the gradient of a few rows of the matrix that maps edge features.
template <typename T>
struct EdgeWeightGradients {
  static constexpr int kFew = 4;
  nn::kernels::Attention<T> a;
  const T* scores;
  T* parts;  // [parts, edge_columns, heads * channels]
  Divisor blocks, by_channels;

  struct Sums {
    T at[kFew];
  };
  GNNMG_BOTH int64_t part_of(int64_t row) const { return blocks(row); }
  GNNMG_BOTH int64_t first_of(int64_t row) const { return (row - blocks(row) * blocks.by) * kFew; }
  GNNMG_BOTH int count_from(int64_t first) const {
    return static_cast<int>(least<int64_t>(kFew, a.edge_columns - first));
  }
  GNNMG_BOTH void walk(const TargetEdges<T>& edges, int64_t row, int64_t c, uint32_t begin,
                       uint32_t end, Sums& sums) const {
    const int64_t first = first_of(row), h = by_channels(c);
    const int count = count_from(first);
    const T target = row_of(a.target, edges.target)[c];
    for (uint32_t i = begin; i < end; ++i) {
      const int64_t place = edges.place(i);
      const T source = row_of(a.source, edges.source(i))[c];
      const T sum = gatv2_sum<Scores::kGatv2Edges>(a, source, target, place, c);
      const T inner = scores[place * a.heads + h] * a.vector[c] * (sum > 0 ? T{1} : a.slope);
      const T* features = row_of(a.edge_features, place) + first;
      for (int f = 0; f < kFew; ++f)
        if (f < count) sums.at[f] = multiply_add(features[f], inner, sums.at[f]);
    }
  }
  GNNMG_BOTH void add(Sums& sums, const Sums& next) const {
    for (int f = 0; f < kFew; ++f) sums.at[f] += next.at[f];
  }
  GNNMG_BOTH Sums carried(const Sums& sums) const { return sums; }
  GNNMG_BOTH void close_target(int64_t, int64_t, Sums&) const {}
  GNNMG_BOTH void write(int64_t row, int64_t c, const Sums& sums) const {
    const int64_t first = first_of(row), width = a.heads * a.channels;
    T* to = parts + (part_of(row) * a.edge_columns + first) * width + c;
    const int count = count_from(first);
    for (int f = 0; f < kFew; ++f)
      if (f < count) to[f * width] = sums.at[f];
  }
};

// Item: columns, one per lane, of a row of a part; a part may have several rows. A block shares a
// part with a long list: its tiles take the short lists in turns, then each long list together.
template <typename T, typename Body>
struct OverTargets {
  static constexpr int kLeastBlocks = 2;  // nvcc spills for more
  using Sums = typename Body::Sums;
  Body body;
  int64_t rows, rows_a_part, width;
  Divisor columns;  // items per row

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    if (is_long(item)) return false;
    const Place at = place_of<Tile>(item);
    tile.each([&](int lane) {
      const int64_t c = at.column + lane;
      if (c >= width) return;
      Sums sums{};
      for (int64_t t = at.begin; t < at.end; ++t) {
        const TargetEdges<T> edges(body.a, t);
        body.walk(edges, at.row, c, 0, edges.n, sums);
        body.close_target(t, c, sums);
      }
      body.write(at.row, c, sums);
    });
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const {
    const int64_t part = body.part_of(columns(item));
    const int64_t begin = part * rows_a_part, end = end_of(part);
    const int32_t* indptr = body.a.lists.indptr;
    // A loop in addition makes at most as many.
    if (indptr[end] - indptr[begin] < kLongList) return false;
    for (int64_t t = begin; t < end; ++t)
      if (TargetEdges<T>(body.a, t).is_long()) return true;
    return false;
  }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const Place at = place_of<Tile>(item);
    const auto add = [&](Sums& sums, const Sums& next) { body.add(sums, next); };
    auto total = team.template combine<Sums>(
        Team::kTiles,
        [&](const Tile& tile, int k) {
          return tile.template make<Sums>([&](int lane) {
            Sums sums{};
            const int64_t c = at.column + lane;
            for (int64_t t = at.begin + k; t < at.end && c < width; t += Team::kTiles) {
              const TargetEdges<T> edges(body.a, t);
              if (edges.is_long()) continue;
              body.walk(edges, at.row, c, 0, edges.n, sums);
              body.close_target(t, c, sums);
            }
            return sums;
          });
        },
        add);
    for (int64_t t = at.begin; t < at.end; ++t) {
      const TargetEdges<T> edges(body.a, t);
      if (!edges.is_long()) continue;
      const Span all{0, edges.n};
      const auto sums = team.template combine<Sums>(
          all.sharing(Team::kTiles),
          [&](const Tile& tile, int k) {
            const Span run = all.part(Team::kTiles, k);
            return tile.template make<Sums>([&](int lane) {
              Sums share = k == 0 ? body.carried(total[lane]) : Sums{};
              if (at.column + lane < width)
                body.walk(edges, at.row, at.column + lane, static_cast<uint32_t>(run.first),
                          static_cast<uint32_t>(run.last), share);
              return share;
            });
          },
          add);
      by_first(team, at, [&](int64_t c, int lane) {
        Sums share = sums[lane];
        body.close_target(t, c, share);
      });
      total = sums;
    }
    by_first(team, at, [&](int64_t c, int lane) { body.write(at.row, c, total[lane]); });
  }

 private:
  struct Place {
    int64_t row, column, begin, end;  // begin, end: targets
  };
  GNNMG_BOTH int64_t end_of(int64_t part) const { return least(rows, (part + 1) * rows_a_part); }
  template <typename Tile>
  GNNMG_BOTH Place place_of(int64_t item) const {
    const int64_t row = columns(item), part = body.part_of(row);
    return {row, (item - row * columns.by) * Tile::kLanes, part * rows_a_part, end_of(part)};
  }
  // Calls f(column, lane) on the lanes of the first tile.
  template <typename Team, typename F>
  GNNMG_BOTH void by_first(const Team& team, const Place& at, const F& f) const {
    team.each([&](const typename Team::Tile& tile, int k) {
      if (k != 0) return;
      tile.each([&](int lane) {
        if (at.column + lane < width) f(at.column + lane, lane);
      });
    });
  }
};

// Item: a column. The sum of the parts: each lane's in order, then the lanes'.
template <typename T>
struct SumOfParts {
  const T* parts;  // [num_parts, width]
  int64_t num_parts, width;
  T* sums;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t column) const {
    const T sum = tile.sum(tile.template make<T>([&](int lane) {
      T total = 0;
      for (int64_t p = lane; p < num_parts; p += Tile::kLanes) total += parts[p * width + column];
      return total;
    }));
    tile.each([&](int lane) {
      if (lane == 0) sums[column] = sum;
    });
  }
};

// `rows_of_body`: the number of parts, times the number of rows that the body distinguishes.
template <typename T, typename Queue, typename Body>
void launch_over_targets(Queue& queue, const TargetParts& parts, int64_t rows_of_body, int64_t rows,
                         int64_t width, const Body& body) {
  const auto launch = [&]<int N>() {
    const int64_t columns = (width + N - 1) / N;
    queue.template teams<N>(rows_of_body * columns,
                            OverTargets<T, Body>{body, rows, parts.rows, width, Divisor(columns)});
  };
  if (width < 12)
    launch.template operator()<1>();
  else if (width <= 16)
    launch.template operator()<16>();
  else
    launch.template operator()<32>();
}

}  // namespace gnnmg::cuda
