// Rows over parts against the rows of the whole table.
#include "dist/part_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/philox.h"
#include "dist/parts_of.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Tensor;

constexpr int64_t kNodes = 500;
constexpr int32_t kDense = 0, kNarrow = 1, kSparse = 2;  // columns, by name

Tensor random_rows(DType dtype, base::Shape shape) {
  Tensor table = Tensor::empty(dtype, shape);
  base::Stream stream({3, 3}, 1);
  auto* bytes = static_cast<uint8_t*>(table.data());
  for (int64_t i = 0; i < table.view().num_bytes(); ++i)
    bytes[i] = static_cast<uint8_t>(stream.next());
  return table;
}

base::CsrMatrix random_sparse_rows() {
  base::Stream stream({4, 4}, 1);
  std::vector<int64_t> indptr = {0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t row = 0; row < kNodes; ++row) {
    const int64_t count = static_cast<int64_t>(stream.below(7));  // some rows have none
    for (int64_t i = 0; i < count; ++i) {
      indices.push_back(static_cast<int32_t>(stream.below(1000)));
      values.push_back(static_cast<float>(stream.below(100)));
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  return {kNodes, 1000, Tensor::copy_of<int64_t>(indptr), Tensor::copy_of<int32_t>(indices),
          Tensor::copy_of<float>(values)};
}

graph::GraphRef graph_with_columns() {
  graph::GraphParts parts;
  parts.num_nodes = {kNodes};
  graph::Csc csc;
  csc.num_sources = csc.num_targets = kNodes;
  csc.indptr = Tensor::zeros(DType::kI64, {kNodes + 1});
  csc.indices = Tensor::zeros(DType::kI32, {0});
  parts.topology = {csc};
  parts.node_columns = {{{"a_dense", random_rows(DType::kF32, {kNodes, 25})},
                         {"b_narrow", random_rows(DType::kBF16, {kNodes, 3})},
                         {"c_sparse", random_sparse_rows()}}};
  return graph::Graph::create(std::move(parts));
}

std::vector<int64_t> random_nodes(int64_t count) {
  std::vector<int64_t> ids(count);
  base::Stream stream({5, 5}, 1);
  for (int64_t& id : ids) id = static_cast<int64_t>(stream.below(kNodes));
  return ids;
}

const graph::Column& column_of(const graph::Graph& graph, int32_t number) {
  return std::next(graph.node_columns().begin(), number)->second;
}

void expect_same_rows(const feature::FeatureStore& whole, const feature::FeatureStore& parts,
                      std::span<const int64_t> ids) {
  EXPECT_EQ(parts.num_rows(), whole.num_rows());
  EXPECT_EQ(parts.num_cols(), whole.num_cols());
  EXPECT_EQ(parts.dtype(), whole.dtype());
  const int64_t size =
      static_cast<int64_t>(ids.size()) * whole.num_cols() * base::dtype_size(whole.dtype());
  std::vector<uint8_t> expected(size), found(size, 0xEE);
  whole.gather(ids, expected.data(), nullptr);
  parts.gather(ids, found.data(), nullptr);
  EXPECT_EQ(found, expected);
}

void expect_same_sparse_rows(const feature::FeatureStore& whole, const feature::FeatureStore& parts,
                             std::span<const int64_t> ids) {
  feature::SparseRows expected, found;
  whole.gather_sparse(ids, expected, nullptr);
  for (int turn = 0; turn < 2; ++turn) {  // the second reuses the buffers of the first
    parts.gather_sparse(ids, found, nullptr);
    EXPECT_EQ(found.num_rows, expected.num_rows);
    EXPECT_EQ(found.num_cols, expected.num_cols);
    EXPECT_THAT(found.indptr.span(), testing::ElementsAreArray(expected.indptr.span()));
    EXPECT_THAT(found.indices.span(), testing::ElementsAreArray(expected.indices.span()));
    EXPECT_THAT(found.values.span(), testing::ElementsAreArray(expected.values.span()));
  }
}

TEST(PartStore, HasTheRowsOfTheWholeTable) {
  const graph::GraphRef graph = graph_with_columns();
  for (const int32_t num_parts : {1, 3, 40}) {
    const auto part_of = test::hashed_parts(kNodes, num_parts, 9);
    for (const auto& own : {std::vector<int32_t>{}, {0}}) {
      for (const int64_t piece : {int64_t{1}, int64_t{700}, int64_t{1} << 20}) {
        dist::PartsConfig config;
        config.piece_bytes = piece;
        config.max_in_flight = 2;
        const auto parts = test::parts_of(*graph, part_of, num_parts, own, config);
        for (const int64_t count : {0, 1, 700}) {
          const std::vector<int64_t> ids = random_nodes(count);
          for (const int32_t column : {kDense, kNarrow})
            expect_same_rows(*feature::make_store(column_of(*graph, column)),
                             *dist::make_part_store(parts, column, {}, {}), ids);
          expect_same_sparse_rows(*feature::make_store(column_of(*graph, kSparse)),
                                  *dist::make_part_store(parts, kSparse, {}, {}), ids);
        }
      }
    }
  }
}

TEST(PartStore, AsksForKeptRowsOnce) {
  const graph::GraphRef graph = graph_with_columns();
  const auto part_of = test::hashed_parts(kNodes, 4, 9);
  const auto parts = test::parts_of(*graph, part_of, 4, {2});
  std::vector<int64_t> kept;
  for (int64_t node = kNodes - 1; node >= 0; node -= 2) kept.push_back(node);
  const auto store = dist::make_part_store(parts, kDense, kept, {});
  std::vector<int64_t> remote, other;
  for (int64_t node = 0; node < kNodes; ++node) {
    if (part_of[node] == 2) continue;
    (node % 2 ? remote : other).push_back(node);
  }
  EXPECT_EQ(parts->traffic().remote_rows, static_cast<int64_t>(remote.size()));
  const int64_t questions = parts->traffic().questions;
  expect_same_rows(*feature::make_store(column_of(*graph, kDense)), *store, remote);
  EXPECT_EQ(parts->traffic().questions, questions);
  EXPECT_EQ(parts->traffic().cached_rows, static_cast<int64_t>(remote.size()));
  std::vector<int64_t> all(kNodes);
  for (int64_t node = 0; node < kNodes; ++node) all[node] = (node * 7) % kNodes;
  expect_same_rows(*feature::make_store(column_of(*graph, kDense)), *store, all);
  EXPECT_EQ(parts->traffic().remote_rows, static_cast<int64_t>(remote.size() + other.size()));
}

// Messages are less than 2 % larger than their rows.
TEST(PartStore, RowsTakeTheirBytesAndLittleMore) {
  const graph::GraphRef graph = graph_with_columns();
  const auto parts = test::parts_of(*graph, std::vector<uint16_t>(kNodes, 0), 1, {});
  const auto store = dist::make_part_store(parts, kDense, {}, {});
  std::vector<uint8_t> out(kNodes * 100);
  store->gather(random_nodes(kNodes), out.data(), nullptr);
  EXPECT_EQ(parts->traffic().answered_bytes, dist::kHeadBytes + kNodes * 100);
  EXPECT_LE(parts->traffic().answered_bytes, kNodes * 102);
}

TEST(PartStore, SaysWhatItCannotDo) {
  const graph::GraphRef graph = graph_with_columns();
  const auto parts = test::parts_of(*graph, std::vector<uint16_t>(kNodes, 0), 1, {});
  const std::vector<int64_t> twice = {3, 4, 3}, outside = {kNodes}, two = {1, 2};
  EXPECT_EQ(test::status_of([&] { dist::make_part_store(parts, kDense, twice, {}); }),
            base::Status::kInvalidArgument);
  EXPECT_EQ(test::status_of([&] { dist::make_part_store(parts, kDense, outside, {}); }),
            base::Status::kRange);
  EXPECT_EQ(test::status_of([&] { dist::make_part_store(parts, kSparse, two, {}); }),
            base::Status::kInvalidArgument);
  const auto dense = dist::make_part_store(parts, kDense, {}, {});
  feature::SparseRows sparse;
  EXPECT_EQ(test::status_of([&] { dense->gather_sparse(two, sparse, nullptr); }),
            base::Status::kInvalidArgument);
  base::CancelToken cancel;
  cancel.cancel();
  std::vector<uint8_t> out(200);
  EXPECT_EQ(test::status_of([&] { dense->gather(two, out.data(), nullptr, cancel); }),
            base::Status::kCancelled);
  EXPECT_EQ(test::status_of([&] { dist::make_part_store(parts, kDense, two, cancel); }),
            base::Status::kCancelled);
}

}  // namespace
}  // namespace gnnmg
