// Threads of the calling thread: parallel loops over rows, on threads that sleep between loops, and
// LibTorch's operators, which run on one thread unless their work is large. OpenMP's threads, which
// LibTorch uses, spin for milliseconds after each operator and take the time of other programs.
#pragma once

#include <cstdint>
#include <functional>

#include "base/thread_pool.h"

namespace at {
class Tensor;
}

namespace gnnmg::nn {

// Sets the number of LibTorch's intra-op threads for the calling thread only. at::set_num_threads()
// would set it for threads that start later too, such as the host's and those of backward passes.
void set_intraop_threads(int count);

// Sets the number of threads for the calling thread's loops without a pool, instead of LibTorch's
// intra-op threads, which may be fewer; 0: the same number.
void set_loop_threads(int count) noexcept;
// Returns the number of threads that the calling thread's loops may have.
int num_loop_threads();

// Calls body(begin, end) on consecutive ranges of `grain` items (the last may be shorter) that
// cover [0, count) once: on the threads of `pool`, or, if it is null, on the calling thread and,
// where such loops were faster on several, on threads that belong to it. LibTorch's operators
// inside a body run on one thread. Ranges do not depend on the number of threads; threads take them
// in turn. Exceptions are rethrown.
void for_ranges(base::ThreadPool* pool, int64_t count, int64_t grain,
                const std::function<void(int64_t, int64_t)>& body);

// A scope in which LibTorch's operators on the calling thread may use its intra-op threads, if
// `work` is large enough to be worth it: above about a millisecond of one thread. Otherwise, inside
// a loop's body, and where IntraopScope did not find more threads, nothing changes. Work is counted
// in multiplications with an addition; an element that is read or written counts as kElementWork.
class TorchThreads {
 public:
  explicit TorchThreads(double work);
  // For operators on `of`; work on a device does not count.
  TorchThreads(const at::Tensor& of, double work);
  ~TorchThreads();
  TorchThreads(const TorchThreads&) = delete;
  TorchThreads& operator=(const TorchThreads&) = delete;

  // The largest work of the scopes that began on the calling thread in passes with gradients since
  // the last call. The backward pass repeats it.
  static double take_largest() noexcept;

 private:
  bool raised_ = false;
};
inline constexpr double kElementWork = 32;

}  // namespace gnnmg::nn
