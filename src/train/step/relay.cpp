#include "train/step/relay.h"

#include <thread>
#include <utility>

#include "base/background.h"

namespace gnnmg::train {

void Relay::serve(const std::function<void()>& body) {
  std::exception_ptr failure;
  over_ = false;
  std::thread worker = base::start_thread([&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  });
  {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return over_ || asked_; });
      if (over_) break;
      const std::function<void()>& work = *std::exchange(asked_, nullptr);
      std::exception_ptr thrown;
      lock.unlock();
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      answer_ = std::move(thrown);
      answered_ = true;
      changed_.notify_all();
    }
  }
  worker.join();
  if (failure) std::rethrow_exception(failure);
}

void Relay::ask(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  asked_ = &work;
  answered_ = false;
  changed_.notify_all();
  changed_.wait(lock, [&] { return answered_; });
  if (const std::exception_ptr thrown = std::exchange(answer_, nullptr))
    std::rethrow_exception(thrown);
}

}  // namespace gnnmg::train
