// Attention on a device compared with the CPU's kernels, and its gradients compared with
// differences.
#include <ostream>

#include "chosen_cases.h"
#include "edge_cases.h"

namespace gnnmg::cuda {
namespace {

using kernels::Attention;
using kernels::AttentionGradient;
using kernels::kPadding;

struct Kind {
  int64_t heads, channels;
  bool v2, loops;
  int64_t columns;  // columns of the edge features; GAT: nonzero if there are any
  bool dropout, factors;
};
std::ostream& operator<<(std::ostream& to, const Kind& k) {
  return to << k.heads << " heads of " << k.channels << ", v2 " << k.v2 << ", loops " << k.loops
            << ", " << k.columns << " edge columns, dropout " << k.dropout << ", factors "
            << k.factors;
}

// The input of attention, and its output and gradients. Rows of sources and targets are wider than
// necessary; in some blocks they are aligned to 16 bytes.
template <typename T>
struct Case {
  const TestBlock& block;
  Kind kind;
  int64_t width, num_loops, places, stride;
  Array<T> source, target, source_scores, target_scores, edge_scores, vector, features, edge_weight,
      factors, dy;
  Array<T> alpha, weights, out;
  Array<T> to_scores, to_target_scores, to_source_scores, to_target, to_vector, to_features,
      to_edge_weight, to_factors, dx;

  Case(const TestBlock& b, const Kind& k)
      : block(b),
        kind(k),
        width(k.heads * k.channels),
        num_loops(k.loops ? std::min(b.sources, b.targets) : 0),
        places(b.edges() + num_loops),
        stride(b.targets % 4 == 0 ? (width + 7) / 4 * 4 : width + 3),
        source(numbers<T>(b.sources * stride, 1)),
        target(numbers<T>(b.targets * stride, 2, kShift)),
        source_scores(numbers<T>(b.sources * stride, 3)),
        target_scores(numbers<T>(b.targets * stride, 4, kShift)),
        edge_scores(numbers<T>(places * k.heads, 5)),
        vector(numbers<T>(width, 6)),
        features(numbers<T>(places * k.columns, 7)),
        edge_weight(numbers<T>(k.columns * width, 8)),
        factors(numbers<T>(places, 9)),
        dy(numbers<T>(b.targets * stride, 10)) {
    forget();
  }
  void forget() {
    const int64_t over_edges = places * kind.heads;
    for (Array<T>* all : {&alpha, &weights, &to_scores}) *all = unwritten<T>(over_edges);
    out = unwritten<T>(block.targets * stride);
    to_target_scores = unwritten<T>(block.targets * stride);
    to_source_scores = unwritten<T>(block.sources * stride);
    to_target = unwritten<T>(block.targets * stride);
    to_vector = unwritten<T>(width);
    to_features = unwritten<T>(features.size() - kPadding);
    to_edge_weight = unwritten<T>(kind.columns * width);
    to_factors = unwritten<T>(places);
    dx = unwritten<T>(block.sources * stride);
  }
  // Returns all output arrays.
  std::vector<std::pair<const char*, Array<T>*>> written() {
    return {{"alpha", &alpha},
            {"weights", &weights},
            {"out", &out},
            {"scores", &to_scores},
            {"target scores", &to_target_scores},
            {"source scores", &to_source_scores},
            {"target", &to_target},
            {"vector", &to_vector},
            {"edge features", &to_features},
            {"edge weight", &to_edge_weight},
            {"factors", &to_factors},
            {"dx", &dx}};
  }

