// Rows in the format of device stores: bounds for the error of narrowing, and rows that cannot be
// narrowed.
#include "feature/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/philox.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Tensor;
using feature::Form;

struct Packed {
  std::vector<uint8_t> bytes;
  std::vector<float> scales;
};

Packed pack(const Tensor& table, Form form, std::vector<int64_t> ids = {}) {
  const int64_t rows = ids.empty() ? table.rows() : static_cast<int64_t>(ids.size());
  Packed packed;
  packed.bytes.assign(
      rows * feature::packed_stride(table.shape().row_elements(), form, table.dtype()), 0xEE);
  packed.scales.resize(rows);
  feature::pack_rows(table.view(), form, ids, 0, rows, packed.bytes.data(), packed.scales.data(),
                     nullptr);
  return packed;
}

TEST(PackRows, Int8IsWithinHalfAScale) {
  constexpr int64_t kRows = 500, kCols = 37;
  const Tensor table = Tensor::empty(DType::kF32, {kRows, kCols});
  base::Stream stream({1, 2}, 3);
  for (int64_t i = 0; i < kRows * kCols; ++i)
    table.as<float>()[i] =
        static_cast<float>(stream.normal() * std::exp2(static_cast<double>(i / kCols % 200) - 100));
  const Packed packed = pack(table, Form::kInt8);
  double worst = 0;
  for (int64_t r = 0; r < kRows; ++r) {
    int most = 0;
    for (int64_t c = 0; c < kCols; ++c) {
      const int q = static_cast<int8_t>(packed.bytes[r * 48 + c]);
      const double x = table.as<float>()[r * kCols + c];
      const double back = static_cast<double>(static_cast<float>(q) * packed.scales[r]);
      worst = std::max(worst, std::fabs(back - x) / static_cast<double>(packed.scales[r]));
      most = std::max(most, std::abs(q));
    }
    ASSERT_EQ(most, 127);
    for (int64_t c = kCols; c < 48; ++c) ASSERT_EQ(packed.bytes[r * 48 + c], 0);
  }
  EXPECT_LE(worst, 0.50002);
  EXPECT_GT(worst, 0.49);
}

TEST(PackRows, Int8AtItsEdges) {
  const float least = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values = {
      127, -127, 63.5f, 62.5f,       -2.5f,        1, 0, 0, 0, 0, least, 0, -0.0f,
      0,   0,    0,     least * 190, -least * 190, 0, 0, 0, 0, 0, 0};
  const Tensor flat = Tensor::copy_of<float>(values);
  const Tensor table({flat.data(), DType::kF32, {3, 8}}, flat.owner());
  const Packed packed = pack(table, Form::kInt8);
  const auto q = [&](int64_t r, int64_t c) {
    return int{static_cast<int8_t>(packed.bytes[r * 16 + c])};
  };
  EXPECT_EQ(packed.scales[0], 1);
  EXPECT_EQ(q(0, 0), 127);
  EXPECT_EQ(q(0, 1), -127);
  EXPECT_EQ(q(0, 2), 64);  // ties go to the even neighbor
  EXPECT_EQ(q(0, 3), 62);
  EXPECT_EQ(q(0, 4), -2);
  EXPECT_EQ(packed.scales[1], 0);  // too small for a scale
  for (int64_t c = 0; c < 8; ++c) EXPECT_EQ(q(1, c), 0);
  EXPECT_EQ(q(2, 0), 127) << "190 of a scale that was rounded down, kept in range";
  EXPECT_EQ(q(2, 1), -127);
}

TEST(PackRows, RowsByIdAsGivenAndNarrowed) {
  const Tensor table = Tensor::empty(DType::kF32, {6, 5});
  for (int64_t i = 0; i < 30; ++i) table.as<float>()[i] = static_cast<float>(i) + 1.0f / 3;
  const std::vector<int64_t> ids = {5, 0, 5, 2};
  const Packed given = pack(table, Form::kAsGiven, ids);
  const Packed f16 = pack(table, Form::kF16, ids), bf16 = pack(table, Form::kBF16, ids);
  ASSERT_EQ(given.bytes.size(), 4 * 32u);
  ASSERT_EQ(f16.bytes.size(), 4 * 16u);
  base::ThreadPool pool(3);
  for (size_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < 5; ++c) {
      const float x = table.as<float>()[ids[i] * 5 + c];
      float same;
      uint16_t half, brain;
      std::memcpy(&same, &given.bytes[i * 32 + c * 4], 4);
      std::memcpy(&half, &f16.bytes[i * 16 + c * 2], 2);
      std::memcpy(&brain, &bf16.bytes[i * 16 + c * 2], 2);
      EXPECT_EQ(same, x);
      EXPECT_EQ(half, base::f32_to_f16(x));
      EXPECT_EQ(brain, base::f32_to_bf16(x));
    }
  std::vector<uint8_t> part(2 * 16);
  feature::pack_rows(table.view(), Form::kF16, ids, 1, 3, part.data(), nullptr, &pool);
  EXPECT_EQ(std::memcmp(part.data(), f16.bytes.data() + 16, 32), 0);
}

template <typename F>
void expect_error(const char* text, const F& f) {
  try {
    f();
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(PackRows, NamesWhatCannotBe) {
  expect_error("features of type i64 cannot be kept as int8",
               [] { feature::check_form(Form::kInt8, DType::kI64); });
  expect_error("features of type bf16 cannot be kept as f16",
               [] { feature::check_form(Form::kF16, DType::kBF16); });
  expect_error("features of type f64 cannot be kept as bf16",
               [] { feature::check_form(Form::kBF16, DType::kF64); });
  feature::check_form(Form::kAsGiven, DType::kU8);
  feature::check_form(Form::kInt8, DType::kBF16);
  const Tensor table = Tensor::zeros(DType::kF32, {4, 3});
  table.as<float>()[7] = std::numeric_limits<float>::infinity();
  expect_error("at row 2, column 1", [&] { pack(table, Form::kInt8); });
  table.as<float>()[7] = std::nanf("");
  expect_error("at row 2, column 1", [&] { pack(table, Form::kInt8); });
}

}  // namespace
}  // namespace gnnmg
