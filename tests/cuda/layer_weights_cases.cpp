// Sums with weights, their gradients and softmax, compared with the CPU's kernels.
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

struct Heads {
  int64_t heads, channels;
};
// One head of every width, and heads that divide pieces of rows evenly, unevenly, and that are
// wide.
std::vector<Heads> many_heads() {
  std::vector<Heads> all;
  for (int64_t width : kWidths) all.push_back({1, width});
  for (Heads more : {Heads{2, 1}, {3, 3}, {8, 8}, {5, 20}, {4, 33}, {2, 64}, {3, 72}, {2, 257}})
    all.push_back(more);
  return all;
}

// Calls f(block, kind, heads, layout).
template <typename F>
void for_headed_blocks(Random& random, const F& f) {
  const std::vector<Heads> all = many_heads();
  for (const auto& c : taken_combinations({kBlockKinds, std::ssize(all), std::ssize(kLayouts)}))
    f(random_block(random, static_cast<int>(c[0])), static_cast<int>(c[0]), all[c[1]],
      kLayouts[c[2]]);
}

}  // namespace

template <typename T>
void check_aggregate_transposed(const DeviceLayers<T>& device, Random& random) {
  for_blocks(random, [&](const Block& block, int kind, int64_t width, Layout layout) {
    const Grid<T> y = random_grid<T>(random, block.num_targets, width, layout);
    const Grid<T> self = random_grid<T>(random, block.num_targets, width, layout);
    const Grid<T> factors = random_grid<T>(random, 1, block.num_targets);
    for (int choice = 0; choice < 4; ++choice) {
      const Matrix<const T> own = choice % 2 ? self.in() : Matrix<const T>{};
      const T* scale = choice / 2 ? factors.at() : nullptr;
      compare<T>(
          Grid<T>(block.num_sources, width, layout), scale ? Promise::kFusedBits : Promise::kBits,
          400,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.aggregate_transposed(block.by_source(), block.num_targets, scale, y.in(), own,
                                     width, out.out(), 0, block.num_sources);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.aggregate_transposed(queue, block.by_source(), block.num_targets, scale, y.in(),
                                        own, width, out.out(), block.num_sources);
          },
          text("aggregate_transposed", width, kind, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(aggregate_transposed)

namespace {

// Weights of a block's edges and of its first targets; `choice` omits some.
template <typename T>
struct Weights {
  Grid<T> edges, own;
  int64_t num_self;
  kernels::WeightedLists<T> lists;

  Weights(Random& random, const Block& block, Heads heads, int choice)
      : edges(random_grid<T>(random, 1, block.num_edges() * heads.heads)),
        own(random_grid<T>(random, 1, block.num_targets * heads.heads)),
        num_self(choice == 1 ? block.num_targets / 2 : block.num_targets) {
    const bool ones = choice == 2 && heads.heads == 1, alone = choice == 3;
    lists = {block.by_target(),
             ones ? nullptr : edges.at(),
             alone ? nullptr : own.at(),
             alone ? 0 : num_self,
             heads.heads,
             heads.channels};
  }
};

}  // namespace

template <typename T>
void check_weighted_sum(const DeviceLayers<T>& device, Random& random) {
  for_headed_blocks(random, [&](const Block& block, int kind, Heads heads, Layout layout) {
    const int64_t width = heads.heads * heads.channels;
    const Grid<T> x = random_grid<T>(random, 50, width, layout);
    const Grid<T> self = random_grid<T>(random, block.num_targets, width, layout);
    Array<int64_t> ids(block.num_sources);
    for (int64_t& id : ids) id = random() % 50;
    for (int choice = 0; choice < 4; ++choice) {
      const Weights<T> weights(random, block, heads, choice);
      const Rows<T> rows = x.source(choice % 2 ? ids.data() : nullptr);
      compare<T>(
          Grid<T>(block.num_targets, width, layout), Promise::kFusedBits, 400,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.weighted_sum(weights.lists, rows, self.in(), out.out(), 0, block.num_targets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.weighted_sum(queue, weights.lists, rows, self.in(), out.out(),
                                block.num_targets);
          },
          text("weighted_sum", width, kind, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(weighted_sum)

template <typename T>
void check_weighted_transposed(const DeviceLayers<T>& device, Random& random) {
  for_headed_blocks(random, [&](const Block& block, int kind, Heads heads, Layout layout) {
    const int64_t width = heads.heads * heads.channels;
    const Grid<T> y = random_grid<T>(random, block.num_targets, width, layout);
    for (int choice = 0; choice < 4; ++choice) {
      const Weights<T> weights(random, block, heads, choice);
      compare<T>(
          Grid<T>(block.num_sources, width, layout), Promise::kFusedBits, 400,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.weighted_transposed(weights.lists, block.edges_by_source(), y.in(), out.out(), 0,
                                    block.num_sources);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.weighted_transposed(queue, weights.lists, block.edges_by_source(), y.in(),
                                       out.out(), block.num_sources);
          },
          text("weighted_transposed", width, kind, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(weighted_transposed)

template <typename T>
void check_edge_dots(const DeviceLayers<T>& device, Random& random) {
  for_headed_blocks(random, [&](const Block& block, int kind, Heads heads, Layout layout) {
    const int64_t width = heads.heads * heads.channels;
    const Grid<T> x = random_grid<T>(random, 50, width, layout);
    const Grid<T> y = random_grid<T>(random, block.num_targets, width, layout);
    Array<int64_t> ids(block.num_sources);
    for (int64_t& id : ids) id = random() % 50;
    const Rows<T> rows = x.source(width % 2 ? ids.data() : nullptr);
    const kernels::WeightedLists<T> lists{block.by_target(), nullptr,       nullptr, 0,
                                          heads.heads,       heads.channels};
    compare<T>(
        Grid<T>(1, block.num_edges() * heads.heads), Promise::kRounding,
        4.0 * static_cast<double>(heads.channels),
        [&](const Table<T>& cpu, Grid<T>& dots) {
          cpu.edge_dots(lists, rows, y.in(), dots.at(), 0, block.num_targets);
        },
        [&](device::Queue* queue, Grid<T>& dots) {
          device.edge_dots(queue, lists, rows, y.in(), dots.at(), block.num_targets);
        },
        text("edge_dots", width, kind, layout));
  });
}
GNNMG_INSTANTIATE_CASE(edge_dots)

template <typename T>
void check_row_dots(const DeviceLayers<T>& device, Random& random) {
  for (int64_t rows : {0, 1, 13})
    for (const Heads& heads : many_heads())
      for (Layout layout : kLayouts)
        for (bool one_vector : {false, true}) {
          const int64_t width = heads.heads * heads.channels;
          const Grid<T> x = random_grid<T>(random, rows, width, layout);
          const Grid<T> vectors = random_grid<T>(random, one_vector ? 1 : rows, width, layout);
          const Matrix<const T> by = {vectors.at(), one_vector ? 0 : vectors.stride};
          compare<T>(
              Grid<T>(1, rows * heads.heads), Promise::kRounding,
              4.0 * static_cast<double>(heads.channels),
              [&](const Table<T>& cpu, Grid<T>& dots) {
                cpu.row_dots(x.in(), by, heads.heads, heads.channels, dots.at(), 0, rows);
              },
              [&](device::Queue* queue, Grid<T>& dots) {
                device.row_dots(queue, x.in(), by, heads.heads, heads.channels, dots.at(), rows);
              },
              text("row_dots", width, static_cast<int>(rows), layout));
        }
}
GNNMG_INSTANTIATE_CASE(row_dots)

template <typename T>
void check_softmax(const DeviceLayers<T>& device, Random& random) {
  for (int kind = 0; kind < kBlockKinds; ++kind)
    for (int64_t heads : {1, 2, 3, 8, 17}) {
      const Block block = random_block(random, kind);
      Grid<T> scores = random_grid<T>(random, 1, block.num_edges() * heads);
      for (int64_t i = 0; i < scores.width; ++i) scores.at(0, i) *= 30;
      if (kind == 3) {
        scores.at(0, 5) = -std::numeric_limits<T>::infinity();
        scores.at(0, block.indptr[7] * heads) = std::numeric_limits<T>::quiet_NaN();
      }
      compare<T>(
          Grid<T>(1, scores.width), Promise::kRounding, 80,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.softmax(block.by_target(), scores.at(), heads, out.at(), 0, block.num_targets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.softmax(queue, block.by_target(), scores.at(), heads, out.at(),
                           block.num_targets);
          },
          text("softmax", heads, kind, Layout::kTight));
      compare<T>(
          scores, Promise::kRounding, 80,  // output replaces the input
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.softmax(block.by_target(), out.at(), heads, out.at(), 0, block.num_targets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.softmax(queue, block.by_target(), out.at(), heads, out.at(), block.num_targets);
          },
          text("softmax in place", heads, kind, Layout::kTight));
    }
}
GNNMG_INSTANTIATE_CASE(softmax)

template <typename T>
void check_softmax_backward(const DeviceLayers<T>& device, Random& random) {
  for (int kind = 0; kind < kBlockKinds; ++kind)
    for (int64_t heads : {1, 2, 3, 8, 17}) {
      const Block block = random_block(random, kind);
      const Grid<T> scores = random_grid<T>(random, 1, block.num_edges() * heads);
      const Grid<T> gradient = random_grid<T>(random, 1, block.num_edges() * heads);
      Grid<T> out(1, scores.width);
      kernels::table<T>().softmax(block.by_target(), scores.at(), heads, out.at(), 0,
                                  block.num_targets);
      compare<T>(
          Grid<T>(1, scores.width), Promise::kRounding, 4,
          [&](const Table<T>& cpu, Grid<T>& to) {
            cpu.softmax_backward(block.by_target(), out.at(), gradient.at(), heads, to.at(), 0,
                                 block.num_targets);
          },
          [&](device::Queue* queue, Grid<T>& to) {
            device.softmax_backward(queue, block.by_target(), out.at(), gradient.at(), heads,
                                    to.at(), block.num_targets);
          },
          text("softmax_backward", heads, kind, Layout::kTight));
    }
}
GNNMG_INSTANTIATE_CASE(softmax_backward)

}  // namespace gnnmg::cuda