  Attention<T> attention() {
    Attention<T> a;
    a.lists = block.by_target();
    a.num_edges = block.edges();
    a.num_loops = num_loops;
    a.loops = kind.loops;
    a.first_own = block.first_own;
    a.heads = kind.heads;
    a.channels = kind.channels;
    a.slope = static_cast<T>(0.25);
    a.source = {source.data(), stride};
    if (kind.v2) {
      a.vector = vector.data();
      a.target = {target.data(), stride};
      if (kind.columns > 0) {
        a.edge_features = {features.data(), kind.columns};
        a.edge_weight = edge_weight.data();
        a.edge_columns = kind.columns;
      }
    } else {
      a.source_scores = {source_scores.data(), stride};
      a.target_scores = {target_scores.data(), stride};
      if (kind.columns > 0) a.edge_scores = edge_scores.data();
    }
    if (kind.factors) a.factors = factors.data();
    if (kind.dropout) a.dropout = key_in_memory ? in_memory.dropout : dropout;
    a.alpha = alpha.data();
    a.weights = kind.dropout || kind.factors ? weights.data() : alpha.data();
    return a;
  }
  AttentionGradient<T> gradient() {
    AttentionGradient<T> to;
    to.scores = to_scores.data();
    if (kind.factors) to.factors = to_factors.data();
    if (!kind.v2) {
      to.target_scores = {to_target_scores.data(), stride};
      return to;
    }
    to.target = {to_target.data(), stride};
    if (kind.columns == 0) return to;
    to.edge_weight = to_edge_weight.data();
    to.edge_features = {to_features.data(), kind.columns};
    to.edge_row = row.data();
    return to;
  }

  void forward(const DeviceLayers<T>& device) {
    device.attend(running_queue(), attention(), {out.data(), stride}, block.targets);
    wait();
  }
  void run(const DeviceLayers<T>& device) {
    forget();
    forward(device);
    const Attention<T> a = attention();
    const AttentionGradient<T> to = gradient();
    // Kernels must not depend on the contents of the scratch, nor use more of it.
    Array<T> parts(device.attend_parts(a, to, block.targets), std::numeric_limits<T>::quiet_NaN());
    device.attend_backward(running_queue(), a, {dy.data(), stride}, to,
                           kind.v2 ? to_vector.data() : nullptr, parts.data(), block.targets);
    device.attend_transposed(
        running_queue(), a, block.by_source(), {dy.data(), stride}, to.scores, {dx.data(), stride},
        kind.v2 ? Matrix<T>{} : Matrix<T>{to_source_scores.data(), stride}, block.sources);
    wait();
  }
  void on_cpu() {
    forget();
    std::fill_n(alpha.end() - kPadding, kPadding, T{0});
    std::fill_n(weights.end() - kPadding, kPadding, T{0});
    std::fill_n(to_scores.end() - kPadding, kPadding, T{0});
    const Table<T>& table = kernels::table<T>();
    const Attention<T> a = attention();
    table.attend(a, {out.data(), stride}, 0, block.targets);
    if (kind.v2) {
      std::fill_n(to_vector.begin(), width, T{0});
      std::fill_n(to_edge_weight.begin(), kind.columns * width, T{0});
    }
    table.attend_backward(a, {dy.data(), stride}, gradient(), to_vector.data(), 0, block.targets);
    table.attend_transposed(
        a, block.by_source(), {dy.data(), stride}, to_scores.data(), {dx.data(), stride},
        kind.v2 ? kernels::Matrix<T>{} : kernels::Matrix<T>{to_source_scores.data(), stride}, 0,
        block.sources);
    for (Array<T>* all : {&alpha, &weights, &to_scores})
      std::fill_n(all->end() - kPadding, kPadding, std::numeric_limits<T>::quiet_NaN());
  }

  bool key_in_memory = false;

