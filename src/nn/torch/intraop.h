// Threads for loops and products of LibTorch, and for the library's loops without a pool
// (nn/torch/parallel.h).
#pragma once

#include <optional>

#include "base/log.h"

namespace gnnmg::nn {

// The amount of work on the calling thread: whether it justifies starting threads, or, with kOne,
// not even waking those that are there.
enum class Loops { kOne, kFew, kMany };

// Provides threads for loops and LibTorch's operators on the calling thread while it lives: loops
// run on threads that sleep between them, operators on one thread unless they are large
// (TorchThreads of nn/torch/parallel.h). If the system refuses threads, all work runs on those that
// there are until the end of the scope. Sums of LibTorch may then differ in rounding, as with any
// other number of threads.
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
    int operators, loops, torch, products;
  };
  bool refused_ = false;
  std::optional<Counts> before_;  // settings of the calling thread to restore; nullopt if unchanged
};

}  // namespace gnnmg::nn
