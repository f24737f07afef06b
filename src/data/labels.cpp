#include "data/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

template <typename F>
decltype(auto) visit_elements(const Tensor& tensor, std::string_view where, F&& f) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return f(tensor.as<const float>());
    case DType::kF64:
      return f(tensor.as<const double>());
    case DType::kI64:
      return f(tensor.as<const int64_t>());
    case DType::kI32:
      return f(tensor.as<const int32_t>());
    case DType::kU8:
      return f(tensor.as<const uint8_t>());
    case DType::kBool:
      return f(tensor.as<const bool>());
    default:
      fail(Status::kUnsupported, where, ": labels of type ", base::dtype_name(tensor.dtype()),
           ", expected i64, i32, u8, bool or floats");
  }
}

// Numbers of classes that no set of this size has are a sign of ids or measurements in the place of
// labels, and would size the model's last layer.
int64_t class_limit(int64_t rows) { return std::max<int64_t>(rows, 65536); }

Labels make_classes(const Tensor& raw, int64_t rows, int64_t num_classes, std::string_view where,
                    const char* of) {
  if (raw.shape().row_elements() != 1)
    fail(Status::kInvalidArgument, where, ": integer labels of shape ", raw.shape().to_string(),
         ", expected [", rows, "]; several targets a ", of, " need binary labels or floats");
  if (num_classes > class_limit(rows))
    fail(Status::kRange, where, ": ", num_classes, " classes for ", rows, " ", of, "s, at most ",
         class_limit(rows), " are accepted");
  Labels labels;
  labels.task = Task::kMulticlass;
  const bool shared = raw.dtype() == DType::kI64;
  labels.values = shared ? Tensor({raw.data(), DType::kI64, {rows}}, raw.owner())
                         : Tensor::empty(DType::kI64, {rows});
  const int64_t limit = num_classes > 0 ? num_classes : class_limit(rows);
  int64_t largest = -1;
  const auto out = labels.values.as<int64_t>();
  visit_elements(raw, where, [&](auto values) {
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t value = static_cast<int64_t>(values[row]);
      if (value < -1 || value >= limit)
        fail(Status::kRange, where, ", row ", row, ": label ", value, ", expected -1 (none) to ",
             limit - 1);
      if (!shared) out[row] = value;
      largest = std::max(largest, value);
    }
  });
  labels.num_classes = num_classes > 0 ? num_classes : largest + 1;
  return labels;
}

// Integers say "no label" by -1; floats have NaN for it.
template <typename T>
bool is_none(T value) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) return value == -1;
  return false;
}

// Integers count something and keep their value; numbers with a fraction are rounded to the
// nearest.
template <typename T>
float float_of(T value, std::string_view where, int64_t row) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) >= 4) {
      constexpr T kExact = T{1} << 24;
      if (value < -kExact || value > kExact)
        fail(Status::kRange, where, ", row ", row, ": ", value, " is not exact as f32");
    }
    return static_cast<float>(value);
  } else {
    if (std::isinf(value))
      fail(Status::kNan, where, ", row ", row, ": expected a finite label or NaN (none), found ",
           value < 0 ? "-inf" : "inf");
    const float converted = static_cast<float>(value);
    if (std::isinf(converted))
      fail(Status::kRange, where, ", row ", row, ": ", value, " is beyond the numbers of f32");
    return converted;
  }
}

Labels make_targets(const Tensor& raw, int64_t rows, bool binary, std::string_view where) {
  const int64_t targets = raw.shape().row_elements();
  if (targets < 1)
    fail(Status::kInvalidArgument, where, ": labels of shape ", raw.shape().to_string(),
         ", expected at least one column");
  Labels labels;
  labels.task = binary ? Task::kBinary : Task::kRegression;
  labels.num_classes = targets;
  const bool shared = raw.dtype() == DType::kF32;
  labels.values = shared ? Tensor({raw.data(), DType::kF32, {rows, targets}}, raw.owner())
                         : Tensor::empty(DType::kF32, {rows, targets});
  const auto out = labels.values.as<float>();
  visit_elements(raw, where, [&](auto values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / targets;
      const bool none = binary && is_none(values[i]);
      const float value =
          none ? std::numeric_limits<float>::quiet_NaN() : float_of(values[i], where, row);
      const auto given = static_cast<double>(values[i]);
      if (binary && !std::isnan(value) && given != 0 && given != 1)
        fail(Status::kRange, where, ", row ", row, ": label ", given,
             ", expected 0, 1 or none in binary labels");
      if (!shared) out[i] = value;
    }
  });
  return labels;
}

void check_rows(const Tensor& raw, int64_t rows, std::string_view where, const char* of) {
  if (raw.shape().num_dims < 1 || raw.shape().num_dims > 2 || raw.rows() != rows)
    fail(Status::kInvalidArgument, where, ": labels of shape ", raw.shape().to_string(),
         ", expected one row for each of ", rows, " ", of, "s");
}

}  // namespace

Tensor widen_halves(const Tensor& raw) {
  const bool half = raw.dtype() == DType::kF16;
  if (!half && raw.dtype() != DType::kBF16) return raw;
  Tensor wide = Tensor::empty(DType::kF32, raw.shape());
  const auto* from = static_cast<const uint16_t*>(raw.data());
  for (float& value : wide.as<float>())
    value = half ? base::f16_to_f32(*from++) : base::bf16_to_f32(*from++);
  return wide;
}

Labels make_regression(const Tensor& raw, int64_t rows, std::string_view where, const char* of) {
  check_rows(raw, rows, where, of);
  return make_targets(widen_halves(raw), rows, false, where);
}

Labels make_labels(const Tensor& raw, int64_t rows, bool binary, int64_t num_classes,
                   std::string_view where, const char* of) {
  check_rows(raw, rows, where, of);
  if (num_classes < 0)
    fail(Status::kInvalidArgument, where, ": ", num_classes, " classes, expected 0 or more");
  if (binary || base::is_floating(raw.dtype()))
    return make_targets(widen_halves(raw), rows, binary, where);
  return make_classes(raw, rows, num_classes, where, of);
}

}  // namespace gnnmg::data
