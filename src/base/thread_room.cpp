#include "base/thread_room.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <new>
#include <thread>
#include <vector>

#include "base/never_destroyed.h"
#include "base/signals.h"

namespace gnnmg::base {
namespace {

// The longest time for which an ended thread may still count for the system.
constexpr std::chrono::milliseconds kLongestEnd(1000);

bool is_there(pid_t thread) { return syscall(SYS_tgkill, getpid(), thread, 0) == 0; }

// Idle threads that exist at the same time.
class Crowd {
 public:
  Crowd() = default;
  ~Crowd() {
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    // The system may count a thread for a short time after join() has returned.
    const auto until = std::chrono::steady_clock::now() + kLongestEnd;
    for (const pid_t number : numbers_)
      while (number != 0 && is_there(number) && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Returns false if the system refuses one of the threads.
  bool come(int count) try {
    numbers_.resize(count);
    threads_.reserve(count);  // an exception after the thread's start would end the program
    for (pid_t& number : numbers_) threads_.emplace_back([this, &number] { stay(number); });
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }

 private:
  void stay(pid_t& number) {
    number = static_cast<pid_t>(syscall(SYS_gettid));
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return leaving_; });
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool leaving_ = false;
  std::vector<pid_t> numbers_;
  std::vector<std::thread> threads_;
};

}  // namespace

Error refused_resource(const std::system_error& error) {
  return {Status::kNoMemory, text("the system refused a resource: ", error.what()), -1,
          error.code().value()};
}

std::mutex& thread_starts() noexcept {
  // Never destroyed: threads may be started while the process exits.
  static NeverDestroyed<std::mutex> instance;
  return *instance;
}

bool start_where_room(int count, const std::function<void()>& start) {
  const SignalGuard guard;  // the started threads inherit the blocked signals
  const std::lock_guard turn(thread_starts());
  if (count > 0 && !Crowd().come(count)) return false;
  start();
  return true;
}

}  // namespace gnnmg::base
