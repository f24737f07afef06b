// (c) calls that may answer GNNMG_PENDING without a job of ours: the object stays held until the
// same call comes again and takes it over.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "capi/arguments.h"

namespace gnnmg::capi {

// The call, with its arguments, that an object is suspended in.
class Suspension {
 public:
  bool take(const std::string& call) {
    std::lock_guard lock(mutex_);
    if (call_ != call) return false;
    call_.clear();
    return true;
  }
  void set(std::string call) noexcept {
    std::lock_guard lock(mutex_);
    call_ = std::move(call);
  }

 private:
  std::mutex mutex_;
  std::string call_;  // empty: none
};

// Holds an object of a type with a member `suspension` for one such call.
template <typename T>
class Resumed {
 public:
  Resumed(const void* token, const char* name, std::string call)
      : object_(find<T>(token, name)), call_(std::move(call)) {
    continued_ = object_->suspension.take(call_);
    if (!continued_ && !object_->occupancy.try_hold()) fail_busy(*object_, name);
  }
  ~Resumed() {
    if (!suspended_) object_->occupancy.end_hold();
  }
  Resumed(const Resumed&) = delete;
  Resumed& operator=(const Resumed&) = delete;

  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }
  bool continued() const { return continued_; }
  // The call answers GNNMG_PENDING. Once.
  gnnmg_status suspend() noexcept {
    object_->occupancy.note_pending();
    object_->suspension.set(std::move(call_));
    suspended_ = true;
    return GNNMG_PENDING;
  }

 private:
  std::shared_ptr<T> object_;
  std::string call_;
  bool continued_ = false;
  bool suspended_ = false;
};

}  // namespace gnnmg::capi
