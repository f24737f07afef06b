// Splits: given ones are checked, random ones are pure functions of their seed, and NumPy's legacy
// order is NumPy's.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Ids = std::vector<int64_t>;

// A data set of `labels` without edges.
DatasetRef labeled(const Ids& labels) {
  base::ThreadPool pool(1);
  const auto n = static_cast<int64_t>(labels.size());
  graph::GraphParts parts;
  parts.num_nodes = {n};
  const base::Tensor none = tensor<int64_t>({}, {0});
  parts.topology = {graph::csc_from_coo(none.view(), none.view(), n, n, pool)};
  parts.node_columns.resize(1);
  parts.node_columns[0].emplace("y", tensor<int64_t>(labels, {n}));
  return make_dataset(graph::Graph::create(std::move(parts)), "", "y", false, {});
}

Ids cycling_labels(int64_t n, int64_t classes) {
  Ids labels(n);
  for (int64_t i = 0; i < n; ++i) labels[i] = i % classes;
  return labels;
}

TEST(Split, FromCodesSortsIdsIntoParts) {
  const std::vector<uint8_t> codes = {1, 0, 3, 2, 1, 3};
  const Split split = split_from_codes(codes, "s", 4, "f");
  EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{0, 4}));
  EXPECT_EQ(ids(split, SplitPart::kValidation), (Ids{3}));
  EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{2, 5}));
  EXPECT_EQ(split.name, "s");
  EXPECT_EQ(split.index, 4);
  const std::vector<uint8_t> bad = {1, 4};
  expect_error(Status::kFormat, {"a.npy, row 2, node 1", "found 4", "expected 0"},
               [&] { split_from_codes(bad, "s", 0, "a.npy, row 2"); });
}

TEST(Split, FromIdsTakesAnyOrderAndRefusesOverlap) {
  const Ids train = {5, 0}, validation = {2}, test = {4, 1};
  const Split split = split_from_ids(train, validation, test, 6, "s", 0, "f");
  EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{0, 5}));
  EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{1, 4}));
  const Ids above = {6}, negative = {-1}, twice = {3, 3};
  expect_error(Status::kRange, {"f, validation, position 0", "node 6", "expected 0 to 5"},
               [&] { split_from_ids(train, above, {}, 6, "s", 0, "f"); });
  expect_error(Status::kRange, {"f, train, position 0", "node -1"},
               [&] { split_from_ids(negative, {}, {}, 6, "s", 0, "f"); });
  expect_error(Status::kFormat, {"f, test, position 1", "node 3", "already in test"},
               [&] { split_from_ids({}, {}, twice, 6, "s", 0, "f"); });
  expect_error(Status::kFormat, {"f, test, position 0", "node 5", "already in train"},
               [&] { split_from_ids(train, {}, Ids{5}, 6, "s", 0, "f"); });
}

TEST(Split, FromMasksRefusesANodeInTwo) {
  const bool train[] = {true, false, false}, validation[] = {false, true, false},
             test[] = {false, true, true};
  expect_error(Status::kFormat, {"m, node 1", "in validation and in test"},
               [&] { split_from_masks(train, validation, test, "s", 0, "m"); });
  const bool rest[] = {false, false, true};
  const Split split = split_from_masks(train, validation, rest, "s", 0, "m");
  EXPECT_EQ(ids(split, SplitPart::kValidation), (Ids{1}));
  expect_error(Status::kInvalidArgument, {"m, test", "2 nodes, expected 3"},
               [&] { split_from_masks(train, validation, std::span(rest).first(2), "s", 0, "m"); });
}

// numpy.random.RandomState(seed).permutation(n), NumPy 2.4.
TEST(NumpyLegacy, PermutationsAreNumpys) {
  EXPECT_EQ(numpy_legacy_permutation(0, 10), (Ids{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}));
  EXPECT_EQ(numpy_legacy_permutation(42, 20),
            (Ids{0, 17, 15, 1, 8, 5, 11, 3, 18, 16, 13, 2, 9, 19, 4, 12, 7, 10, 14, 6}));
  EXPECT_EQ(numpy_legacy_permutation(4294967295u, 12), (Ids{11, 8, 5, 9, 1, 10, 6, 0, 4, 7, 2, 3}));
  EXPECT_EQ(numpy_legacy_permutation(3, 0), Ids{});
  EXPECT_EQ(numpy_legacy_permutation(3, 1), Ids{0});
}

// Long enough for the state to be refilled many times; by CRC-32 of the little-endian i64 values.
TEST(NumpyLegacy, LongPermutationsAreNumpys) {
  const auto crc = [](const Ids& values) {
    return crc32(0, reinterpret_cast<const Bytef*>(values.data()),
                 static_cast<uInt>(values.size() * sizeof(int64_t)));
  };
  const Ids cora = numpy_legacy_permutation(0, 2708);
  EXPECT_EQ((Ids{cora.begin(), cora.begin() + 4}), (Ids{1808, 1918, 891, 2052}));
  EXPECT_EQ(crc(cora), 0x79fa80e3u);
  const Ids large = numpy_legacy_permutation(7, 100000);
  EXPECT_EQ((Ids{large.end() - 4, large.end()}), (Ids{10742, 49689, 58564, 61615}));
  EXPECT_EQ(crc(large), 0x1fba3940u);
}

