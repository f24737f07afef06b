// Rows for categories: the sum of one learned row per column, selected by the column's value, as
// OGB encodes atoms and bonds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/layers/parameters.h"
#include "nn/ops/functions.h"

namespace gnnmg::nn {

class CategoryEncoder {
 public:
  // Column k has vocabulary[k] values; its rows are "<name>.k.weight", [vocabulary[k], width].
  void declare(ParameterList& list, const std::string& name, std::span<const int64_t> vocabulary,
               int64_t width);
  bool defined() const { return !tables_.empty(); }
  // Encodes [n, columns] of any type as [n, width]; `what` names the rows in errors. Error(kRange)
  // for a value that is not an integer or outside its column's vocabulary.
  at::Tensor encode(const at::Tensor& values, const char* what, const Execution& execution) const;

 private:
  at::Tensor encode_on_device(const at::Tensor& values, const char* what,
                              const Execution& execution) const;
  [[noreturn]] void fail_value(const char* what, int64_t row, int64_t column, double found) const;

  std::vector<int64_t> vocabulary_;
  std::vector<at::Tensor> tables_;
};

}  // namespace gnnmg::nn
