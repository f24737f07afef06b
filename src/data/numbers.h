// Columns of numbers that grow while a text is read. They hold four bytes a value as long as that
// is exact, and grow without copying, so that memory stays below twice the text.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>

#include "base/tensor.h"

namespace gnnmg::data {

// Non-negative ids.
class IdColumn {
 public:
  void push(int64_t id) {
    if (wide_.empty() && id <= std::numeric_limits<int32_t>::max())
      narrow_.push_back(static_cast<int32_t>(id));
    else
      push_wide(id);
  }
  int64_t size() const {
    return static_cast<int64_t>(wide_.empty() ? narrow_.size() : wide_.size());
  }
  bool wide() const { return !wide_.empty(); }
  // i32 or, when `wide` or an id needs it, i64. Empties the column.
  base::Tensor take(bool wide);

 private:
  void push_wide(int64_t id);
  std::deque<int32_t> narrow_;
  std::deque<int64_t> wide_;
};

// Numbers of any kind; remembers whether all were integers.
class NumberColumn {
 public:
  void push(double value);
  int64_t size() const {
    return static_cast<int64_t>(wide_.empty() ? narrow_.size() : wide_.size());
  }
  // Every value so far is an integer below 2^53 in size, or NaN.
  bool integral() const { return integral_; }
  bool has_nan() const { return has_nan_; }
  // f32 of `shape`, values rounded to the nearest. Empties the column.
  base::Tensor take_f32(base::Shape shape);
  // i64 of `shape`, NaN as -1; for integral columns.
  base::Tensor take_i64(base::Shape shape);

 private:
  std::deque<float> narrow_;
  std::deque<double> wide_;  // from the first integer on that no float holds
  bool integral_ = true;
  bool has_nan_ = false;
};

}  // namespace gnnmg::data
