// A store over a mapped file that keeps rows in memory, compared with the file.
#include "feature/kept_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/file.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Tensor;
using testing::HasSubstr;

constexpr int64_t kHead = 128, kCols = 100;

// A file of rows of kCols bytes after a head.
class RowsFile {
 public:
  explicit RowsFile(int64_t num_rows) : num_rows_(num_rows), bytes_(kHead + num_rows * kCols) {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<uint8_t>(i * 31 + i / 256);
    path_ = folder_.write("x.bin", bytes_);
    file_ = base::MappedFile::open(path_);
  }
  Tensor table() const {
    return {{const_cast<uint8_t*>(file_->bytes().data()) + kHead, DType::kU8, {num_rows_, kCols}},
            file_};
  }
  const std::string& path() const { return path_; }
  // Cuts the file after so many rows.
  void cut(int64_t rows) const { ASSERT_EQ(truncate(path_.c_str(), kHead + rows * kCols), 0); }
  // Checks that the store gives the rows that the file had at first.
  void check(const feature::FeatureStore& store, const std::vector<int64_t>& ids,
             base::ThreadPool* pool = nullptr) const {
    std::vector<uint8_t> out(ids.size() * kCols);
    store.gather(ids, out.data(), pool);
    for (size_t i = 0; i < ids.size(); ++i)
      ASSERT_TRUE(std::equal(out.data() + i * kCols, out.data() + (i + 1) * kCols,
                             bytes_.data() + kHead + ids[i] * kCols))
          << "row " << ids[i];
  }

 private:
  const test::TempDir folder_;
  int64_t num_rows_;
  std::vector<uint8_t> bytes_;
  std::string path_;
  std::shared_ptr<base::MappedFile> file_;
};

std::vector<int64_t> mixed_ids(int64_t num_rows) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < num_rows; ++i) ids.push_back(i * 37 % num_rows);
  ids.insert(ids.end(), {0, 0, 1, 2, num_rows - 1});
  return ids;
}

bool always(int64_t) { return true; }
bool never(int64_t) { return false; }

void expect_io_error(const feature::FeatureStore& store, const std::vector<int64_t>& ids,
                     const std::string& path) {
  std::vector<uint8_t> out(ids.size() * kCols);
  try {
    store.gather(ids, out.data(), nullptr);
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kIo);
    EXPECT_THAT(error.what(), HasSubstr(path));
  }
}

TEST(KeptStore, GivesTheRowsOfTheFile) {
  base::ThreadPool pool(3);
  for (const int64_t num_rows : {3, 511, 512, 513, 3000, 60'000}) {  // a block has 512 rows
    const RowsFile rows(num_rows);
    for (const auto may_keep : {always, never}) {
      const auto store = feature::make_kept_store(rows.table(), may_keep);
      EXPECT_EQ(store->num_rows(), num_rows);
      EXPECT_EQ(store->num_cols(), kCols);
      EXPECT_FALSE(store->dense().defined());
      for (int turn = 0; turn < 2; ++turn) rows.check(*store, mixed_ids(num_rows));
    }
    rows.check(*feature::make_kept_store(rows.table()), mixed_ids(num_rows), &pool);
  }
}

TEST(KeptStore, KeepsWhatItHasReadWhenTheFileShrinks) {
  const RowsFile rows(3000);
  const auto store = feature::make_kept_store(rows.table(), always);
  rows.check(*store, {1000});
  rows.cut(10);
  rows.check(*store, {600, 1023});  // rows of the same block
  expect_io_error(*store, {1000, 2999}, rows.path());
  expect_io_error(*store, {20}, rows.path());
}

TEST(KeptStore, StoresOfOneTensorShareTheirRows) {
  const RowsFile rows(3000);
  const auto budget = std::make_shared<base::MemoryBudget>(int64_t{1} << 30);
  const base::BudgetScope scope(budget);
  auto one = feature::make_kept_store(rows.table());
  const auto other = feature::make_kept_store(rows.table());
  rows.check(*one, {1000});
  EXPECT_EQ(budget->used(), 512 * kCols);
  rows.cut(10);
  one.reset();
  rows.check(*other, {600, 1023});
  EXPECT_EQ(budget->used(), 512 * kCols);
}

TEST(KeptStore, ReadsFromTheFileWhatItMayNotKeep) {
  const RowsFile rows(3000);
  int64_t asked = 0;
  const auto refusing =
      feature::make_kept_store(rows.table(), [&](int64_t) { return ++asked, false; });
  rows.check(*refusing, mixed_ids(3000));
  EXPECT_EQ(asked, 1) << "a refusal is final";

  const auto budget = std::make_shared<base::MemoryBudget>(240'000);
  std::unique_ptr<feature::FeatureStore> limited;
  {
    const base::BudgetScope scope(budget);
    limited = feature::make_kept_store(rows.table(), always);
  }
  for (int turn = 0; turn < 2; ++turn) rows.check(*limited, mixed_ids(3000));
  EXPECT_EQ(budget->used(), 2 * 512 * kCols) << "two blocks, of the six";
  rows.cut(0);
  expect_io_error(*refusing, {1}, rows.path());
  rows.check(*limited, {0});
  expect_io_error(*limited, mixed_ids(3000), rows.path());
  limited.reset();
  EXPECT_EQ(budget->used(), 0);
}

TEST(KeptStore, OfManyThreadsAtOnce) {
  const RowsFile rows(40'000);
  const auto store = feature::make_kept_store(rows.table(), always);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (++ready; ready < 4;) std::this_thread::yield();
      rows.check(*store, mixed_ids(40'000));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(KeptStore, OfOtherColumnsIsThePlainStore) {
  const Tensor table = Tensor::copy_of<int32_t>(std::vector<int32_t>{1, 2, 3});
  const auto store = feature::make_kept_store(table);
  EXPECT_EQ(store->dense().data(), table.data());
}

}  // namespace
}  // namespace gnnmg
