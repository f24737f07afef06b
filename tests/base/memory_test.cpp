#include "base/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/free_list.h"
#include "base/log.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "support/alloc_faults.h"

namespace gnnmg::base {
namespace {

TEST(AllocatePages, IsAlignedAndNeverNull) {
  for (const int64_t bytes : {0, 1, 63, 64, 65, 4096, 1 << 20}) {
    const auto memory = allocate_pages(bytes);
    ASSERT_NE(memory, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u) << bytes;
    std::memset(memory.get(), 0xab, bytes);
  }
  for (const int64_t bytes : {4 << 20, (4 << 20) + 1, 9 << 20}) {
    const auto memory = allocate_pages(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % (2 << 20), 0u) << bytes;
    std::memset(memory.get(), 0xab, bytes);
  }
}

TEST(AllocatePages, RefusesWhatThereIsNot) {
  for (const int64_t bytes :
       {int64_t{-1}, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    try {
      allocate_pages(bytes);
      FAIL() << bytes << " bytes were there";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kNoMemory);
      EXPECT_EQ(error.what(), text("no memory for a buffer of ", bytes, " bytes"));
    }
  }
}

TEST(MemoryBudget, RefusesWhatDoesNotFitAndTakesWhatDoes) {
  const auto budget = std::make_shared<MemoryBudget>(1000);
  {
    const BudgetScope scope(budget);
    const auto first = allocate_pages(640);
    EXPECT_EQ(budget->used(), 640);
    try {
      allocate_pages(384, "the features");
      FAIL() << "1024 bytes of 1000";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kNoMemory);
      EXPECT_STREQ(
          error.what(),
          "the features of 384 bytes does not fit the memory limit of 1000 bytes, of which "
          "640 are in use");
    }
    EXPECT_EQ(budget->used(), 640);
    const auto smaller = allocate_pages(320);
    EXPECT_EQ(budget->used(), 960);
  }
  EXPECT_EQ(budget->used(), 0);
}

TEST(MemoryBudget, CountsUntilTheLastShareIsGone) {
  auto budget = std::make_shared<MemoryBudget>(0);
  Tensor kept;
  {
    const BudgetScope scope(budget);
    kept = Tensor::empty(DType::kF64, {8});
  }
  EXPECT_EQ(current_budget(), nullptr);
  EXPECT_EQ(budget->used(), 64);
  allocate_pages(1000);  // no budget
  EXPECT_EQ(budget->used(), 64);
  kept = Tensor();
  EXPECT_EQ(budget->used(), 0);
}

TEST(MemoryBudget, ScopesNest) {
  const auto outer = std::make_shared<MemoryBudget>(0), inner = std::make_shared<MemoryBudget>(0);
  const BudgetScope one(outer);
  {
    const BudgetScope two(inner);
    EXPECT_EQ(current_budget(), inner);
    const BudgetScope none(nullptr);
    EXPECT_EQ(current_budget(), nullptr);
  }
  EXPECT_EQ(current_budget(), outer);
}

TEST(MemoryBudget, NeverLetsThreadsPassTheLimitTogether) {
  const auto budget = std::make_shared<MemoryBudget>(64 * 100);
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const BudgetScope scope(budget);
      std::vector<std::shared_ptr<void>> held;
      for (int i = 0; i < 1000; ++i) {
        try {
          held.push_back(allocate_pages(64));
        } catch (const Error&) {
          ++refused;
          held.clear();
        }
        ASSERT_LE(budget->used(), budget->limit());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(refused, 0);
  EXPECT_EQ(budget->used(), 0);
}

TEST(MemoryBudget, TheWorkersOfAPoolChargeItsCaller) {
  ThreadPool pool(4);
  const auto budget = std::make_shared<MemoryBudget>(0);
  const BudgetScope scope(budget);
  std::vector<std::shared_ptr<void>> held(100);
  pool.parallel_for(100, 1, [&](int64_t begin, int64_t) {
    held[static_cast<size_t>(begin)] = allocate_pages(64);
  });
  EXPECT_EQ(budget->used(), 6400);
}

TEST(PageVector, GrowsAndKeeps) {
  PageVector<int32_t> values;
  EXPECT_EQ(values.size(), 0);
  values.resize_keep(3);
  for (int i = 0; i < 3; ++i) values[i] = i + 1;
  values.resize_keep(100000);
  EXPECT_EQ(values.size(), 100000);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[2], 3);
  EXPECT_EQ(values.span().size(), 100000u);
  EXPECT_EQ(values.end() - values.begin(), 100000);
}

TEST(PageVector, KeepsItsMemoryWhenItShrinks) {
  PageVector<double> values;
  values.resize_discard(1000);
  const double* data = values.data();
  const int64_t capacity = values.capacity();
  values.clear();
  values.resize_discard(10);
  values.resize_keep(1000);
  EXPECT_EQ(values.data(), data);
  EXPECT_EQ(values.capacity(), capacity);
}

TEST(PageVector, OutlivesItselfThroughItsOwner) {
  std::shared_ptr<void> owner;
  {
    PageVector<int64_t> values;
    values.resize_discard(8);
    values[7] = 42;
    owner = values.owner();
    values.resize_keep(1 << 20);  // moves to new memory; the other owner keeps the old memory
    EXPECT_NE(owner, values.owner());
  }
  EXPECT_EQ(static_cast<int64_t*>(owner.get())[7], 42);
}

TEST(PageVector, RefusesSizesThatOverflow) {
  PageVector<int64_t> values;
  EXPECT_THROW(values.resize_discard(std::numeric_limits<int64_t>::max() / 4), Error);
  EXPECT_EQ(values.size(), 0);
}

TEST(OutOfMemory, AnyAllocationOfATensorMayFail) {
  const auto body = [] {
    const Tensor zeros = Tensor::zeros(DType::kF32, {1000, 10});
    PageVector<int32_t> values;
    for (int i = 1; i < 6; ++i) values.resize_keep(i * 1000);
  };
  EXPECT_GE(test::fail_each_allocation(body), 7);
  EXPECT_GE(test::fail_each_allocation(body, true), 7);
}

TEST(OutOfMemory, PageVectorKeepsItsContents) {
  PageVector<int32_t> values;
  values.resize_keep(4);
  values[3] = 9;
  {
    const test::AllocationFaults faults({1, true});
    // Error, or bad_alloc without memory for its text.
    EXPECT_ANY_THROW(values.resize_keep(1 << 20));
  }
  EXPECT_EQ(values.size(), 4);
  EXPECT_EQ(values[3], 9);
}

TEST(OutOfMemory, FreeListKeepsWhatItHasMemoryFor) {
  FreeList<std::vector<int>> list;
  std::unique_ptr<std::vector<int>> object = list.borrow();
  object->push_back(7);
  {
    const test::AllocationFaults faults({1, true});
    list.give_back(std::move(object));
  }
  object = list.borrow();
  EXPECT_TRUE(object->empty());
  object->push_back(8);
  list.give_back(std::move(object));
  EXPECT_EQ(*list.borrow(), std::vector{8});
  EXPECT_TRUE(list.borrow()->empty());
}

TEST(OutOfMemory, LogCountsWhatItCouldNotKeep) {
  Log log;
  log.add(LogLevel::kInfo, "kept");
  {
    std::vector<std::string> texts(200, std::string(40, 'x'));
    const test::AllocationFaults faults({1, true});
    for (std::string& text : texts) log.add(LogLevel::kInfo, std::move(text));
  }
  log.add(LogLevel::kInfo, "later");
  int64_t pulled = 0, dropped = 0;
  while (const auto record = log.next()) {
    ++pulled;
    dropped += record->dropped_before;
  }
  EXPECT_EQ(pulled + dropped, 202);
  EXPECT_GT(dropped, 0);
}

TEST(AllocationFaults, CountAndMeasure) {
  const test::AllocationFaults faults;
  {
    const std::vector<char> block(100000);
    EXPECT_EQ(faults.count(), 1);
    EXPECT_GE(faults.held_bytes(), 100000);
  }
  EXPECT_EQ(faults.held_bytes(), 0);
  EXPECT_GE(faults.peak_bytes(), 100000);
  EXPECT_LT(faults.peak_bytes(), 110000);
  EXPECT_FALSE(faults.struck());
}

TEST(AllocationFaults, FindALeak) {
  static std::vector<void*> leaked;
  leaked.reserve(100);
  const auto body = [] {
    void* first = ::operator new(100);
    try {
      ::operator delete(::operator new(200));
    } catch (const std::bad_alloc&) {
      leaked.push_back(first);  // simulates a leak on the error path
      throw;
    }
    ::operator delete(first);
  };
  EXPECT_THROW(test::fail_each_allocation(body), std::runtime_error);
  for (void* block : leaked) ::operator delete(block);
}

}  // namespace
}  // namespace gnnmg::base
