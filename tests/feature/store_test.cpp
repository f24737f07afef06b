// The gather compared with plain copies, for dense, sparse and mapped tables.
#include "feature/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/philox.h"
#include "support/sanitized.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Tensor;

Tensor random_table(DType dtype, base::Shape shape) {
  Tensor table = Tensor::empty(dtype, shape);
  base::Stream stream({1, 1}, 1);
  auto* bytes = static_cast<uint8_t*>(table.data());
  for (int64_t i = 0; i < table.view().num_bytes(); ++i)
    bytes[i] = static_cast<uint8_t>(stream.next());
  return table;
}

std::vector<int64_t> random_ids(int64_t count, int64_t bound) {
  std::vector<int64_t> ids(count);
  base::Stream stream({2, 2}, 2);
  for (int64_t& id : ids) id = static_cast<int64_t>(stream.below(bound));
  return ids;
}

// Row widths around the line and the stage, results that fit in the caches and that do not, with
// and without threads.
TEST(Gather, CopiesEveryByteOfEveryRow) {
  base::ThreadPool pool(3);
  for (const int64_t row_bytes : {1, 3, 4, 63, 64, 65, 100, 400, 1000, 2408, 4096, 33660}) {
    const int64_t rows = 997;
    const int64_t large = (row_bytes < 60 ? int64_t{1} << 20 : int64_t{17} << 20) + 12345;
    const Tensor table = random_table(DType::kU8, {rows, row_bytes});
    const auto* bytes = static_cast<const uint8_t*>(table.data());
    for (const int64_t total : {int64_t{0}, int64_t{1} << 14, large}) {
      const std::vector<int64_t> ids = random_ids(total / row_bytes, rows);
      const int64_t size = static_cast<int64_t>(ids.size()) * row_bytes;
      for (const int64_t shift : {0, 16, 1}) {  // offset of the output in its line
        if (total > (1 << 20) && (shift == 1 || (shift == 0 && test::kSanitized))) continue;
        for (base::ThreadPool* threads : {static_cast<base::ThreadPool*>(nullptr), &pool}) {
          base::PageVector<uint8_t> out;
          out.resize_discard(size + shift + 64);
          std::memset(out.data(), 0xEE, out.size());
          feature::gather_rows(bytes, row_bytes, ids, out.data() + shift, threads);
          for (size_t i = 0; i < ids.size(); ++i)
            ASSERT_EQ(std::memcmp(out.data() + shift + i * row_bytes, bytes + ids[i] * row_bytes,
                                  row_bytes),
                      0)
                << "row " << i << " of " << row_bytes << " bytes";
          for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(out[size + shift + i], 0xEE);
          for (int64_t i = 0; i < shift; ++i) ASSERT_EQ(out[i], 0xEE);
        }
      }
    }
  }
}

TEST(DenseStore, TellsShapeAndGathersAnyType) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI64, DType::kBool}) {
    const Tensor table = random_table(dtype, {50, 3, 2});
    const auto store = feature::make_store(table);
    EXPECT_EQ(store->num_rows(), 50);
    EXPECT_EQ(store->num_cols(), 6);
    EXPECT_EQ(store->dtype(), dtype);
    EXPECT_FALSE(store->sparse());
    EXPECT_EQ(store->dense().data(), table.data());
    const std::vector<int64_t> ids = {49, 0, 7, 7};
    const int64_t row_bytes = 6 * base::dtype_size(dtype);
    std::vector<uint8_t> out(ids.size() * row_bytes);
    store->gather(ids, out.data(), nullptr);
    for (size_t i = 0; i < ids.size(); ++i)
      EXPECT_EQ(std::memcmp(out.data() + i * row_bytes,
                            static_cast<uint8_t*>(table.data()) + ids[i] * row_bytes, row_bytes),
                0);
    feature::SparseRows sparse;
    EXPECT_THROW(store->gather_sparse(ids, sparse, nullptr), base::Error);
  }
  const auto column = feature::make_store(random_table(DType::kF32, {5}));
  EXPECT_EQ(column->num_cols(), 1);
  EXPECT_THROW(feature::make_store(Tensor()), base::Error);
  EXPECT_THROW(feature::make_store(random_table(DType::kF32, {})), base::Error);
}

