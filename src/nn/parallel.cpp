#include "nn/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>

namespace gnnmg::nn {

void for_ranges(base::ThreadPool* pool, int64_t count, int64_t grain,
                const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (pool) return pool->parallel_for(count, grain, body);
  const int64_t ranges = (count + grain - 1) / grain;
  std::atomic<int64_t> next{0};
  at::parallel_for(0, std::min<int64_t>(ranges, at::get_num_threads()), 1, [&](int64_t, int64_t) {
    for (int64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;)
      body(begin, std::min(count, begin + grain));
  });
}

}  // namespace gnnmg::nn
