// A function of the host's with its user data, and the release of the latter, which happens exactly
// once whatever becomes of the registration.
#pragma once

#include <memory>
#include <utility>

#include "base/give_back.h"
#include "base/host_queue.h"
#include "capi/guard.h"

namespace gnnmg::capi {

// Keeps user data until nobody needs it. Shared by all callers of the callback.
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

// The user data of a call that registers a function, until the registration takes it.
class Registration {
 public:
  Registration(void* data, gnnmg_release_fn release) : data_(data), release_(release) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  std::shared_ptr<UserData> take(std::shared_ptr<base::HostQueue> queue) {
    auto taken = std::make_shared<UserData>(data_, release_, std::move(queue));
    release_ = nullptr;
    return taken;
  }
  // Returns to the host all that was not taken.
  void give_back() {
    if (gnnmg_release_fn release = std::exchange(release_, nullptr))
      base::give_back([release, data = data_] { release(data); });
  }

 private:
  void* data_;
  gnnmg_release_fn release_;
};

// The guard of a registering function: the user data goes back when the registration fails, or is
// not even tried.
template <typename Body>
gnnmg_status guard_registration(const OutCheck& outs, void* data, gnnmg_release_fn release,
                                Body&& body, const char* call = __builtin_FUNCTION()) {
  Registration registration(data, release);
  const gnnmg_status status = guard(outs, [&] { return body(registration); }, call);
  registration.give_back();
  return status;
}

}  // namespace gnnmg::capi
