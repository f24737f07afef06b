// The host memory that is pinned for kernels in this process: memory pinned here, with counts, and
// memory that its owner had pinned before, whose pins are left alone.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace gnnmg::cuda {

// The interface that pins memory: the CUDA runtime, or a test.
class PinningSystem {
 public:
  virtual ~PinningSystem() = default;
  // Returns false if some of the memory is pinned already. Error(kNoMemory) or kUnsupported, naming
  // `what`, if the system refuses.
  virtual bool pin(void* memory, int64_t bytes, std::string_view what) = 0;
  virtual void unpin(void* memory) noexcept = 0;
  virtual bool all_pinned(void* memory, int64_t bytes) = 0;
};

// Any thread.
class PinnedRanges {
 public:
  // Pins all of the memory until give_back() of the same address. Error(kInvalidArgument) if part
  // of it is pinned and the rest cannot be. `system` outlives the pin.
  void take(PinningSystem& system, void* memory, int64_t bytes, std::string_view what) {
    const std::lock_guard lock(mutex_);
    char* const begin = static_cast<char*>(memory);
    const auto use = uses_.emplace(memory, nullptr);
    try {
      const auto next = own_.upper_bound(begin);
      const auto own = next == own_.begin() ? own_.end() : std::prev(next);
      if (own != own_.end() && begin + bytes <= own->second.end) {
        ++own->second.uses;
        use->second = own->first;
        return;
      }
      const auto [added, is_new] = own_.try_emplace(begin, Own{begin + bytes, 1, &system});
      bool pinned = false;
      try {
        pinned = is_new && system.pin(memory, bytes, what);
      } catch (...) {
        own_.erase(added);
        throw;
      }
      if (pinned) {
        use->second = begin;
        return;
      }
      if (is_new) own_.erase(added);
      if (!system.all_pinned(memory, bytes))
        base::fail(base::Status::kInvalidArgument, "part of ", what, " of ", bytes,
                   " bytes is pinned already, the rest cannot be pinned beside it; pin all of it, "
                   "or none");
    } catch (...) {
      uses_.erase(use);
      throw;
    }
  }
  // The system that pinned the memory unpins it, whatever the caller.
  void give_back(void* memory) noexcept {
    const std::lock_guard lock(mutex_);
    const auto use = uses_.find(memory);
    if (use == uses_.end()) return;
    if (use->second != nullptr) {
      const auto own = own_.find(use->second);
      if (--own->second.uses == 0) {
        own->second.by->unpin(own->first);
        own_.erase(own);
      }
    }
    uses_.erase(use);
  }

 private:
  struct Own {
    char* end;
    int64_t uses;
    PinningSystem* by;
  };
  std::mutex mutex_;
  std::map<char*, Own> own_;          // memory pinned here, by its beginning
  std::multimap<void*, char*> uses_;  // beginning of the pinned range; null: pinned by its owner
};

}  // namespace gnnmg::cuda
