// Every gradient compared with differences of its forward function, in f64: along random
// directions, <gradient of <w, f(x)>, d> is (<w, f(x + h d)> - <w, f(x - h d)>) / 2h.
#include <algorithm>
#include <functional>

#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

using Grid64 = Grid<double>;
using Forward = std::function<void(const Grid64& x, Grid64& y)>;

class LayerGradients : public Layers {
 protected:
  void SetUp() override {
    Layers::SetUp();
    if (IsSkipped()) return;
    ASSERT_NE(table().of<nn::kernels::DeviceLayers<double>>(), nullptr);
    device = *table().of<nn::kernels::DeviceLayers<double>>();
    queue = running_queue();
    block = random_block(random, 3);
  }
  void TearDown() override {
    block = Block{};
    Layers::TearDown();
  }
  DeviceLayers<double> device{};
  device::Queue* queue = nullptr;
  Random random{77};
  Block block{};

  Grid64 some(int64_t rows, int64_t width) { return random_grid<double>(random, rows, width); }
  // Values that are farther than a step from ties and from the corners of ReLU.
  Grid64 apart(int64_t rows, int64_t width) {
    Grid64 grid(rows, width);
    std::vector<int> order(rows * width);
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < order.size(); ++i)
      grid.data[i] = 0.01 * (order[i] - static_cast<double>(order.size()) / 2) + 0.005;
    return grid;
  }
  static double dot(const Grid64& a, const Grid64& b) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows * a.width; ++i) sum += a.data[i] * b.data[i];
    return sum;
  }
  // `gradient`: of <w, y> with respect to x.
  void expect_gradient(const char* what, const Forward& forward, const Grid64& x, const Grid64& w,
                       const Grid64& gradient) {
    const double h = 1e-5;
    for (int direction = 0; direction < 4; ++direction) {
      // The last one is a single element.
      Grid64 d = some(x.rows, x.width), ahead = x, back = x;
      if (direction == 3) {
        std::fill_n(d.data.begin(), x.rows * x.width, 0.0);
        d.data[random() % (x.rows * x.width)] = 1;
      }
      for (int64_t i = 0; i < x.rows * x.width; ++i) {
        ahead.data[i] += h * d.data[i];
        back.data[i] -= h * d.data[i];
      }
      Grid64 y_ahead(w.rows, w.width), y_back(w.rows, w.width);
      forward(ahead, y_ahead);
      forward(back, y_back);
      const double difference = (dot(w, y_ahead) - dot(w, y_back)) / (2 * h);
      const double expected = dot(gradient, d);
      EXPECT_NEAR(difference, expected, 1e-6 * (1 + std::abs(expected)))
          << what << ", direction " << direction;
    }
  }
};

TEST_P(LayerGradients, OfReductions) {
  const int64_t width = 5, t = block.num_targets, s = block.num_sources;
  const Grid64 x = apart(s, width), w = some(t, width);
  for (Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
    const Forward forward = [&](const Grid64& in, Grid64& y) {
      device.aggregate(queue, reduce, block.by_target(), in.source(), width, y.out(), t);
      wait();
    };
    Grid64 dx(s, width);
    if (reduce == Reduce::kMax) {
      Grid64 max(t, width), share(t, width);
      forward(x, max);
      device.max_share(queue, block.by_target(), x.source(), max.in(), w.in(), width, share.out(),
                       t);
      wait();
      device.max_transposed(queue, block.by_source(), t, x.in(), max.in(), share.in(), {}, width,
                            dx.out(), s);
      wait();
    } else {
      Array<double> scale(t);
      device.mean_scale(queue, block.by_target(), scale.data(), t);
      wait();
      device.aggregate_transposed(queue, block.by_source(), t,
                                  reduce == Reduce::kMean ? scale.data() : nullptr, w.in(), {},
                                  width, dx.out(), s);
      wait();
    }
    // A repeated entry of a list is tied with itself: shares add up to the gradient.
    expect_gradient("aggregate", forward, x, w, dx);
  }
}

