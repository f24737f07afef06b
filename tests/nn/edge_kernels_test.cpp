// The kernels along edges with data, for every instruction set of this machine: forward compared
// with plain loops, backward with differences, on lists with a hub, loops, duplicates and empty
// rows.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "nn/isas.h"
#include "nn/kernels/kernels.h"

namespace gnnmg::nn::kernels {
namespace {

constexpr std::pair<int64_t, int64_t> kShapes[] = {{1, 1},  {1, 5},  {1, 40}, {4, 4},  {2, 8},
                                                   {4, 16}, {8, 16}, {16, 8}, {2, 70}, {8, 8},
                                                   {6, 3},  {3, 16}, {2, 47}, {4, 64}};
// Kinds of attention: GATv2, loops, edge features.
struct Kind {
  bool v2, loops, carried;
};
constexpr Kind kKinds[] = {{false, false, false}, {false, false, true}, {false, true, false},
                           {false, true, true},   {true, false, false}, {true, false, true},
                           {true, true, false},   {true, true, true}};
constexpr int64_t kFewSources = 30, kFewTargets = 20, kFewEdges = 160;

struct Graph {
  std::vector<int32_t> indptr, indices, out_indptr, out_targets, positions;
  Graph() : indptr(kFewTargets + 1), out_indptr(kFewSources + 1) {
    base::Stream words(base::stream_key(11, base::Purpose::kGenerator), 0);
    std::vector<std::vector<int32_t>> lists(kFewTargets);
    for (int64_t e = 0; e < kFewEdges; ++e) {
      // A third of the edges go into target 0; the last two targets and the last source have none.
      const int64_t target = e % 3 == 0 ? 0 : words.below(kFewTargets - 2);
      const int64_t source = e % 9 == 4 ? target : words.below(kFewSources - 1);
      lists[target].push_back(static_cast<int32_t>(source));
      if (e % 10 == 0) lists[target].push_back(static_cast<int32_t>(source));
    }
    lists[5] = {5, 5};  // only loops
    std::vector<std::vector<std::pair<int32_t, int32_t>>> out(kFewSources);
    for (int64_t t = 0; t < kFewTargets; ++t) {
      for (int32_t s : lists[t]) {
        out[s].emplace_back(static_cast<int32_t>(t), static_cast<int32_t>(indices.size()));
        indices.push_back(s);
      }
      indptr[t + 1] = static_cast<int32_t>(indices.size());
    }
    for (int64_t s = 0; s < kFewSources; ++s) {
      for (const auto& [target, position] : out[s]) {
        out_targets.push_back(target);
        positions.push_back(position);
      }
      out_indptr[s + 1] = static_cast<int32_t>(out_targets.size());
    }
  }
  Lists by_target() const { return {indptr.data(), indices.data()}; }
  EdgesBySource by_source() const {
    return {{out_indptr.data(), out_targets.data()}, positions.data(), kFewTargets};
  }
  int64_t num_edges() const { return static_cast<int64_t>(indices.size()); }
};

template <typename T>
std::vector<T> values(int64_t count, uint64_t seed) {
  base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 6);
  std::vector<T> all(count + kPadding);
  for (int64_t i = 0; i < count; ++i) all[i] = static_cast<T>(words.normal());
  return all;
}

template <typename T>
constexpr double kTolerance = sizeof(T) == 4 ? 2e-4 : 1e-11;

template <typename T>
void expect_near(const std::vector<T>& found, const std::vector<double>& expected, int64_t count) {
  double largest = 1;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(expected[i]));
  for (int64_t i = 0; i < count; ++i)
    ASSERT_NEAR(found[i], expected[i], kTolerance<T> * largest) << "at " << i;
}

// The input and output of attention.
template <typename T>
struct Case {
  const Graph& graph;
  int64_t heads, channels, width, places;
  bool v2, loops, carried;                // carried: edges have features
  static constexpr int64_t kColumns = 3;  // columns of the edge features
  std::vector<T> source, target, source_scores, target_scores, edge_scores, vector, edge_features,
      edge_weight, factors, alpha, weights, out, dy;
  Dropout dropout;

