#include "nn/parallel.h"

#include <ATen/Parallel.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "base/thread_room.h"
#include "nn/intraop.h"

// Number of threads for products on the calling thread, 0: the global number. Returns the old
// value. Defined by the MKL inside LibTorch, if LibTorch uses MKL.
extern "C" int MKL_Set_Num_Threads_Local(int count) __attribute__((weak));

namespace gnnmg::nn {
namespace {

thread_local int loop_threads = 0;
// Number of OpenMP's threads for parallel regions of the calling thread, including itself. OpenMP
// keeps them until a region uses fewer, but more than one.
thread_local int team = 1;

// Runs products of the calling thread on this thread only, as inside a parallel region.
class OneProductThread {
 public:
  OneProductThread() {
    if (MKL_Set_Num_Threads_Local) before_ = MKL_Set_Num_Threads_Local(1);
  }
  ~OneProductThread() {
    if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(before_);
  }
  OneProductThread(const OneProductThread&) = delete;
  OneProductThread& operator=(const OneProductThread&) = delete;

 private:
  int before_ = 0;
};

// Sets the number of threads of the calling thread's next parallel region.
class TeamSize {
 public:
  explicit TeamSize(int count) : before_(count > 0 ? omp_get_max_threads() : 0) {
    if (count > 0) omp_set_num_threads(count);
  }
  ~TeamSize() {
    if (before_ > 0) omp_set_num_threads(before_);
  }
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  const int before_;
};

// Makes OpenMP start the missing threads of the calling thread's team; returns false if the system
// refuses.
bool start_team(int count) {
  std::atomic<int> there{0};  // keeps the region from being optimized away
  const bool started = base::start_where_room(count - team, [&] {
    const TeamSize size(count);
#pragma omp parallel
    ++there;
  });
  if (started) team = count;
  return started;
}

}  // namespace

IntraopScope::IntraopScope(Loops loops) {
  at::internal::lazy_init_num_threads();
  const int count = std::max(at::get_num_threads(), loop_threads);
  if (omp_in_parallel()) return;
  if (loops == Loops::kOne ? count == 1 : count <= team) {
    if (count > 1) team = count;
    return;
  }
  refused_ = loops == Loops::kMany && !start_team(count);
  if (loops == Loops::kMany && !refused_) return;
  before_ = {at::get_num_threads(), loop_threads,
             MKL_Set_Num_Threads_Local ? MKL_Set_Num_Threads_Local(1) : 0};
  omp_set_num_threads(1);
  loop_threads = std::min(loop_threads, 1);
}

IntraopScope::~IntraopScope() {
  if (!before_) return;
  omp_set_num_threads(before_->loops);
  loop_threads = before_->own_loops;
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
  // The first parallel code on a thread sets it up from the remembered number: LibTorch's code, and
  // the library's through an inline function, once each. Do both before setting the number.
  at::internal::lazy_init_num_threads();
  if (at::get_num_threads() == count) return;
  omp_set_num_threads(count);
  if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(count);
}

void set_loop_threads(int count) noexcept { loop_threads = count; }

void for_ranges(base::ThreadPool* pool, int64_t count, int64_t grain,
                const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (pool) return pool->parallel_for(count, grain, body);
  const int64_t ranges = (count + grain - 1) / grain;
  if (ranges == 1) {  // opens no region, because dividing a product changes its sums
    const OneProductThread alone;
    return body(0, count);
  }
  std::atomic<int64_t> next{0};
  const TeamSize team(loop_threads);
  at::parallel_for(0, std::min<int64_t>(ranges, at::get_num_threads()), 1, [&](int64_t, int64_t) {
    for (int64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;)
      body(begin, std::min(count, begin + grain));
  });
}

}  // namespace gnnmg::nn
