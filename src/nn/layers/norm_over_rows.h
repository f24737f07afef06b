// Norms over all rows of a graph, for rows that come in ranges: statistics are sums in the order of
// the rows, so they do not depend on the ranges.
#pragma once

#include <vector>

#include "nn/layers/norm.h"

namespace gnnmg::nn {

// The norms over all rows that follow one stage of inference, in a row. Pass all rows through the
// norms, in order and in any ranges, with NormPass::over_rows; call end_pass(); repeat until
// finished(). From then on rows that pass are normalized. One thread at a time.
class NormsOverRows {
 public:
  // Until the norm's statistics are known, takes the rows into them and returns them unchanged.
  at::Tensor apply(const NormLayer& norm, const at::Tensor& rows, const Execution& execution);
  void end_pass();
  bool finished() const;

 private:
  struct Known {
    const NormLayer* norm;
    RowStatistics statistics;
  };
  std::vector<Known> norms_;  // sorted by first use
};

}  // namespace gnnmg::nn