  Case(const Graph& g, int64_t h, int64_t c, bool second, bool with_loops, bool carry)
      : graph(g),
        heads(h),
        channels(c),
        width(h * c),
        places(g.num_edges() + (with_loops ? kFewTargets : 0)),
        v2(second),
        loops(with_loops),
        carried(carry),
        source(values<T>(kFewSources * width, 1)),
        target(values<T>(kFewTargets * width, 2)),
        source_scores(values<T>(kFewSources * heads, 3)),
        target_scores(values<T>(kFewTargets * heads, 4)),
        edge_scores(values<T>(places * heads, 5)),
        vector(values<T>(width, 6)),
        edge_features(values<T>(places * kColumns, 7)),
        edge_weight(values<T>(kColumns * width, 10)),
        factors(values<T>(places, 8)),
        alpha(places * heads + kPadding),
        weights(places * heads + kPadding),
        out(kFewTargets * width),
        dy(values<T>(kFewTargets * width, 9)),
        dropout(make_dropout(0.3, 1, 2, 3, 4)) {}

  Attention<T> attention() {
    Attention<T> a;
    a.lists = graph.by_target();
    a.num_edges = graph.num_edges();
    a.num_loops = loops ? kFewTargets : 0;
    a.loops = loops;
    a.heads = heads;
    a.channels = channels;
    a.slope = static_cast<T>(0.2);
    a.source = {source.data(), width};
    if (v2) {
      a.vector = vector.data();
      a.target = {target.data(), width};
      if (carried) {
        a.edge_features = {edge_features.data(), kColumns};
        a.edge_weight = edge_weight.data();
        a.edge_columns = kColumns;
      }
    } else {
      a.source_scores = {source_scores.data(), heads};
      a.target_scores = {target_scores.data(), heads};
      if (carried) a.edge_scores = edge_scores.data();
    }
    a.factors = factors.data();
    a.dropout = dropout;
    a.alpha = alpha.data();
    a.weights = weights.data();
    return a;
  }

  double edge_row(int64_t place, int64_t c) const {
    double sum = 0;
    for (int64_t k = 0; k < kColumns && carried; ++k)
      sum += double{edge_features[place * kColumns + k]} * edge_weight[k * width + c];
    return sum;
  }

  // Evaluates the formula in double, with the kernel's dropout.
  std::vector<double> plain() const {
    std::vector<double> result(kFewTargets * width);
    const auto leaky = [](double x) { return x > 0 ? x : static_cast<T>(0.2) * x; };
    for (int64_t t = 0; t < kFewTargets; ++t)
      for (int64_t h = 0; h < heads; ++h) {
        std::vector<std::pair<int64_t, int64_t>> edges;  // pairs of source and position
        for (int64_t e = graph.indptr[t]; e < graph.indptr[t + 1]; ++e)
          if (!loops || graph.indices[e] != t) edges.emplace_back(graph.indices[e], e);
        if (loops) edges.emplace_back(t, graph.num_edges() + t);
        std::vector<double> scores;
        double sum = 0;
        for (const auto& [s, place] : edges) {
          double score = 0;
          if (v2)
            for (int64_t c = h * channels; c < (h + 1) * channels; ++c)
              score += vector[c] * leaky(double{source[s * width + c]} + target[t * width + c] +
                                         edge_row(place, c));
          else
            score = leaky(double{source_scores[s * heads + h]} + target_scores[t * heads + h] +
                          (carried ? edge_scores[place * heads + h] : T{0}));
          scores.push_back(std::exp(score));
          sum += scores.back();
        }
        for (size_t i = 0; i < edges.size(); ++i) {
          const auto [s, place] = edges[i];
          const bool kept = weights[place * heads + h] != 0;
          const double weight = kept ? scores[i] / sum * factors[place] * dropout.scale : 0;
          for (int64_t c = h * channels; c < (h + 1) * channels; ++c)
            result[t * width + c] += weight * source[s * width + c];
        }
      }
    return result;
  }
};

