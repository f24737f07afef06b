#include "data/numbers.h"

#include <algorithm>

namespace gnnmg::data {

using base::DType;
using base::Tensor;

void IdColumn::push_wide(int64_t id) {
  if (wide_.empty()) {
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_ = {};
  }
  wide_.push_back(id);
}

Tensor IdColumn::take(bool wide) {
  wide = wide || !wide_.empty();
  Tensor tensor = Tensor::empty(wide ? DType::kI64 : DType::kI32, {size()});
  if (!wide)
    std::copy(narrow_.begin(), narrow_.end(), tensor.as<int32_t>().begin());
  else if (wide_.empty())
    std::copy(narrow_.begin(), narrow_.end(), tensor.as<int64_t>().begin());
  else
    std::copy(wide_.begin(), wide_.end(), tensor.as<int64_t>().begin());
  narrow_ = {};
  wide_ = {};
  return tensor;
}

void NumberColumn::push(double value) {
  constexpr double kExactInDouble = 9007199254740992.0;  // 2^53
  const bool nan = std::isnan(value);
  const bool integer = nan || (std::fabs(value) <= kExactInDouble && std::trunc(value) == value);
  has_nan_ |= nan;
  integral_ &= integer;
  if (wide_.empty() && integral_ && !nan && static_cast<float>(value) != value) {
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_ = {};
  }
  if (wide_.empty())
    narrow_.push_back(static_cast<float>(value));
  else
    wide_.push_back(value);
}

Tensor NumberColumn::take_f32(base::Shape shape) {
  Tensor tensor = Tensor::empty(DType::kF32, shape);
  const auto out = tensor.as<float>();
  if (wide_.empty())
    std::copy(narrow_.begin(), narrow_.end(), out.begin());
  else
    std::transform(wide_.begin(), wide_.end(), out.begin(),
                   [](double value) { return static_cast<float>(value); });
  narrow_ = {};
  wide_ = {};
  return tensor;
}

Tensor NumberColumn::take_i64(base::Shape shape) {
  Tensor tensor = Tensor::empty(DType::kI64, shape);
  const auto convert = [](double value) {
    return std::isnan(value) ? int64_t{-1} : static_cast<int64_t>(value);
  };
  const auto out = tensor.as<int64_t>();
  if (wide_.empty())
    std::transform(narrow_.begin(), narrow_.end(), out.begin(), convert);
  else
    std::transform(wide_.begin(), wide_.end(), out.begin(), convert);
  narrow_ = {};
  wide_ = {};
  return tensor;
}

}  // namespace gnnmg::data
