#include "nn/layers/category_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/made_block.h"
#include "nn/ops/tensors.h"

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

void CategoryEncoder::fail_value(const char* what, int64_t row, int64_t column,
                                 double found) const {
  fail(Status::kRange, what, " ", row, " of the mini-batch has ", found, " in column ", column,
       ", expected an integer from 0 to ", vocabulary_[column] - 1);
}

at::Tensor CategoryEncoder::encode(const at::Tensor& values, const char* what,
                                   const Execution& execution) const {
  const int64_t columns = static_cast<int64_t>(vocabulary_.size());
  if (values.size(1) != columns)
    fail(Status::kInvalidArgument, "a ", what, " has ", values.size(1),
         " categories, the model expects ", columns);
  if (execution.device) return encode_on_device(values, what, execution);
  const at::Tensor exact = values.to(at::kDouble).contiguous();
  const double* value = exact.const_data_ptr<double>();
  const int64_t count = values.size(0);
  std::vector<int32_t> indptr(count + 1), indices(count * columns);
  for (int64_t i = 0; i < count; ++i) {
    indptr[i + 1] = static_cast<int32_t>((i + 1) * columns);
    int64_t first = 0;  // first row of the column among the rows of all columns
    for (int64_t k = 0; k < columns; ++k) {
      const double found = value[i * columns + k];
      if (!(found >= 0 && found < static_cast<double>(vocabulary_[k])) ||
          found != std::floor(found))
        fail_value(what, i, k, found);
      indices[i * columns + k] = static_cast<int32_t>(first + static_cast<int64_t>(found));
      first += vocabulary_[k];
    }
  }
  const at::Tensor table = at::cat(tables_);
  const auto rows =
      std::make_shared<MadeBlock>(table.size(0), std::move(indptr), std::move(indices));
  return aggregate(table, rows->view(), Reduce::kSum, execution.with(rows));
}

at::Tensor CategoryEncoder::encode_on_device(const at::Tensor& values, const char* what,
                                             const Execution& execution) const {
  const int64_t columns = static_cast<int64_t>(vocabulary_.size()), count = values.size(0);
  std::vector<int64_t> begins(columns);  // first row of each column among the rows of all columns
  for (int64_t k = 1; k < columns; ++k) begins[k] = begins[k - 1] + vocabulary_[k - 1];
  const at::Tensor first = put(execution, begins), sizes = put(execution, vocabulary_);
  // An invalid value would read outside the tables, so the host waits for one number.
  const at::Tensor exact = values.to(at::kDouble);
  const at::Tensor good =
      (exact >= 0).logical_and(exact < sizes).logical_and(exact == exact.floor());
  if (!good.all().item<bool>()) {
    const at::Tensor found = exact.cpu().contiguous(), fits = good.cpu().contiguous();
    int64_t bad = 0;
    while (fits.const_data_ptr<bool>()[bad]) ++bad;
    fail_value(what, bad / columns, bad % columns, found.const_data_ptr<double>()[bad]);
  }
  if (count > std::numeric_limits<int32_t>::max() / std::max<int64_t>(columns, 1))
    base::fail(base::Status::kUnsupported, count, " rows of ", columns,
               " categories are too many for a device at once; take smaller mini-batches");
  const at::Tensor table = at::cat(tables_);
  const auto rows = std::make_shared<MadeBlock>(
      execution, table.size(0), at::arange(count + 1, options_of(execution, at::kInt)) * columns,
      (exact.to(at::kLong) + first).to(at::kInt).view({-1}));
  return aggregate(table, rows->view(), Reduce::kSum, execution.with(rows));
}

}  // namespace gnnmg::nn
