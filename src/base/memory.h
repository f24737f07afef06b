// Large buffers and arenas. Fresh pages cost more than the work on them, so a batch takes its
// memory from an arena that keeps its pages and is reused.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace gnnmg::base {

// Counts the bytes of buffers against a limit. Buffers share the budget, so that it outlives its
// creator. Any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit) : limit_(limit) {}  // bytes; 0: no limit
  int64_t limit() const noexcept { return limit_; }
  int64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  // Error(kNoMemory) names `what`, the size, the limit and the bytes in use.
  void take(int64_t bytes, std::string_view what);
  void give_back(int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
};

// The budget that allocations of the calling thread are charged to; null: none. Worker threads take
// it over from the thread they work for.
const std::shared_ptr<MemoryBudget>& current_budget() noexcept;

// Charges allocations of the calling thread to a budget, or to none, while it lives.
class BudgetScope {
 public:
  explicit BudgetScope(std::shared_ptr<MemoryBudget> budget) noexcept;
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  const std::shared_ptr<MemoryBudget> budget_;
  const std::shared_ptr<MemoryBudget>* const outer_;
};

// Allocates `bytes` of uninitialized memory aligned to 64 bytes (from 4 MiB on: to 2 MiB, with huge
// pages by madvise). Never null, even for 0 bytes. Error(kNoMemory) names `what` and the size if
// the system has no memory or the thread's budget refuses. The bytes count until they are freed.
std::shared_ptr<void> allocate_pages(int64_t bytes, std::string_view what = "a buffer");

// Gives the whole pages of a range back to the system. Their contents are lost; the allocation
// stays.
void forget_pages(void* memory, int64_t bytes) noexcept;
// Lets a large allocation take small pages, at the first write to each, in place of huge ones.
void use_small_pages(void* memory, int64_t bytes) noexcept;

// A growing buffer that keeps its memory: resizing within the capacity touches nothing, and growth
// copies nothing unless asked. For trivial element types. One thread at a time.
template <typename T>
class PageVector {
 public:
  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  int64_t capacity() const { return capacity_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, static_cast<size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<size_t>(size_)}; }
  void clear() { size_ = 0; }
  // Sets the size. After growth beyond the capacity the contents are undefined.
  void resize_discard(int64_t size) {
    if (size > capacity_) grow(size, false);
    size_ = size;
  }
  // Sets the size and keeps the old elements.
  void resize_keep(int64_t size) {
    if (size > capacity_) grow(size, true);
    size_ = size;
  }
  // Shares the memory, so that an exported tensor can outlive the vector.
  const std::shared_ptr<void>& owner() const { return owner_; }

 private:
  void grow(int64_t size, bool keep) {
    const int64_t capacity = std::max(size, capacity_ + capacity_ / 2);
    std::shared_ptr<void> grown = allocate_pages(checked_mul(capacity, sizeof(T), "buffer size"));
    if (keep && size_) __builtin_memcpy(grown.get(), data_, size_ * sizeof(T));
    owner_ = std::move(grown);
    data_ = static_cast<T*>(owner_.get());
    capacity_ = capacity;
  }
  std::shared_ptr<void> owner_;
  T* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

}  // namespace gnnmg::base