TEST_P(LayerGradients, OfWeightedSums) {
  const int64_t heads = 3, channels = 5, width = heads * channels;
  const int64_t t = block.num_targets, s = block.num_sources, e = block.num_edges();
  const Grid64 x = some(s, width), weights = some(1, e * heads), own = some(1, t * heads);
  const Grid64 self = some(t, width), w = some(t, width);
  const auto lists = [&](const Grid64& of_edges, const Grid64& of_targets) {
    return kernels::WeightedLists<double>{
        block.by_target(), of_edges.at(), of_targets.at(), t - 4, heads, channels};
  };
  {
    // x without its gradient as own rows, which is `self`.
    auto by = lists(weights, own);
    by.self_weights = nullptr;
    Grid64 dx(s, width);
    device.weighted_transposed(queue, by, block.edges_by_source(), w.in(), dx.out(), s);
    wait();
    expect_gradient(
        "weighted_sum by x",
        [&](const Grid64& in, Grid64& y) {
          device.weighted_sum(queue, by, in.source(), self.in(), y.out(), t);
          wait();
        },
        x, w, dx);
  }
  {
    // x with its own rows among the targets.
    const auto by = lists(weights, own);
    Grid64 dx(s, width);
    device.weighted_transposed(queue, by, block.edges_by_source(), w.in(), dx.out(), s);
    wait();
    expect_gradient(
        "weighted_sum by x and own rows",
        [&](const Grid64& in, Grid64& y) {
          device.weighted_sum(queue, by, in.source(), in.in(), y.out(), t);
          wait();
        },
        x, w, dx);
  }
  {
    Grid64 dweights(1, e * heads);
    device.edge_dots(queue, lists(weights, own), x.source(), w.in(), dweights.at(), t);
    wait();
    expect_gradient(
        "weighted_sum by weights",
        [&](const Grid64& in, Grid64& y) {
          device.weighted_sum(queue, lists(in, own), x.source(), self.in(), y.out(), t);
          wait();
        },
        weights, w, dweights);
  }
  {
    Grid64 down(1, t * heads);
    device.row_dots(queue, self.in(), w.in(), heads, channels, down.at(), t);
    wait();
    for (int64_t i = (t - 4) * heads; i < t * heads; ++i) down.data[i] = 0;  // unused
    expect_gradient(
        "weighted_sum by self_weights",
        [&](const Grid64& in, Grid64& y) {
          device.weighted_sum(queue, lists(weights, in), x.source(), self.in(), y.out(), t);
          wait();
        },
        own, w, down);
  }
}

TEST_P(LayerGradients, OfWideDots) {
  // The product rule, for heads that tiles sum.
  const int64_t heads = 2, channels = 70, rows = 5;
  const Grid64 x = some(rows, heads * channels), v = some(rows, heads * channels);
  const Grid64 w = some(1, rows * heads);
  Grid64 dx(rows, heads * channels);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < heads * channels; ++c)
      dx.at(r, c) = w.data[r * heads + c / channels] * v.at(r, c);
  expect_gradient(
      "row_dots by x",
      [&](const Grid64& in, Grid64& y) {
        device.row_dots(queue, in.in(), v.in(), heads, channels, y.at(), rows);
        wait();
      },
      x, w, dx);
}

TEST_P(LayerGradients, OfSparseProducts) {
  const int64_t rows = 6, columns = 9, width = 5;
  Array<int64_t> indptr = {0};
  Array<int32_t> indices;
  Array<double> values;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < r; ++k) {
      indices.push_back(static_cast<int32_t>(random() % columns));
      values.push_back(static_cast<double>(random() % 100) / 50 - 1);
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  const auto count = static_cast<int64_t>(indices.size());
  const Grid64 y = some(columns, width), w = some(rows, width);
  Array<int32_t> column_indptr(columns + 1), column_rows(count), entries(count), room(3 * count);
  const kernels::SparseColumns by_column{column_indptr.data(), column_rows.data(), entries.data()};
  device.sparse_columns(queue, indptr.data(), indices.data(), rows, columns, count, room.data(),
                        by_column);
  wait();
  Grid64 dy(columns, width);
  device.sparse_transposed_times_dense(queue, by_column, values.data(), w.in(), width, dy.out(),
                                       columns);
  wait();
  expect_gradient(
      "sparse_times_dense",
      [&](const Grid64& in, Grid64& out) {
        device.sparse_times_dense(queue, {indptr.data(), indices.data(), values.data()}, in.in(),
                                  width, out.out(), rows);
        wait();
      },
      y, w, dy);
}

