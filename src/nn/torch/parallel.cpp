#include "nn/torch/parallel.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <ctime>
#include <memory>
#include <new>
#include <typeinfo>
#include <utility>

#include "base/thread_room.h"
#include "nn/torch/intraop.h"

// Number of threads for products on the calling thread, 0: the global number. Returns the old
// value. Defined by the MKL inside LibTorch, if LibTorch uses MKL.
extern "C" int MKL_Set_Num_Threads_Local(  // NOLINT(readability-identifier-naming): MKL's
    int count) __attribute__((weak));

namespace gnnmg::nn {
namespace {

constexpr double kWorthThreads = 3e7;  // work of about a millisecond on one thread

// Threads of the calling thread, as the innermost IntraopScope found them; 0: no scope.
thread_local int loop_threads = 0;
thread_local int torch_threads = 0;
thread_local bool in_body = false;
thread_local double largest_work = 0;  // since TorchThreads::take_largest()
// Number of OpenMP's threads for parallel regions of the calling thread, including itself. OpenMP
// keeps them until a region uses fewer, but more than one.
thread_local int team = 1;

// LibTorch's intra-op threads of the calling thread. The first parallel code on a thread sets it up
// from the process's number: LibTorch's code, and the library's through an inline function, once
// each. Both are done here, so that the number stays as it is set later.
int threads_of_operators() {
  at::internal::lazy_init_num_threads();
  return at::get_num_threads();
}

void set_torch_threads(int count) {
  omp_set_num_threads(count);
  if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(count);
}

// Runs the bodies of a loop: operators and products of LibTorch stay on the thread, as inside a
// parallel region, because dividing a product changes its sums.
class BodyScope {
 public:
  BodyScope() : outer_(std::exchange(in_body, true)) {
    if (outer_) return;
    before_ = threads_of_operators();
    omp_set_num_threads(1);
    if (MKL_Set_Num_Threads_Local) products_before_ = MKL_Set_Num_Threads_Local(1);
  }
  ~BodyScope() {
    if (outer_) return;
    in_body = false;
    omp_set_num_threads(before_);
    if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(products_before_);
  }
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

  bool is_outermost() const { return !outer_; }

 private:
  const bool outer_;
  int before_ = 0, products_before_ = 0;
};

// The threads of the calling thread's loops. They start with the first loop that wants them, sleep
// between loops, and end with the thread.
class LoopThreads {
 public:
  ~LoopThreads() {
    if (process_ != getpid()) (void)pool_.release();  // a forked child does not have the threads
  }
  int count() const { return pool_ ? pool_->num_threads() : 1; }
  // Makes `count` threads, or as many as the system gives. Returns false if these are fewer.
  // `again`: asks the system once more where it has refused some.
  bool start(int count, bool again) {
    if (this->count() == count) return true;
    if (this->count() < count && asked_ >= count && !again) return false;
    pool_.reset();
    pool_ = std::make_unique<base::ThreadPool>(count);
    process_ = getpid();
    asked_ = count;
    return this->count() >= count;
  }
  base::ThreadPool* pool() { return process_ == getpid() ? pool_.get() : nullptr; }

 private:
  std::unique_ptr<base::ThreadPool> pool_;
  pid_t process_ = 0;
  int asked_ = 1;
};
thread_local LoopThreads own_threads;

constexpr double kWorthWaking = 250e-6;  // seconds of a loop on one thread
constexpr int kTries = 100;              // loops on one thread before several are tried again

// CPU time of the calling thread in seconds.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Measured times of a kind of loops on the calling thread. On a machine with other work a loop
// waits for a thread that has lost its core, and several threads are often slower than one.
class LoopKind {
 public:
  enum class Way { kAlone, kShared, kBegin };  // kBegin: alone, and shared as soon as it is long

  Way choose(int64_t count) {
    const bool is_small = item_ * static_cast<double>(count) < kWorthWaking;
    if (share_ < 1) return is_small ? Way::kBegin : Way::kShared;
    if (is_small || ++tries_ < kTries) return Way::kAlone;
    tries_ = 0;
    return Way::kShared;
  }
  // The calling thread took `seconds` for `items`.
  void took(int64_t items, double seconds) { item_ = seconds / static_cast<double>(items); }
  // A loop of `count` items on several threads took `seconds`. A single interrupted one changes no
  // choice.
  void took_together(int64_t count, double seconds) {
    const double now = std::min(seconds / (item_ * static_cast<double>(count)), 2.0);
    share_ += (now - share_) / (now < share_ ? 2 : 4);
  }

 private:
  double item_ = 0;     // seconds of an item on the calling thread; 0: not measured
  double share_ = 0.5;  // time on several threads in times of that on one
  int tries_ = 0;
};

// The kind of a loop by the code of its body and its size. Kinds may share a place: that makes a
// choice worse, and no result different.
LoopKind& kind_of(const std::type_info& body, int64_t count) {
  thread_local std::array<LoopKind, 256> kinds;
  const size_t code = reinterpret_cast<uintptr_t>(&body) / alignof(std::type_info);
  const auto size = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(count)));
  return kinds[(31 * code + size) % kinds.size()];
}

