// The rows that a rank computes in a stage of an exact evaluation over parts, for the stages after
// it: in memory while they fit a bound, else in a temporary file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/tensor.h"
#include "train/config.h"

namespace gnnmg::train {

// Rows of one stage, written once in order. One thread at a time. Errors are those of the memory
// or of the file.
class KeptRows {
 public:
  virtual ~KeptRows() = default;
  virtual void append(const at::Tensor& rows) = 0;
  // Returns rows [begin, begin + count).
  virtual at::Tensor range(int64_t begin, int64_t count) const = 0;
  // Returns these rows, in any order.
  virtual at::Tensor gather(std::span<const int64_t> rows) const = 0;
};

// Makes KeptRows for one rank, which must outlive them.
class RowKeeper {
 public:
  // The rank is one of `ranks` in its process, which share the bound.
  RowKeeper(const RowStorage& storage, int ranks);
  // `dtype` is the model's type. The rows count as memory from here on, even before they are
  // appended.
  std::unique_ptr<KeptRows> keep(int64_t rows, int64_t cols, base::DType dtype);
  // "keeps 1200 bytes of rows of layers in memory, of 5000 allowed, and 0 in temporary files in
  // /var/tmp": the most at a time, and the sum so far.
  std::string account() const;

 private:
  const std::string folder_;
  const int64_t bound_;
  int64_t in_memory_ = 0, most_ = 0, in_files_ = 0;
};

}  // namespace gnnmg::train
