// Parallel loops over rows. Separate because only this file is compiled with OpenMP, whose threads
// LibTorch's own loops use too.
#pragma once

#include <cstdint>
#include <functional>

#include "base/thread_pool.h"

namespace gnnmg::nn {

// Sets the number of LibTorch's intra-op threads for the calling thread only. at::set_num_threads()
// would set it for threads that start later too, such as the host's and those of backward passes.
void set_intraop_threads(int count);

// Sets the number of threads for the calling thread's loops without a pool, instead of LibTorch's
// intra-op threads, which may be fewer; 0: the same number.
void set_loop_threads(int count) noexcept;

// Calls body(begin, end) on consecutive ranges of `grain` items (the last may be shorter) that
// cover [0, count) once: on the threads of `pool`, or, if it is null, on LibTorch's intra-op
// threads of the calling thread, where matrix products inside a body run on one thread. Ranges do
// not depend on the number of threads; threads take them in turn. Exceptions are rethrown.
void for_ranges(base::ThreadPool* pool, int64_t count, int64_t grain,
                const std::function<void(int64_t, int64_t)>& body);

}  // namespace gnnmg::nn