TEST(RandomSplit, NumpyLegacyIsTheCutOfNumpysPermutation) {
  const DatasetRef dataset = labeled(cycling_labels(20, 4));
  const Split split = random_split(*dataset, 0.6, 0.2, 42, true);
  EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{0, 1, 2, 3, 5, 8, 11, 13, 15, 16, 17, 18}));
  EXPECT_EQ(ids(split, SplitPart::kValidation), (Ids{4, 9, 12, 19}));
  EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{6, 7, 10, 14}));
  expect_error(Status::kRange, {"seed 4294967296", "4294967295"},
               [&] { random_split(*dataset, 0.6, 0.2, uint64_t{1} << 32, true); });
}

TEST(RandomSplit, PartsCoverTheLabelledNodesOnce) {
  Ids labels = cycling_labels(1000, 3);
  for (int64_t i = 0; i < 1000; i += 10) labels[i] = -1;
  const DatasetRef dataset = labeled(labels);
  const Split split = random_split(*dataset, 0.333, 0.1, 5, false);
  EXPECT_EQ(split.part(SplitPart::kTrain).size(), 299u);  // floor(900 * 0.333)
  EXPECT_EQ(split.part(SplitPart::kValidation).size(), 90u);
  std::set<int64_t> seen;
  for (SplitPart part : {SplitPart::kTrain, SplitPart::kValidation, SplitPart::kTest}) {
    const auto span = split.part(part);
    EXPECT_TRUE(std::is_sorted(span.begin(), span.end()));
    for (int64_t id : span) {
      EXPECT_TRUE(seen.insert(id).second) << id;
      EXPECT_NE(id % 10, 0) << id;
    }
  }
  EXPECT_EQ(seen.size(), 900u);
}

// The stream is part of the definition: these ids may never change.
TEST(RandomSplit, IsAPureFunctionOfItsSeed) {
  const DatasetRef dataset = labeled(cycling_labels(12, 2));
  const Split first = random_split(*dataset, 0.5, 0.25, 1, false);
  const Split again = random_split(*dataset, 0.5, 0.25, 1, false);
  const Split other = random_split(*dataset, 0.5, 0.25, 2, false);
  EXPECT_EQ(ids(first, SplitPart::kTrain), ids(again, SplitPart::kTrain));
  EXPECT_NE(ids(first, SplitPart::kTrain), ids(other, SplitPart::kTrain));
  EXPECT_EQ(ids(first, SplitPart::kTrain), (Ids{0, 2, 4, 6, 7, 11}));
  const Split by_class = random_split_by_class(*dataset, 2, 1, 1);
  EXPECT_EQ(ids(by_class, SplitPart::kTrain), (Ids{0, 4, 5, 7}));
}

TEST(RandomSplit, EachNodeIsEquallyLikely) {
  constexpr int64_t kNodes = 20, kSeeds = 4000;
  const DatasetRef dataset = labeled(cycling_labels(kNodes, 2));
  std::vector<double> counts(kNodes);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Split split = random_split(*dataset, 0.25, 0, seed, false);
    for (int64_t id : split.part(SplitPart::kTrain)) ++counts[id];
  }
  const double expected = kSeeds * 0.25;
  double chi = 0;
  for (double count : counts) chi += (count - expected) * (count - expected) / (expected * 0.75);
  EXPECT_LT(chi, 43.8);  // chi-square with 19 degrees of freedom, p = 0.001 (the seeds are fixed)
}

TEST(RandomSplit, FractionsAreChecked) {
  const DatasetRef dataset = labeled(cycling_labels(10, 2));
  expect_error(Status::kInvalidArgument, {"train 0.8", "validation 0.3"},
               [&] { random_split(*dataset, 0.8, 0.3, 0, false); });
  expect_error(Status::kInvalidArgument, {"train -0.1"},
               [&] { random_split(*dataset, -0.1, 0.3, 0, false); });
  expect_error(Status::kInvalidArgument, {"fractions"},
               [&] { random_split(*dataset, std::nan(""), 0.3, 0, false); });
  const Split all = random_split(*dataset, 0.7, 0.3, 0, false);
  EXPECT_EQ(all.part(SplitPart::kTrain).size() + all.part(SplitPart::kValidation).size(), 10u);
  EXPECT_TRUE(all.part(SplitPart::kTest).empty());
}

TEST(RandomSplitByClass, TakesSoManyOfEachClass) {
  Ids labels = cycling_labels(100, 4);
  labels[0] = labels[1] = -1;
  const DatasetRef dataset = labeled(labels);
  const Split split = random_split_by_class(*dataset, 5, 7, 3);
  for (const auto& [part, wanted] :
       {std::pair{SplitPart::kTrain, 5}, {SplitPart::kValidation, 7}}) {
    std::vector<int> counts(4);
    for (int64_t id : split.part(part)) ++counts[labels[id]];
    EXPECT_EQ(counts, std::vector<int>(4, wanted));
  }
  EXPECT_EQ(split.part(SplitPart::kTest).size(), 98u - 48u);
  expect_error(Status::kInvalidArgument, {"class 0 has 24", "20 for train", "5 for validation"},
               [&] { random_split_by_class(*dataset, 20, 5, 3); });
  expect_error(Status::kInvalidArgument, {"-1 train"},
               [&] { random_split_by_class(*dataset, -1, 5, 3); });
}

}  // namespace
}  // namespace gnnmg::data