template <typename T>
class EdgeKernels : public testing::Test {
 protected:
  template <typename F>
  void for_all(const F& body) {
    for (const Isa isa : kAllIsas) {
      const Table<T>* table = table_for<T>(isa);
      if (!table) continue;
      for (const auto& [heads, channels] : kShapes) {
        SCOPED_TRACE(testing::Message() << "instruction set " << static_cast<int>(isa) << ", "
                                        << heads << " heads of " << channels);
        body(*table, heads, channels);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  const Graph graph;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EdgeKernels, Types);

TYPED_TEST(EdgeKernels, AttendIsItsFormula) {
  using T = TypeParam;
  this->for_all([&](const Table<T>& table, int64_t heads, int64_t channels) {
    for (const auto& [v2, loops, carried] : kKinds) {
      Case<T> c(this->graph, heads, channels, v2, loops, carried);
      const Attention<T> a = c.attention();
      table.attend(a, {c.out.data(), c.width}, 0, 7);
      table.attend(a, {c.out.data(), c.width}, 7, kFewTargets);
      expect_near(c.out, c.plain(), kFewTargets * c.width);
      int64_t dropped = 0;
      for (int64_t i = 0; i < c.places * heads; ++i) dropped += c.weights[i] == 0;
      EXPECT_GT(dropped, c.places * heads / 6);
      EXPECT_LT(dropped, c.places * heads / 2);
    }
  });
}

// All gradients of sum(out * dy) along one random direction.
TYPED_TEST(EdgeKernels, AttentionsGradientsAgreeWithDifferences) {
  using T = TypeParam;
  this->for_all([&](const Table<T>& table, int64_t heads, int64_t channels) {
    const Table<double>& exact = *table_for<double>(Isa::kGeneric);
    for (const auto& [v2, loops, carried] : kKinds) {
      Case<T> c(this->graph, heads, channels, v2, loops, carried);
      const int64_t width = c.width;
      const Attention<T> a = c.attention();
      table.attend(a, {c.out.data(), width}, 0, kFewTargets);
      std::vector<T> scores(c.places * heads + kPadding), target_scores(kFewTargets * heads),
          source_scores(kFewSources * heads), target(kFewTargets * width),
          features(c.places * c.kColumns), weight(c.kColumns * width), row(width),
          factors(c.places), vector(width), dx(kFewSources * width);
      AttentionGradient<T> to;
      to.scores = scores.data();
      to.factors = factors.data();
      if (v2) {
        to.target = {target.data(), width};
        if (carried) {
          to.edge_features = {features.data(), c.kColumns};
          to.edge_weight = weight.data();
          to.edge_row = row.data();
        }
      } else {
        to.target_scores = {target_scores.data(), heads};
      }
      table.attend_backward(a, {c.dy.data(), width}, to, vector.data(), 0, kFewTargets);
      table.attend_transposed(a, this->graph.by_source(), {c.dy.data(), width}, scores.data(),
                              {dx.data(), width}, {source_scores.data(), heads}, 0, kFewSources);
      // The same case in double, with shifted inputs.
      constexpr double kStep = 1e-6;
      double along = 0;
      Case<double> moved[2] = {{this->graph, heads, channels, v2, loops, carried},
                               {this->graph, heads, channels, v2, loops, carried}};
      uint64_t seed = 20;
      const auto move = [&](auto member, const std::vector<T>& gradient, size_t count) {
        const std::vector<double> direction = values<double>(static_cast<int64_t>(count), seed++);
        for (size_t i = 0; i < count; ++i) {
          (moved[0].*member)[i] += kStep * direction[i];
          (moved[1].*member)[i] -= kStep * direction[i];
          along += gradient[i] * direction[i];
        }
      };
      using D = Case<double>;
      move(&D::source, dx, dx.size());
      move(&D::factors, factors, factors.size());
      if (v2) {
        move(&D::target, target, target.size());
        move(&D::edge_features, features, features.size());
        move(&D::edge_weight, weight, weight.size());
        move(&D::vector, vector, vector.size());
      } else {
        move(&D::source_scores, source_scores, source_scores.size());
        move(&D::target_scores, target_scores, target_scores.size());
        if (carried) move(&D::edge_scores, scores, scores.size() - kPadding);
      }
      double value[2] = {0, 0}, size = 0;
      for (int side : {0, 1}) {
        exact.attend(moved[side].attention(), {moved[side].out.data(), width}, 0, kFewTargets);
        for (size_t i = 0; i < moved[side].out.size(); ++i)
          value[side] += moved[side].out[i] * moved[side].dy[i];
      }
      for (const T g : dx) size += std::abs(static_cast<double>(g));
      const double difference = (value[0] - value[1]) / (2 * kStep);
      ASSERT_NEAR(along, difference, (sizeof(T) == 4 ? 1e-3 : 1e-5) * (1 + size))
          << "v2 " << v2 << " loops " << loops << " carried " << carried;
    }
  });
}

TYPED_TEST(EdgeKernels, WeightedSumsAndTheirGradients) {
  using T = TypeParam;
  this->for_all([&](const Table<T>& table, int64_t heads, int64_t channels) {
    const int64_t width = heads * channels, places = this->graph.num_edges(), num_self = 12;
    const std::vector<T> x = values<T>(kFewSources * width, 1),
                         y = values<T>(kFewTargets * width, 2),
                         weights = values<T>(places * heads, 3),
                         self_weights = values<T>(num_self * heads, 4);
    for (const bool ones : {false, true}) {
      WeightedLists<T> edges{this->graph.by_target(),
                             ones ? nullptr : weights.data(),
                             self_weights.data(),
                             num_self,
                             heads,
                             channels};
      if (ones && heads > 1) continue;
      std::vector<T> out(kFewTargets * width), dx(kFewSources * width), dots(places * heads);
      table.weighted_sum(edges, {x.data(), width, nullptr}, {x.data(), width}, {out.data(), width},
                         0, kFewTargets);
      table.weighted_transposed(edges, this->graph.by_source(), {y.data(), width},
                                {dx.data(), width}, 0, kFewSources);
      table.edge_dots(edges, {x.data(), width, nullptr}, {y.data(), width}, dots.data(), 0,
                      kFewTargets);
      std::vector<double> sums(kFewTargets * width), back(kFewSources * width),
          products(places * heads);
      for (int64_t t = 0; t < kFewTargets; ++t)
        for (int64_t c = 0; c < width; ++c) {
          const int64_t h = c / channels;
          const auto add = [&](int64_t s, double weight) {
            sums[t * width + c] += weight * x[s * width + c];
            back[s * width + c] += weight * y[t * width + c];
          };
          for (int64_t e = this->graph.indptr[t]; e < this->graph.indptr[t + 1]; ++e) {
            add(this->graph.indices[e], ones ? 1 : weights[e * heads + h]);
            products[e * heads + h] +=
                double{x[this->graph.indices[e] * width + c]} * y[t * width + c];
          }
          if (t < num_self) add(t, self_weights[t * heads + h]);
        }
      expect_near(out, sums, kFewTargets * width);
      expect_near(dx, back, kFewSources * width);
      expect_near(dots, products, places * heads);
    }
  });
}

TYPED_TEST(EdgeKernels, SumsOfReluAndTheirGradients) {
  using T = TypeParam;
  this->for_all([&](const Table<T>& table, int64_t heads, int64_t channels) {
    const int64_t width = heads * channels, places = this->graph.num_edges();
    const std::vector<T> x = values<T>(kFewSources * width, 1),
                         dy = values<T>(kFewTargets * width, 2),
                         rows = values<T>(places * width, 3);
    std::vector<T> out(kFewTargets * width), dx(kFewSources * width), de(places * width);
    table.relu_sum(this->graph.by_target(), {x.data(), width, nullptr}, {rows.data(), width}, width,
                   {out.data(), width}, 0, kFewTargets);
    table.relu_sum_edges(this->graph.by_target(), {x.data(), width, nullptr}, {rows.data(), width},
                         {dy.data(), width}, width, {de.data(), width}, 0, kFewTargets);
    table.relu_sum_transposed(this->graph.by_source(), {x.data(), width}, {rows.data(), width},
                              {dy.data(), width}, width, {dx.data(), width}, 0, kFewSources);
    std::vector<double> sums(out.size()), by_x(dx.size()), by_edge(de.size());
    for (int64_t t = 0; t < kFewTargets; ++t)
      for (int64_t e = this->graph.indptr[t]; e < this->graph.indptr[t + 1]; ++e)
        for (int64_t c = 0; c < width; ++c) {
          const int64_t s = this->graph.indices[e] * width + c;
          const T sum = x[s] + rows[e * width + c];
          if (!(sum > 0)) continue;
          sums[t * width + c] += sum;
          by_x[s] += dy[t * width + c];
          by_edge[e * width + c] = dy[t * width + c];
        }
    expect_near(out, sums, kFewTargets * width);
    expect_near(dx, by_x, kFewSources * width);
    expect_near(de, by_edge, places * width);
  });
}

}  // namespace
}  // namespace gnnmg::nn::kernels
