// A function of the host's with its user data, and the release of the latter, which happens exactly
// once whatever becomes of the registration.
#pragma once

#include <memory>

#include "base/host_queue.h"
#include "capi/guard.h"

namespace gnnmg::capi {

// Keeps user data until nobody needs it. Shared by all who may call back.
class UserData {
 public:
  UserData(void* data, gnnmg_release_fn release, std::shared_ptr<base::HostQueue> queue)
      : data_(data), release_(release), queue_(std::move(queue)) {}
  ~UserData() {
    if (release_ != nullptr)
      run_on_host(queue_.get(), [release = release_, data = data_] { release(data); });
  }
  UserData(const UserData&) = delete;
  UserData& operator=(const UserData&) = delete;
  void* get() const { return data_; }

 private:
  void* data_;
  gnnmg_release_fn release_;
  std::shared_ptr<base::HostQueue> queue_;
};

// Stands at the head of a registering function, outside of its guard: gives the user data back when
// the registration fails.
class Registration {
 public:
  Registration(void* data, gnnmg_release_fn release) : data_(data), release_(release) {}
  ~Registration() {
    if (release_ != nullptr) release_(data_);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  std::shared_ptr<UserData> take(std::shared_ptr<base::HostQueue> queue) {
    auto taken = std::make_shared<UserData>(data_, release_, std::move(queue));
    release_ = nullptr;
    return taken;
  }

 private:
  void* data_;
  gnnmg_release_fn release_;
};

}  // namespace gnnmg::capi
