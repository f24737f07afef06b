#include "data/numbers.h"

#include <atomic>
#include <bit>

#include "base/error.h"

namespace gnnmg::data {

using base::DType;
using base::Tensor;

namespace {

// Stands for NaN among integers of 64 bits; as a value it makes a column non-integral.
constexpr int64_t kNanMark = std::numeric_limits<int64_t>::min();

float float_of(int64_t value) {
  return value == kNanMark ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
}

int64_t integer_of(float value) {
  return std::isnan(value) ? kNanMark : static_cast<int64_t>(value);
}

}  // namespace

bool exact_as_float(int64_t value) {
  constexpr float kBeyond = 9223372036854775808.0f;  // 2^63
  const auto narrow = static_cast<float>(value);
  return narrow < kBeyond && static_cast<int64_t>(narrow) == value;
}

void IdColumn::widen() {
  small_.drain([this](int32_t id) { large_.push_back(id); });
  wide_ = true;
}

Tensor IdColumn::take(bool wide, base::ThreadPool& pool) {
  Tensor tensor = Tensor::empty(wide || wide_ ? DType::kI64 : DType::kI32, {size()});
  if (wide_)
    large_.drain_into(tensor.as<int64_t>(), pool);
  else if (wide)
    small_.drain_into(tensor.as<int64_t>(), pool);
  else
    small_.drain_into(tensor.as<int32_t>(), pool);
  wide_ = false;
  return tensor;
}

int64_t count_different(const IdColumn& a, const IdColumn& b, int64_t bound,
                        base::ThreadPool& pool) {
  constexpr int64_t kGrain = 1 << 18;
  std::vector<std::atomic<uint64_t>> seen(bound / 64 + 1);
  const auto mark = [&](int64_t id) {
    const uint64_t bit = uint64_t{1} << id % 64;
    std::atomic<uint64_t>& word = seen[id / 64];
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  };
  for (const IdColumn* ids : {&a, &b})
    pool.parallel_for(ids->size(), kGrain,
                      [&](int64_t begin, int64_t end) { ids->for_each(begin, end, mark); });
  int64_t count = 0;
  for (const auto& word : seen) count += std::popcount(word.load(std::memory_order_relaxed));
  return count;
}

void NumberColumn::widen() {
  small_.drain([this](float value) { large_.push_back(integer_of(value)); });
  wide_ = true;
}

void NumberColumn::push_float(float value) {
  if (!integral_ && wide_) {
    large_.drain([this](int64_t old) { small_.push_back(float_of(old)); });
    wide_ = false;
    rounded_ = true;
  }
  if (wide_)
    large_.push_back(integer_of(value));
  else
    small_.push_back(value);
}

void NumberColumn::push(int64_t value) {
  integral_ &= value != kNanMark;
  if (integral_ && !wide_ && !exact_as_float(value)) widen();
  if (wide_ && integral_) return large_.push_back(value);
  rounded_ |= !exact_as_float(value);
  push_float(static_cast<float>(value));
}

void NumberColumn::push(double value) {
  constexpr double kExactInDouble = 9007199254740992.0;  // 2^53: larger ones may be rounded
  if (std::isnan(value)) {
    has_nan_ = true;
    return push_float(std::numeric_limits<float>::quiet_NaN());
  }
  const bool whole = std::isfinite(value) && std::trunc(value) == value;
  if (value == 0) return push_float(static_cast<float>(value));  // the sign of zero stays
  if (whole && std::fabs(value) < kExactInDouble) return push(static_cast<int64_t>(value));
  whole_ &= whole;
  integral_ = false;
  rounded_ |= whole && static_cast<double>(static_cast<float>(value)) != value;
  push_float(static_cast<float>(value));
}

void NumberColumn::insert_nan(std::span<const int64_t> before) {
  has_nan_ |= !before.empty();
  const auto insert = [before]<typename T>(Pieces<T>& values, T nan) {
    Pieces<T> all;
    size_t done = 0;
    int64_t row = 0;
    const auto insert_here = [&] {
      for (; done < before.size() && before[done] == row; ++done) all.push_back(nan);
      ++row;
    };
    values.drain([&](T value) {
      insert_here();
      all.push_back(value);
    });
    insert_here();
    values = std::move(all);
  };
  if (wide_)
    insert(large_, kNanMark);
  else
    insert(small_, std::numeric_limits<float>::quiet_NaN());
}

Tensor NumberColumn::take_f32(base::Shape shape) {
  Tensor tensor = Tensor::empty(DType::kF32, shape);
  float* to = tensor.as<float>().data();
  if (wide_)
    large_.drain([&to](int64_t value) { *to++ = float_of(value); });
  else
    small_.drain_into(tensor.as<float>());
  *this = {};
  return tensor;
}

Tensor NumberColumn::take_f32(base::Shape shape, std::string_view file, base::Log& log) {
  if (wide_ || rounded_)
    log.add(base::LogLevel::kWarning,
            base::text(file, ": integers beyond 16777216 are rounded to 32-bit floats"));
  return take_f32(shape);
}

Tensor NumberColumn::take_i64(base::Shape shape) {
  Tensor tensor = Tensor::empty(DType::kI64, shape);
  int64_t* to = tensor.as<int64_t>().data();
  const auto put = [&to](int64_t value) { *to++ = value == kNanMark ? -1 : value; };
  if (wide_)
    large_.drain(put);
  else
    small_.drain([&put](float value) { put(integer_of(value)); });
  *this = {};
  return tensor;
}

}  // namespace gnnmg::data