TEST_P(LayerGradients, OfFinish) {
  const int64_t rows = 21, width = 13;
  const Grid64 x = apart(rows, width), w = some(rows, width);
  Grid64 bias(1, width);
  for (int64_t c = 0; c < width; ++c) bias.data[c] = 0.01 * static_cast<double>(random() % 50);
  for (bool relu : {false, true})
    for (double rate : {0.0, 0.4}) {
      const kernels::Dropout dropout = some_dropout(rate);
      const auto finish = [&](const Grid64& in, const Grid64& shift, Grid64& y) {
        device.finish(queue, in.in(), width, shift.at(), relu, dropout, y.out(), rows);
        wait();
      };
      Grid64 y(rows, width), dx(rows, width), dbias(1, width);
      finish(x, bias, y);
      Array<double> parts(width * kernels::num_parts(rows));
      device.finish_backward(queue, w.in(), y.in(), width, relu, dropout, dx.out(), dbias.at(),
                             parts.data(), rows);
      wait();
      expect_gradient(
          "finish by x", [&](const Grid64& in, Grid64& out) { finish(in, bias, out); }, x, w, dx);
      expect_gradient(
          "finish by bias", [&](const Grid64& in, Grid64& out) { finish(x, in, out); }, bias, w,
          dbias);
    }
}

TEST_P(LayerGradients, OfColumnSums) {
  const int64_t rows = 40, width = 6;
  const Grid64 x = some(rows, width), w = some(1, width);
  Grid64 dx(rows, width);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c) dx.at(r, c) = w.data[c];
  expect_gradient(
      "column_sums",
      [&](const Grid64& in, Grid64& sums) {
        Array<double> parts(width * kernels::num_parts(rows));
        device.column_sums(queue, in.in(), width, sums.at(), parts.data(), rows);
        wait();
      },
      x, w, dx);
}

TEST_P(LayerGradients, OfNormalize) {
  const int64_t rows = 7, width = 37;
  const Grid64 x = some(rows, width), w = some(rows, width);
  const Forward forward = [&](const Grid64& in, Grid64& y) {
    Array<double> norms(rows);
    device.normalize(queue, in.in(), width, y.out(), norms.data(), rows);
    wait();
  };
  Grid64 y(rows, width), dx(rows, width);
  Array<double> norms(rows);
  device.normalize(queue, x.in(), width, y.out(), norms.data(), rows);
  wait();
  device.normalize_backward(queue, w.in(), y.in(), norms.data(), width, dx.out(), rows);
  wait();
  expect_gradient("normalize", forward, x, w, dx);
}

TEST_P(LayerGradients, OfSoftmax) {
  const int64_t heads = 3, size = block.num_edges() * heads;
  const Grid64 scores = some(1, size), w = some(1, size);
  Grid64 out(1, size), dscores(1, size);
  const Forward forward = [&](const Grid64& in, Grid64& y) {
    device.softmax(queue, block.by_target(), in.at(), heads, y.at(), block.num_targets);
    wait();
  };
  forward(scores, out);
  device.softmax_backward(queue, block.by_target(), out.at(), w.at(), heads, dscores.at(),
                          block.num_targets);
  wait();
  expect_gradient("softmax", forward, scores, w, dscores);
}

TEST_P(LayerGradients, OfSegments) {
  const Array<int64_t> pointers = {0, 4, 4, 5, 30};
  const int64_t runs = 4, rows = 30, width = 5;
  const Grid64 x = apart(rows, width), w = some(runs, width);
  for (Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
    const Forward forward = [&](const Grid64& in, Grid64& y) {
      device.reduce_segments(queue, reduce, pointers.data(), in.in(), width, y.out(), runs);
      wait();
    };
    Grid64 y(runs, width), dx(rows, width);
    forward(x, y);
    if (reduce != Reduce::kMax) {
      device.spread_segments(queue, reduce, pointers.data(), w.in(), width, dx.out(), runs);
      wait();
      expect_gradient("reduce_segments", forward, x, w, dx);
      continue;
    }
    for (bool first_of_tied : {false, true}) {
      device.segment_max_backward(queue, first_of_tied, pointers.data(), x.in(), y.in(), w.in(),
                                  width, dx.out(), runs);
      wait();
      expect_gradient("maximum of segments", forward, x, w, dx);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, LayerGradients, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
