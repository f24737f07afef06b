// Labels in the two forms that the library trains on, made from the labels of users and files.
#pragma once

#include <string_view>

#include "data/dataset.h"

namespace gnnmg::data {

// The end of an error about an integer beyond 64 bits in the place of a label.
inline constexpr const char* kTooLargeLabel =
    " is an integer that 64 bits do not hold; task=regression takes it for a number";

// The end of an error about a text in the place of a number.
inline constexpr const char* kWordsToNumbers = "; pandas.factorize(column)[0] numbers words";

struct Labels {
  base::Tensor values;  // i64 [N], or f32 [N, T]
  Task task = Task::kNone;
  int64_t num_classes = 0;
};

// Halves as the f32 that each of them is; tensors of other types as they are.
base::Tensor widen_halves(const base::Tensor& raw);

// Makes labels from a tensor of `rows` rows: [N], [N, 1] or [N, T]. Integers without `binary` are
// classes, -1 for none; `num_classes` 0 means the largest + 1. Shares the memory where nothing is
// to be converted. Errors name `where`, row, expected and found; `of` is the owner of a label.
Labels make_labels(const base::Tensor& raw, int64_t rows, bool binary, int64_t num_classes,
                   std::string_view where, const char* of = "node");
// The same for numbers to regress, which integers may be too.
Labels make_regression(const base::Tensor& raw, int64_t rows, std::string_view where,
                       const char* of = "node");

}  // namespace gnnmg::data
