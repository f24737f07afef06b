// A fixed set of worker threads and a parallel loop over ranges. Each context owns one pool and
// passes it to the rooms.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gnnmg::base {

// Number of cores that this process may run on.
int available_cores() noexcept;

class ThreadPool {
 public:
  // `num_threads` includes the calling thread: 1 makes no workers, 0 means one thread per core.
  explicit ThreadPool(int num_threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Calls body(begin, end) on consecutive ranges of at most `grain` items that cover [0, count)
  // once, on the workers and the caller; returns when all are done. Ranges are the same for any
  // number of threads. The first exception is rethrown after the other ranges have ended. Any
  // thread. If the workers are busy, as in concurrent or nested calls, the caller runs all ranges
  // alone.
  void parallel_for(int64_t count, int64_t grain,
                    const std::function<void(int64_t, int64_t)>& body);

 private:
  struct Job;
  void work();
  void run(Job& job);

  std::vector<std::thread> workers_;
  std::atomic<bool> taken_{false};  // true while the workers run a job
  std::mutex mutex_;                // guards job_, stopping_, a job's error, and changes of counts
  std::condition_variable wake_;
  std::condition_variable done_;
  Job* job_ = nullptr;
  std::atomic<uint64_t> generation_{0};  // number of jobs so far
  bool stopping_ = false;
};

}  // namespace gnnmg::base