TEST(SparseStore, GathersRowsAsTheyAre) {
  constexpr int64_t kRows = 300;
  base::Stream stream({3, 3}, 3);
  std::vector<int64_t> indptr = {0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t r = 0; r < kRows; ++r) {
    for (uint64_t i = stream.below(r == 5 ? 5000 : 20); i > 0; --i) {
      indices.push_back(static_cast<int32_t>(stream.below(8415)));
      values.push_back(static_cast<float>(stream.uniform()));
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  const base::CsrMatrix matrix{kRows, 8415, Tensor::copy_of<int64_t>(indptr),
                               Tensor::copy_of<int32_t>(indices), Tensor::copy_of<float>(values)};
  const auto store = feature::make_store(matrix);
  EXPECT_TRUE(store->sparse());
  EXPECT_EQ(store->num_rows(), kRows);
  EXPECT_EQ(store->num_cols(), 8415);
  EXPECT_EQ(store->dtype(), DType::kF32);
  EXPECT_FALSE(store->dense().defined());
  EXPECT_THROW(store->gather({}, nullptr, nullptr), base::Error);

  base::ThreadPool pool(3);
  feature::SparseRows rows;
  for (const int64_t count : {20000, 3, 0}) {
    const std::vector<int64_t> ids = random_ids(count, kRows);
    for (base::ThreadPool* threads : {static_cast<base::ThreadPool*>(nullptr), &pool}) {
      store->gather_sparse(ids, rows, threads);
      ASSERT_EQ(rows.num_rows, count);
      ASSERT_EQ(rows.num_cols, 8415);
      ASSERT_EQ(rows.indptr.size(), count + 1);
      ASSERT_EQ(rows.indptr[0], 0);
      ASSERT_EQ(rows.indices.size(), rows.indptr[count]);
      ASSERT_EQ(rows.values.size(), rows.indptr[count]);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t length = indptr[ids[i] + 1] - indptr[ids[i]];
        ASSERT_EQ(rows.indptr[i + 1] - rows.indptr[i], length);
        for (int64_t j = 0; j < length; ++j) {
          ASSERT_EQ(rows.indices[rows.indptr[i] + j], indices[indptr[ids[i]] + j]);
          ASSERT_EQ(rows.values[rows.indptr[i] + j], values[indptr[ids[i]] + j]);
        }
      }
    }
  }
}

TEST(MappedStore, ReadsTheRowsOfTheFile) {
  const test::TempDir folder;
  constexpr int64_t kRows = 3000, kCols = 17, kHead = 40;
  std::vector<float> numbers(kHead / sizeof(float) + kRows * kCols);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const std::string path =
      folder.write("x.bin", {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4});
  const std::shared_ptr<base::MappedFile> file = base::MappedFile::open(path);
  const Tensor table(
      {const_cast<uint8_t*>(file->bytes().data()) + kHead, DType::kF32, {kRows, kCols}}, file);
  const auto store = feature::make_store(table);
  EXPECT_FALSE(store->dense().defined()) << "not memory to be read in place";
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < kRows; ++i) ids.push_back(i % 7 ? i : kRows - 1 - i);
  ids.insert(ids.end(), {0, 0, 1, 2, kRows - 1});
  base::ThreadPool pool(3);
  for (base::ThreadPool* threads : {static_cast<base::ThreadPool*>(nullptr), &pool}) {
    std::vector<float> out(ids.size() * kCols);
    store->gather(ids, reinterpret_cast<uint8_t*>(out.data()), threads);
    for (size_t i = 0; i < ids.size(); ++i)
      for (int64_t c = 0; c < kCols; ++c)
        ASSERT_EQ(out[i * kCols + c], numbers[kHead / sizeof(float) + ids[i] * kCols + c]);
  }
}

// One thread gathers while another truncates the file and restores it, at arbitrary moments.
TEST(MappedStore, AFileThatShrinksWhileItIsRead) {
  const test::TempDir folder;
  constexpr int64_t kRows = 4096, kCols = 512;
  const std::string path =
      folder.write("x.bin", std::vector<uint8_t>(static_cast<size_t>(kRows * kCols), uint8_t{7}));
  const std::shared_ptr<base::MappedFile> file = base::MappedFile::open(path);
  const auto store = feature::make_store(
      Tensor({const_cast<uint8_t*>(file->bytes().data()), DType::kU8, {kRows, kCols}}, file));
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[i] = i * 37 % kRows;
  std::atomic<bool> done{false};
  std::thread cutter([&] {
    while (!done) {
      EXPECT_EQ(truncate(path.c_str(), 4096), 0);
      EXPECT_EQ(truncate(path.c_str(), kRows * kCols), 0);
    }
  });
  std::vector<uint8_t> out(static_cast<size_t>(kRows * kCols));
  int refused = 0;
  for (int i = 0; i < 2000 && refused < 20; ++i) {
    try {
      store->gather(ids, out.data(), nullptr);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kIo);
      EXPECT_THAT(error.what(), testing::HasSubstr(path));
      ++refused;
    }
  }
  done = true;
  cutter.join();
  EXPECT_GT(refused, 0);
}

TEST(MappedStore, AFileThatShrinksIsAnErrorNotASignal) {
  const test::TempDir folder;
  std::vector<uint8_t> bytes(100000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 31);
  const std::string path = folder.write("x.bin", bytes);
  const std::shared_ptr<base::MappedFile> file = base::MappedFile::open(path);
  Tensor table({const_cast<uint8_t*>(file->bytes().data()), DType::kU8, {1000, 100}}, file);
  const auto store = feature::make_store(table);
  const std::vector<int64_t> ids = {999, 0, 500};
  std::vector<uint8_t> out(300);
  store->gather(ids, out.data(), nullptr);
  EXPECT_EQ(out[0], bytes[99900]);
  ASSERT_EQ(truncate(path.c_str(), 50000), 0);
  try {
    store->gather(ids, out.data(), nullptr);
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kIo);
    EXPECT_THAT(error.what(), testing::HasSubstr(path));
  }
  // The same for sparse features, any of whose arrays may be such a file.
  const base::CsrMatrix matrix{
      1, 4, Tensor::copy_of<int64_t>(std::vector<int64_t>{0, 1}),
      Tensor::copy_of<int32_t>(std::vector<int32_t>{3}),
      Tensor({const_cast<uint8_t*>(file->bytes().data()), DType::kF32, {1}}, file)};
  feature::SparseRows rows;
  EXPECT_THROW(feature::make_store(matrix)->gather_sparse(std::vector<int64_t>{0}, rows, nullptr),
               base::Error);

  EXPECT_EQ(base::MappedFile::of(file), file.get());
  EXPECT_EQ(base::MappedFile::of(nullptr), nullptr);
  EXPECT_EQ(base::MappedFile::of(std::make_shared<int>(3)), nullptr);
}

}  // namespace
}  // namespace gnnmg
