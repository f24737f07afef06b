// Runs work of other threads on the thread that serves them.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace gnnmg::train {

class Relay {
 public:
  // Runs `body` on a new thread, and meanwhile the work of ask() on this one. Returns when the body
  // has ended; rethrows its exception. One call at a time.
  void serve(const std::function<void()>& body);
  // On any other thread while serve() runs: runs `work` on the thread of serve(), and rethrows its
  // exception.
  void ask(const std::function<void()>& work);

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  const std::function<void()>* asked_ = nullptr;
  std::exception_ptr answer_;
  bool answered_ = false, over_ = false;
};

}  // namespace gnnmg::train
