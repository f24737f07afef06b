// A bound for models whose settings come from a file: a few bytes may describe a model that no
// memory holds.
#pragma once

#include <cstdint>

namespace gnnmg::nn {

// While it lives, a model that this thread makes has at most this many parameters; a larger one is
// Error(kFormat) before its memory is allocated.
class ParameterLimit {
 public:
  explicit ParameterLimit(int64_t most) noexcept;
  ~ParameterLimit();
  ParameterLimit(const ParameterLimit&) = delete;
  ParameterLimit& operator=(const ParameterLimit&) = delete;
  static void check(int64_t parameters);  // against the thread's limit

 private:
  const int64_t outer_;
};

}  // namespace gnnmg::nn
