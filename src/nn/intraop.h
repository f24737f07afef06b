// Threads for loops and products of LibTorch, and for the library's loops without a pool
// (nn/parallel.h).
#pragma once

#include <optional>

#include "base/log.h"

namespace gnnmg::nn {

// The amount of work on the calling thread: whether it justifies starting threads, or, with kOne,
// not even waking those that are there.
enum class Loops { kOne, kFew, kMany };

// Provides threads for loops and products on the calling thread while it lives. OpenMP would start
// them with the first loop, and end the program if the system refused one. In that case, and for
// few loops without existing threads, all work runs on the calling thread until the end of the
// scope, as it does for one. Sums of LibTorch may then differ in rounding, as with any other number
// of threads.
class IntraopScope {
 public:
  explicit IntraopScope(Loops loops);
  ~IntraopScope();
  IntraopScope(const IntraopScope&) = delete;
  IntraopScope& operator=(const IntraopScope&) = delete;

  // True if the system refused the threads.
  bool refused() const { return refused_; }
  // Logs the refusal.
  static void tell(base::Log& log) noexcept;

 private:
  struct Counts {
    int loops, own_loops, products;
  };
  bool refused_ = false;
  std::optional<Counts> before_;  // settings of the calling thread to restore; nullopt if unchanged
};

}  // namespace gnnmg::nn
