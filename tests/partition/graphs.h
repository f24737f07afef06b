// Graphs for several tests of this folder.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "graph/csc.h"

namespace gnnmg::partition_test {

struct Pairs {
  std::vector<int64_t> sources, targets;
  void add(int64_t source, int64_t target) {
    sources.push_back(source);
    targets.push_back(target);
  }
  void add_both(int64_t a, int64_t b) {
    add(a, b);
    add(b, a);
  }
};

inline graph::Csc csc_of(int64_t num_nodes, const Pairs& pairs) {
  base::ThreadPool pool(1);
  const auto from = base::Tensor::copy_of<int64_t>(pairs.sources);
  const auto to = base::Tensor::copy_of<int64_t>(pairs.targets);
  return graph::csc_from_coo(from.view(), to.view(), num_nodes, num_nodes, pool);
}

// `count` cliques of `size` nodes, whose ids alternate between the cliques, in a ring.
inline Pairs ring_of_cliques(int64_t count, int64_t size) {
  Pairs pairs;
  for (int64_t c = 0; c < count; ++c) {
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j)
        if (i != j) pairs.add(i * count + c, j * count + c);
    pairs.add_both(c, (c + 1) % count);
  }
  return pairs;
}

inline std::vector<int64_t> each_of(int64_t begin, int64_t end, int64_t step = 1) {
  std::vector<int64_t> ids;
  for (int64_t id = begin; id < end; id += step) ids.push_back(id);
  return ids;
}

}  // namespace gnnmg::partition_test
