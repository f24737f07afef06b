// The threads that loops and products of LibTorch's, and ours without a pool (nn/parallel.h), run
// on.
#pragma once

#include <optional>

#include "base/log.h"

namespace gnnmg::nn {

// What there is to do on the calling thread: whether it is worth threads that are not there yet.
enum class Loops { kFew, kMany };

// While it lives, loops and products on the calling thread have their threads. OpenMP would start
// them with the first loop, and end the program where the system refuses one. There, and where
// there are few loops and no threads yet, all of that runs on the calling thread alone until the
// end of the scope. Sums of LibTorch's may then differ in rounding, as with any other number of
// threads.
class IntraopScope {
 public:
  explicit IntraopScope(Loops loops);
  ~IntraopScope();
  IntraopScope(const IntraopScope&) = delete;
  IntraopScope& operator=(const IntraopScope&) = delete;

  // The system has no threads for it.
  bool refused() const { return refused_; }
  // Says so.
  static void tell(base::Log& log) noexcept;

 private:
  struct Counts {
    int loops, own_loops, products;
  };
  bool refused_ = false;
  std::optional<Counts> before_;  // of the calling thread; none: they stay as they are
};

}  // namespace gnnmg::nn