 private:
  const kernels::Dropout dropout = kernels::make_dropout(0.3, 1, 2, 3, 4);
  const KeyInMemory in_memory{dropout};
  Array<T> row = Array<T>(width);
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  int turn = 0;
  for (const int64_t heads : {1, 2, 3, 8})
    for (const int64_t channels : {1, 5, 8, 16, 33})
      for (const bool v2 : {false, true})
        for (const bool loops : {false, true})
          for (const int64_t columns : {0, 1, 3}) {
            if (!v2 && columns == 3) continue;
            all.push_back({heads, channels, v2, loops, columns, turn % 2 == 1, turn / 2 % 2 == 1});
            turn += 1 + (turn % 7 == 0 ? 1 : 0);
          }
  // Heads that are too wide for one tile, and more parts of the edges' matrix than one kernel
  // takes.
  for (const bool loops : {false, true}) {
    all.push_back({2, 70, true, loops, 9, true, true});
    all.push_back({1, 150, true, loops, 5, true, false});
    all.push_back({2, 150, false, loops, 1, false, true});
  }
  return all;
}

bool by_pieces(const Kind& k) { return k.heads * k.channels % 4 == 0; }

// Every pair of option values; and, for one head and for several, the combinations that decide
// which kernels run and whether they move rows by pieces of 16 bytes.
Haves haves_of(const Kind& k) {
  Haves haves = pairs_of({k.heads, k.channels, k.v2, k.loops, k.columns, k.dropout, k.factors});
  haves.insert({k.v2, k.columns > 0, by_pieces(k), k.heads > 1});
  return haves;
}
// The combinations for tests of a single kernel property.
Haves few_haves_of(const Kind& k) {
  return {{0, k.v2, k.loops}, {1, k.v2, k.columns > 0}, {2, k.v2, by_pieces(k)}};
}

std::vector<Kind> taken_kinds(const std::vector<Kind>& all, Haves (*haves)(const Kind&)) {
  std::vector<Haves> cases;
  for (const Kind& kind : all) cases.push_back(haves(kind));
  std::vector<Kind> taken;
  for (const size_t i : taken_of(cases)) taken.push_back(all[i]);
  return taken;
}
std::vector<Kind> kinds() { return taken_kinds(all_kinds(), haves_of); }

TEST(Attention, CasesOfSlowDevicesHaveAllThatThereIs) {
  Haves missing;
  for (const Kind& kind : all_kinds()) missing.merge(haves_of(kind));
  for (const Kind& kind : kinds())
    for (const auto& what : haves_of(kind)) missing.erase(what);
  EXPECT_EQ(missing, Haves());
  EXPECT_LT(kinds().size(), is_slow() ? 40U : 1000U);
}

template <typename T>
void check_all(const DeviceLayers<T>& device) {
  const std::vector<TestBlock> blocks = test_blocks();
  size_t turn = 0;
  for (const Kind& kind : kinds())
    for (int repeat = 0; repeat < 2; ++repeat) {
      const TestBlock& block = blocks[repeat == 0 ? 0 : turn++ % blocks.size()];
      SCOPED_TRACE(testing::Message() << kind << ", " << block.edges() << " edges");
      Case<T> expected(block, kind), found(block, kind);
      expected.on_cpu();
      found.run(device);
      const auto one = expected.written(), two = found.written();
      for (size_t i = 0; i < one.size(); ++i) {
        expect_near(*two[i].second, *one[i].second, one[i].first);
        if (testing::Test::HasFatalFailure()) return;
        expect_as_before<T>(*two[i].second);
      }
    }
}

// A range of a graph's nodes, as in inference: only the forward pass.
template <typename T>
void check_ranges(const DeviceLayers<T>& device) {
  const TestBlock block(50, 12, 150, 8, 17);
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(testing::Message() << kind);
    Case<T> expected(block, kind), found(block, kind);
    kernels::table<T>().attend(expected.attention(), {expected.out.data(), expected.stride}, 0,
                               block.targets);
    found.forward(device);
    expect_near(found.out, expected.out, "out");
    expect_near(found.alpha, expected.alpha, "alpha");
    expect_near(found.weights, expected.weights, "weights");
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <typename T>
void check_dropout_keys(const DeviceLayers<T>& device) {
  const TestBlock block = test_blocks()[0];
  std::vector<Kind> dropping = all_kinds();
  std::erase_if(dropping, [](const Kind& k) { return !k.dropout; });
  for (const Kind& kind : taken_kinds(dropping, few_haves_of)) {
    SCOPED_TRACE(testing::Message() << kind);
    Case<T> by_value(block, kind), by_place(block, kind);
    by_value.run(device);
    by_place.key_in_memory = true;
    by_place.run(device);
    const auto one = by_value.written(), two = by_place.written();
    for (size_t i = 0; i < one.size(); ++i)
      ASSERT_TRUE(same_bits(*two[i].second, *one[i].second)) << one[i].first;
  }
}

class DeviceAttention : public Layers {};

TEST_P(DeviceAttention, KeysOfDropoutMayLieInTheDevicesMemory) {
  check_dropout_keys(*table().of<nn::kernels::DeviceLayers<float>>());
  check_dropout_keys(*table().of<nn::kernels::DeviceLayers<double>>());
}

TEST_P(DeviceAttention, IsTheCpus) {
  check_all(*table().of<nn::kernels::DeviceLayers<float>>());
  check_all(*table().of<nn::kernels::DeviceLayers<double>>());
}

// Lists that several tiles share: targets' and sources' lists. Thousands of terms are added in
// another order than the CPU's. Some parts of the last blocks have several long lists between short
// ones, and for a list of 1024 edges the loop decides whether it is long.
template <typename T>
void check_long_lists(const DeviceLayers<T>& device) {
  const std::vector<TestBlock> blocks = {{50, 2, 5000, 21, 4},
                                         {2, 2, 3500, 22},
                                         {30, {3, 1024, 1023, 1025, 0, 2, 2048, 1, 5, 40}, 23},
                                         {12, {1, 12000, 7}, 24}};
  const bool slow = is_slow();
  std::vector<Kind> all = all_kinds();
  if (slow) std::erase_if(all, [](const Kind& k) { return k.heads > 1 || k.channels > 8; });
  size_t turn = 0;
  for (const Kind& kind : taken_kinds(all, few_haves_of)) {
    if (!slow && ++turn % 4 != 0 && kind.channels < 70) continue;
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (slow ? b != 2
               : (b == 2 && turn % 8 != 0 && kind.channels < 70) || (b == 3 && turn % 32 != 0))
        continue;
      const TestBlock& block = blocks[b];
      SCOPED_TRACE(testing::Message() << kind << ", " << block.sources << " sources");
      Case<T> expected(block, kind), found(block, kind);
      expected.on_cpu();
      found.run(device);
      const auto one = expected.written(), two = found.written();
      for (size_t i = 0; i < one.size(); ++i) {
        expect_near(*two[i].second, *one[i].second, one[i].first, 100);
        if (testing::Test::HasFatalFailure()) return;
        expect_as_before<T>(*two[i].second);
      }
    }
  }
}

TEST_P(DeviceAttention, OfLongListsIsTheCpus) {
  check_long_lists(*table().of<nn::kernels::DeviceLayers<float>>());
  check_long_lists(*table().of<nn::kernels::DeviceLayers<double>>());
}

TEST_P(DeviceAttention, OfTargetsThatAreNotTheFirstSources) {
  check_ranges(*table().of<nn::kernels::DeviceLayers<float>>());
  check_ranges(*table().of<nn::kernels::DeviceLayers<double>>());
}

TEST_P(DeviceAttention, GradientsAgreeWithDifferences) {
  const DeviceLayers<double>& device = *table().of<nn::kernels::DeviceLayers<double>>();
  const std::vector<TestBlock> blocks = test_blocks();
  size_t turn = 0;
  for (const Kind& kind : kinds()) {
    if (is_slow() && kind.heads > 1) continue;
    const TestBlock& block = blocks[turn++ % blocks.size()];
    SCOPED_TRACE(testing::Message() << kind << ", " << block.edges() << " edges");
    Case<double> c(block, kind), moved(block, kind);
    c.run(device);
    const auto value = [&] {
      moved.out = unwritten<double>(block.targets * c.stride);
      moved.forward(device);
      return dot_of_written(moved.out, moved.dy);
    };
    expect_gradient(moved.source, c.dx, value, "source");
    if (kind.factors) expect_gradient(moved.factors, c.to_factors, value, "factors");
    if (kind.v2) {
      expect_gradient(moved.target, c.to_target, value, "target");
      expect_gradient(moved.vector, c.to_vector, value, "vector");
      if (kind.columns > 0) {
        expect_gradient(moved.features, c.to_features, value, "edge features");
        expect_gradient(moved.edge_weight, c.to_edge_weight, value, "edge weight");
      }
    } else {
      expect_gradient(moved.source_scores, c.to_source_scores, value, "source scores");
      expect_gradient(moved.target_scores, c.to_target_scores, value, "target scores");
      if (kind.columns > 0) expect_gradient(moved.edge_scores, c.to_scores, value, "edge scores");
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, DeviceAttention, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
