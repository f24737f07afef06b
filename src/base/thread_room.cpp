#include "base/thread_room.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <new>
#include <thread>
#include <vector>

#include "base/signals.h"

namespace gnnmg::base {
namespace {

// So long a thread that has ended may still count for the system.
constexpr std::chrono::milliseconds kLongestEnd(1000);

bool is_there(pid_t thread) { return syscall(SYS_tgkill, getpid(), thread, 0) == 0; }

// Threads that are there at the same time and do nothing.
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
    // The system counts a thread until after it can be joined.
    const auto until = std::chrono::steady_clock::now() + kLongestEnd;
    for (const pid_t number : numbers_)
      while (number != 0 && is_there(number) && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // False when the system refuses one of them.
  bool come(int count) try {
    numbers_.resize(count);
    threads_.reserve(count);  // a thread that has no place any more would end the program
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
  static std::mutex& instance = *new std::mutex;  // threads may be started while the process ends
  return instance;
}

bool start_where_room(int count, const std::function<void()>& start) {
  const SignalGuard guard;  // also for the threads that are started
  const std::lock_guard turn(thread_starts());
  if (count > 0 && !Crowd().come(count)) return false;
  start();
  return true;
}

}  // namespace gnnmg::base