// Runs a loop on the threads of the pool if that is faster.
void run_on(base::ThreadPool& pool, int64_t count, int64_t grain,
            const std::function<void(int64_t, int64_t)>& body) {
  using Clock = std::chrono::steady_clock;
  using Way = LoopKind::Way;
  LoopKind& kind = kind_of(body.target_type(), count);
  Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const Way way = kind.choose(count);
  int64_t done = 0;
  const auto is_long = [&] {
    return seconds() * static_cast<double>(count - done) > kWorthWaking * static_cast<double>(done);
  };
  while (way != Way::kShared && done < count && !(way == Way::kBegin && done > 0 && is_long())) {
    const int64_t begin = done;
    done = std::min(count, begin + grain);
    body(begin, done);
  }
  if (done > 0) kind.took(done, seconds());
  if (done == count) return;
  start = Clock::now();
  const double cpu = cpu_seconds();
  int64_t own = 0;  // items on this thread, and their time
  double own_seconds = 0, own_cpu = 0;
  pool.parallel_for(count - done, grain, [&](int64_t begin, int64_t end) {
    const BodyScope here;
    body(done + begin, done + end);
    if (here.is_outermost()) return;  // a thread of the pool
    own += end - begin;
    own_seconds = seconds();
    own_cpu = cpu_seconds() - cpu;
  });
  if (own == 0) return;
  const bool waits = own_cpu < own_seconds / 4;  // and not only for a core
  kind.took(own, waits ? own_seconds : own_cpu);
  if (!waits) kind.took_together(count - done, seconds());
}

// Makes OpenMP start the missing threads of the calling thread's team; returns false if the system
// refuses. OpenMP itself would end the program.
bool start_team(int count) {
  if (count <= team) return true;
  std::atomic<int> there{0};  // keeps the region from being optimized away
  const bool started = base::start_where_room(count - team, [&] {
    omp_set_num_threads(count);
#pragma omp parallel
    ++there;
  });
  if (started) team = count;
  return started;
}

}  // namespace

IntraopScope::IntraopScope(Loops loops) {
  const int operators = threads_of_operators();
  if (in_body || omp_in_parallel()) return;
  const int torch = torch_threads > 0 ? torch_threads : operators;
  const int count = std::max({torch, loop_threads, 1});
  before_ = {operators, loop_threads, torch_threads,
             MKL_Set_Num_Threads_Local ? MKL_Set_Num_Threads_Local(1) : 0};
  omp_set_num_threads(1);
  if (loops == Loops::kMany) refused_ = !own_threads.start(count, /*again=*/true);
  loop_threads = loops == Loops::kOne ? 1 : std::min(count, own_threads.count());
  torch_threads = loops == Loops::kMany ? torch : 1;
}

IntraopScope::~IntraopScope() {
  if (!before_) return;
  omp_set_num_threads(before_->operators);
  loop_threads = before_->loops;
  torch_threads = before_->torch;
  if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(before_->products);
}

void IntraopScope::tell(base::Log& log) noexcept {
  try {
    log.add(base::LogLevel::kWarning,
            "the system has no threads left for the loops of LibTorch and of the layers: they run "
            "on one thread each; raise the limit (ulimit -u, pids.max of the control group), or "
            "ask for fewer (torch_threads, OMP_NUM_THREADS)");
  } catch (const std::bad_alloc&) {  // a lost message must not fail the work
  }
}

// Like at::set_num_threads(), but only for the calling thread.
void set_intraop_threads(int count) {
  if (threads_of_operators() != count) set_torch_threads(count);
}

void set_loop_threads(int count) noexcept { loop_threads = count; }

int num_loop_threads() { return loop_threads > 0 ? loop_threads : threads_of_operators(); }

void for_ranges(base::ThreadPool* pool, int64_t count, int64_t grain,
                const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (pool) return pool->parallel_for(count, grain, body);
  const int threads = num_loop_threads();
  const BodyScope alone;
  if (count > grain && threads > 1 && alone.is_outermost()) {
    own_threads.start(threads, /*again=*/false);
    pool = own_threads.pool();
  }
  if (pool) return run_on(*pool, count, grain, body);
  for (int64_t begin = 0; begin < count; begin += grain)
    body(begin, std::min(count, begin + grain));
}

TorchThreads::TorchThreads(double work) {
  if (c10::GradMode::is_enabled()) largest_work = std::max(largest_work, work);
  if (work < kWorthThreads || torch_threads <= 1 || in_body || omp_get_max_threads() > 1) return;
  if (!start_team(torch_threads)) return;
  set_torch_threads(torch_threads);
  raised_ = true;
}

TorchThreads::TorchThreads(const at::Tensor& of, double work)
    : TorchThreads(of.is_cpu() ? work : 0) {}

TorchThreads::~TorchThreads() {
  if (raised_) set_torch_threads(1);
}

double TorchThreads::take_largest() noexcept { return std::exchange(largest_work, 0); }

}  // namespace gnnmg::nn
