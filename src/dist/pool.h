// Buffers that calls on several threads take in turns, kept for the next one.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gnnmg::dist {

template <typename T>
class Pool {
 public:
  // Goes back to the pool, which outlives it, at its end.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<T> item) : pool_(pool), item_(std::move(item)) {}
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_[--pool_.num_lent_] = std::move(item_);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *item_; }
    T* operator->() const { return item_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> item_;
  };

  Lease take() {
    const std::lock_guard lock(mutex_);
    // Giving back finds a place and allocates nothing.
    if (num_lent_ == free_.size()) free_.push_back(std::make_unique<T>());
    return {*this, std::move(free_[num_lent_++])};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>>
      free_;  // places before num_lent_ are those of items that are lent
  size_t num_lent_ = 0;
};

}  // namespace gnnmg::dist
