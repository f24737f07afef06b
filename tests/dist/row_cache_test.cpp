// Rows that a store keeps in place of others, while threads read.
#include "dist/row_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <numeric>
#include <thread>

#include "dist/part_store.h"
#include "dist/parts_of.h"

namespace gnnmg {
namespace {

using base::Status;
using base::Tensor;

constexpr int64_t kRows = 500, kCols = 1000;

// A turnstile for requests of rows.
class Turnstile {
 public:
  void close() { set(false); }
  void open() { set(true); }
  void pass() {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void await_asked(int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= count; });
  }
  int64_t asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int64_t asked_ = 0;
};

class WaitingChannel : public dist::Channel {
 public:
  WaitingChannel(std::unique_ptr<dist::Channel> to, Turnstile& turnstile)
      : to_(std::move(to)), turnstile_(turnstile) {}
  std::unique_ptr<dist::Call> ask(int32_t part, std::span<const uint8_t> message) override {
    turnstile_.pass();
    return to_->ask(part, message);
  }

 private:
  const std::unique_ptr<dist::Channel> to_;
  Turnstile& turnstile_;
};

// A store of nodes of which every fourth is here. All numbers of the table differ.
class RowCache : public testing::Test {
 protected:
  RowCache() {
    for (int64_t node = 0; node < kRows; ++node) part_of_[node] = static_cast<uint16_t>(node % 4);
    std::iota(rows_.as<float>().begin(), rows_.as<float>().end(), 0.0F);
    graph::GraphParts graph;
    graph.num_nodes = {kRows};
    graph::Csc csc;
    csc.num_sources = csc.num_targets = kRows;
    csc.indptr = Tensor::zeros(base::DType::kI64, {kRows + 1});
    csc.indices = Tensor::zeros(base::DType::kI32, {0});
    graph.topology = {csc};
    graph.node_columns = {{{"x", rows_}}};
    dist::PartsConfig config;
    config.piece_bytes = 16 << 10;
    config.max_in_flight = 2;
    parts_ = test::parts_of(*graph::Graph::create(std::move(graph)), part_of_, 4, {0}, config,
                            [this](std::unique_ptr<dist::Channel> to) {
                              return std::make_unique<WaitingChannel>(std::move(to), turnstile_);
                            });
    store_ = dist::make_part_store(parts_, 0, {}, {});
  }

  // Nodes from `begin` on that are not here.
  static std::vector<int64_t> remote(int64_t begin, int64_t count) {
    std::vector<int64_t> nodes;
    for (int64_t node = begin; std::ssize(nodes) < count; ++node)
      if (node % 4 != 0) nodes.push_back(node);
    return nodes;
  }
  void keep(const std::vector<int64_t>& nodes, const base::CancelToken& cancel = {}) {
    store_->keep(nodes, cancel);
  }
  // True if the store has the right rows.
  bool reads(std::span<const int64_t> nodes) const {
    std::vector<float> found(nodes.size() * kCols);
    store_->gather(nodes, reinterpret_cast<uint8_t*>(found.data()), nullptr);
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!std::ranges::equal(std::span(found).subspan(i * kCols, kCols),
                              rows_.as<const float>().subspan(nodes[i] * kCols, kCols)))
        return false;
    return true;
  }
  int64_t fetched() const { return parts_->traffic().remote_rows; }

  std::vector<uint16_t> part_of_ = std::vector<uint16_t>(kRows);
  Tensor rows_ = Tensor::empty(base::DType::kF32, {kRows, kCols});
  Turnstile turnstile_;
  std::shared_ptr<const dist::Parts> parts_;
  std::shared_ptr<dist::KeepingStore> store_;
};

TEST_F(RowCache, RowsThatStayAreNotFetchedAgain) {
  std::vector<int64_t> all(kRows);
  std::iota(all.begin(), all.end(), 0);
  keep(remote(0, 200));
  EXPECT_EQ(fetched(), 200);
  keep(remote(0, 200));
  EXPECT_EQ(fetched(), 200);
  EXPECT_EQ(store_->num_kept(), 200);
  for (const auto& [nodes, fresh] : {std::pair{remote(100, 200), 75},       // some stay
                                     std::pair{remote(300, 150), 100},      // fewer
                                     std::pair{remote(0, 200), 200},        // none stays
                                     std::pair{std::vector<int64_t>(), 0},  // nothing is kept
                                     std::pair{remote(7, 200), 200}}) {
    const int64_t before = fetched(), hits_before = parts_->traffic().cached_rows;
    keep(nodes);
    EXPECT_EQ(fetched() - before, fresh);
    EXPECT_EQ(store_->num_kept(), std::ssize(nodes));
    EXPECT_TRUE(reads(nodes));
    EXPECT_EQ(fetched() - before, fresh);
    EXPECT_EQ(parts_->traffic().cached_rows - hits_before, std::ssize(nodes));
    EXPECT_TRUE(reads(all));
  }
  EXPECT_EQ(test::status_of([&] { keep(remote(0, 201)); }), Status::kInvalidArgument);
  EXPECT_EQ(test::status_of([&] { keep({1, 2, 1}); }), Status::kInvalidArgument);
  EXPECT_TRUE(reads(all));
}

TEST_F(RowCache, AnotherChoiceTakesNoMemoryOfItsOwn) {
  const auto budget = std::make_shared<base::MemoryBudget>(1200 << 10);
  const base::BudgetScope scope(budget);
  keep(remote(0, 200));  // 800 KB
  keep(remote(250, 180));
  EXPECT_TRUE(reads(remote(250, 10)));
  EXPECT_EQ(store_->num_kept(), 180);
}

TEST_F(RowCache, RowsLeaveAfterTheirLastReader) {
  keep(remote(0, 200));
  const int64_t asked = turnstile_.asked();
  const std::vector<int64_t> nodes = remote(0, 300);  // 200 of them are kept
  turnstile_.close();
  std::thread reader([&] { EXPECT_TRUE(reads(nodes)); });
  turnstile_.await_asked(asked + 1);
  base::CancelToken cancel;
  std::atomic<bool> ended = false;
  std::thread keeper([&] {
    EXPECT_EQ(test::status_of([&] { keep(remote(100, 200), cancel); }), Status::kCancelled);
    ended = true;
  });
  while (store_->num_kept() == 200) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(ended);
  // Rows that stay can be read meanwhile.
  EXPECT_EQ(store_->num_kept(), 125);
  EXPECT_TRUE(reads(remote(100, 125)));
  EXPECT_EQ(turnstile_.asked(), asked + 1) << "rows are fetched into memory that a thread reads";
  cancel.cancel();
  if (HasFailure()) turnstile_.open();
  keeper.join();
  EXPECT_EQ(store_->num_kept(), 125);
  std::thread again([&] { keep(remote(100, 200)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(turnstile_.asked(), asked + 1);
  turnstile_.open();
  again.join();
  reader.join();
  EXPECT_EQ(store_->num_kept(), 200);
  EXPECT_TRUE(reads(nodes));
}

TEST_F(RowCache, ReadersGetTheSameRowsMeanwhile) {
  keep(remote(0, 200));
  std::atomic<bool> end = false;
  std::vector<std::thread> readers;
  for (int64_t t = 0; t < 2; ++t)
    readers.emplace_back([&, t] {
      for (int64_t turn = t; !end; ++turn) EXPECT_TRUE(reads(remote(turn % 7 * 30, 60)));
    });
  for (int64_t turn = 1; turn <= 40; ++turn) keep(remote(turn % 4 * 50, 200 - turn));
  end = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace gnnmg
