// Large memory and arenas. Writing fresh pages costs more than the work done on them, so what
// belongs to a batch comes from an arena that keeps its pages and is used again for ever.
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

// What buffers may take together, and what they take. Buffers share it, so that it outlives whoever
// made it. Any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit) : limit_(limit) {}  // bytes; 0: no limit
  int64_t limit() const noexcept { return limit_; }
  int64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  // Error(kNoMemory) that names what wanted how much, the limit, and what is taken already.
  void take(int64_t bytes, std::string_view what);
  void give_back(int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
};

// The budget that the calling thread's allocations are charged to; null: none. Threads that work
// for others take it over from them.
const std::shared_ptr<MemoryBudget>& current_budget() noexcept;

// Charges the calling thread's allocations to a budget, or to none, while it lives.
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

// `bytes` of uninitialised memory aligned to 64 bytes (2 MiB and madvise'd for huge pages from 4
// MiB on); never null, also for 0 bytes. Error(kNoMemory) that names `what` and the size when the
// system has none or the thread's budget does not allow it; the memory counts until it is freed.
std::shared_ptr<void> allocate_pages(int64_t bytes, std::string_view what = "a buffer");

// A growing buffer whose memory is kept: resize() within the capacity touches nothing, growth
// copies nothing unless asked. For element types that need no construction. One thread at a time.
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
  // Sets the size; contents are undefined after growth beyond the capacity.
  void resize_discard(int64_t size) {
    if (size > capacity_) grow(size, false);
    size_ = size;
  }
  // Sets the size and keeps the old elements.
  void resize_keep(int64_t size) {
    if (size > capacity_) grow(size, true);
    size_ = size;
  }
  // A share in the memory, so that an exported tensor can outlive the vector.
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
