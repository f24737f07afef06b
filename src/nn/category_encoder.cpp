#include "nn/category_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <cmath>

#include "base/error.h"
#include "nn/made_block.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

void CategoryEncoder::declare(ParameterList& list, const std::string& name,
                              std::span<const int64_t> vocabulary, int64_t width) {
  vocabulary_.assign(vocabulary.begin(), vocabulary.end());
  tables_.resize(vocabulary.size());
  for (size_t k = 0; k < tables_.size(); ++k)
    list.glorot(base::text(name, ".", k, ".weight"), {vocabulary_[k], width}, width, vocabulary_[k],
                &tables_[k]);
}

at::Tensor CategoryEncoder::encode(const at::Tensor& values, const char* what,
                                   const Execution& execution) const {
  const int64_t columns = static_cast<int64_t>(vocabulary_.size());
  if (values.size(1) != columns)
    fail(Status::kInvalidArgument, "a ", what, " has ", values.size(1),
         " categories, the model expects ", columns);
  const at::Tensor exact = values.to(at::kDouble).contiguous();
  const double* value = exact.const_data_ptr<double>();
  const int64_t count = values.size(0);
  std::vector<int32_t> indptr(count + 1), indices(count * columns);
  for (int64_t i = 0; i < count; ++i) {
    indptr[i + 1] = static_cast<int32_t>((i + 1) * columns);
    int64_t first = 0;  // of the column's rows among those of all columns
    for (int64_t k = 0; k < columns; ++k) {
      const double found = value[i * columns + k];
      if (!(found >= 0 && found < static_cast<double>(vocabulary_[k])) ||
          found != std::floor(found))
        fail(Status::kRange, what, " ", i, " of the mini-batch has ", found, " in column ", k,
             ", expected an integer from 0 to ", vocabulary_[k] - 1);
      indices[i * columns + k] = static_cast<int32_t>(first + static_cast<int64_t>(found));
      first += vocabulary_[k];
    }
  }
  const at::Tensor table = at::cat(tables_);
  const auto rows =
      std::make_shared<MadeBlock>(table.size(0), std::move(indptr), std::move(indices));
  return aggregate(table, rows->view(), Reduce::kSum, execution.with(rows));
}

}  // namespace gnnmg::nn
