// Has one thread do what others ask of it.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace gnnmg::train {

class Relay {
 public:
  // Runs `body` on a thread of its own, and on this one what is asked for meanwhile. Returns when
  // the body has ended; throws what it throws. One call at a time.
  void serve(const std::function<void()>& body);
  // On any other thread while serve() runs: `work` is done there when this returns, or what it has
  // thrown is thrown here.
  void ask(const std::function<void()>& work);

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  const std::function<void()>* asked_ = nullptr;
  std::exception_ptr answer_;
  bool answered_ = false, over_ = false;
};

}  // namespace gnnmg::train
