// Objects that calls borrow one at a time, kept for later calls with the memory that they have.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace gnnmg::base {

// Any thread.
template <typename T>
class FreeList {
 public:
  // Returns a kept object, or a new one if there is none.
  std::unique_ptr<T> borrow() {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return std::make_unique<T>();
    std::unique_ptr<T> object = std::move(kept_.back());
    kept_.pop_back();
    return object;
  }
  // Without memory for the list the object is destroyed. Not for one whose use has failed: its
  // state is unknown.
  void give_back(std::unique_ptr<T> object) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      kept_.push_back(std::move(object));
    } catch (const std::bad_alloc&) {  // the next call makes a new one
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> kept_;
};

}  // namespace gnnmg::base
