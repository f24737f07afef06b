// Charges memory that does not come from allocate_pages(), such as trees and tables of readers, to
// the thread's budget. Separate from memory.h because few files need it.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/memory.h"

namespace gnnmg::base {

// Charges bytes to the budget of the thread that made it, until it is destroyed. One thread at a
// time.
class MemoryCharge {
 public:
  MemoryCharge() : budget_(current_budget()) {}
  MemoryCharge(MemoryCharge&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() { give_back(bytes_); }
  // Call before the allocation. Error(kNoMemory) names `what` if the limit does not allow it.
  void take(int64_t bytes, std::string_view what) {
    if (budget_) budget_->take(bytes, what);
    bytes_ += bytes;
  }
  void give_back(int64_t bytes) noexcept {
    if (budget_) budget_->give_back(bytes);
    bytes_ -= bytes;
  }
  int64_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  int64_t bytes_ = 0;
};

}  // namespace gnnmg::base
