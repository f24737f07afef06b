#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "base/background.h"
#include "base/memory.h"

namespace gnnmg::base {

namespace {

// Loops often follow each other within this time, and a thread that sleeps takes as long to wake.
constexpr auto kSpin = std::chrono::microseconds(30);

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits for `ready` for a moment without giving up the core.
template <typename F>
void spin_until(F ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  while (!ready() && std::chrono::steady_clock::now() < end)
    for (int i = 0; i < 16; ++i) relax();
}

}  // namespace

struct ThreadPool::Job {
  int64_t count, grain;
  const std::function<void(int64_t, int64_t)>& body;
  std::atomic<int64_t> next{0};  // number of the next range
  std::atomic<bool> failed{false};
  std::exception_ptr error{};  // guarded by ThreadPool::mutex_
  std::atomic<int> active{0};  // workers inside run(); written under ThreadPool::mutex_
  // The caller's budget, for the workers.
  const std::shared_ptr<MemoryBudget>& budget = current_budget();
};

int available_cores() noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int num_threads) {
  if (num_threads <= 0) num_threads = available_cores();
  try {
    // An exception after the thread's start would end the program.
    workers_.reserve(num_threads - 1);
    for (int i = 1; i < num_threads; ++i) workers_.push_back(start_thread([this] { work(); }));
  } catch (...) {  // the loop runs on the threads that did start
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(Job& job) {
  try {
    const int64_t num_ranges = (job.count - 1) / job.grain + 1;
    while (!job.failed.load(std::memory_order_relaxed)) {
      const int64_t range = job.next.fetch_add(1, std::memory_order_relaxed);
      if (range >= num_ranges) break;
      const int64_t begin = range * job.grain;
      job.body(begin, begin + std::min(job.grain, job.count - begin));
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!job.failed.exchange(true)) job.error = std::current_exception();
  }
}

void ThreadPool::work() {
  uint64_t seen = 0;
  while (true) {
    spin_until([&] { return generation_.load(std::memory_order_relaxed) != seen; });
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || (job_ && generation_ != seen); });
    if (stopping_) return;
    seen = generation_.load(std::memory_order_relaxed);
    Job& job = *job_;
    ++job.active;
    lock.unlock();
    {
      const BudgetScope charged(job.budget);
      run(job);
    }
    lock.lock();
    if (--job.active == 0) done_.notify_all();
  }
}

void ThreadPool::parallel_for(int64_t count, int64_t grain,
                              const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (workers_.empty() || count <= grain || taken_.exchange(true, std::memory_order_acquire)) {
    for (int64_t begin = 0, size; begin < count; begin += size) {
      size = std::min(grain, count - begin);
      body(begin, begin + size);
    }
    return;
  }
  Job job{count, grain, body};
  {
    std::lock_guard lock(mutex_);
    job_ = &job;
    ++generation_;
  }
  wake_.notify_all();
  run(job);
  {
    std::lock_guard lock(mutex_);
    job_ = nullptr;
  }
  spin_until([&] { return job.active.load(std::memory_order_relaxed) == 0; });
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return job.active == 0; });
  }
  taken_.store(false, std::memory_order_release);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace gnnmg::base
