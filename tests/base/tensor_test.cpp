#include "base/tensor.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace gnnmg::base {
namespace {

// The value of a 16-bit float with the given field widths, from the definition of the formats.
double decode(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return exponent ? sign * std::ldexp(1.0 + fraction, exponent - bias)
                  : sign * std::ldexp(fraction, 1 - bias);
}

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits;
  float (*decode)(uint16_t);
  uint16_t (*encode)(float);
};

class Half : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, Half,
                         testing::Values(Format{"f16", 5, 10, f16_to_f32, f32_to_f16},
                                         Format{"bf16", 8, 7, bf16_to_f32, f32_to_bf16}),
                         [](const auto& info) { return info.param.name; });

TEST_P(Half, DecodesEveryBitPattern) {
  const Format& format = GetParam();
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const double expected = decode(bits, format.exponent_bits, format.mantissa_bits);
    const float got = format.decode(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(got, expected) << i;
      ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << i;
    }
  }
}

TEST_P(Half, EncodesEveryDecodedValueBack) {
  const Format& format = GetParam();
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const float value = format.decode(bits);
    const uint16_t back = format.encode(value);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(format.decode(back))) << i;
    else
      ASSERT_EQ(back, bits) << i;
  }
}

// Rounding changes only at the midpoints between neighbors: each is tested with the adjacent
// floats, for every pair of neighbors and both signs, up to the step to infinity.
TEST_P(Half, RoundsToNearestEvenAroundEveryMidpoint) {
  const Format& format = GetParam();
  const uint16_t infinity =
      static_cast<uint16_t>(((1 << format.exponent_bits) - 1) << format.mantissa_bits);
  for (uint16_t low = 0; low < infinity; ++low) {
    const double a = decode(low, format.exponent_bits, format.mantissa_bits);
    double b = decode(low + 1, format.exponent_bits, format.mantissa_bits);
    if (low + 1 == infinity)  // treats infinity as the next larger number
      b = std::ldexp(1.0, (1 << (format.exponent_bits - 1)));
    const float middle = static_cast<float>((a + b) / 2);
    ASSERT_EQ(middle, (a + b) / 2) << "the midpoint is a float";
    const uint16_t even = low % 2 ? low + 1 : low;
    for (const uint16_t sign : {0x0000, 0x8000}) {
      const float s = sign ? -1.0f : 1.0f;
      ASSERT_EQ(format.encode(s * middle), sign | even) << low;
      ASSERT_EQ(format.encode(s * std::nextafter(middle, 0.0f)), sign | low) << low;
      ASSERT_EQ(format.encode(s * std::nextafter(middle, INFINITY)), sign | (low + 1)) << low;
    }
  }
}

TEST_P(Half, KeepsInfinitiesNansAndSignedZero) {
  const Format& format = GetParam();
  EXPECT_EQ(format.decode(format.encode(INFINITY)), INFINITY);
  EXPECT_EQ(format.decode(format.encode(-INFINITY)), -INFINITY);
  EXPECT_EQ(format.encode(-0.0f), 0x8000);
  // A NaN whose payload is in the bits that are cut off must not become an infinity.
  EXPECT_TRUE(std::isnan(format.decode(format.encode(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(format.decode(format.encode(std::bit_cast<float>(0xffffffffu)))));
}

TEST(DType, HasSizeAndName) {
  const struct {
    DType dtype;
    int64_t size;
    const char* name;
    bool floating;
  } expected[] = {
      {DType::kF32, 4, "f32", true},  {DType::kF64, 8, "f64", true},
      {DType::kF16, 2, "f16", true},  {DType::kBF16, 2, "bf16", true},
      {DType::kI64, 8, "i64", false}, {DType::kI32, 4, "i32", false},
      {DType::kU8, 1, "u8", false},   {DType::kBool, 1, "bool", false},
  };
  for (const auto& e : expected) {
    EXPECT_EQ(dtype_size(e.dtype), e.size) << e.name;
    EXPECT_STREQ(dtype_name(e.dtype), e.name);
    EXPECT_EQ(is_floating(e.dtype), e.floating) << e.name;
  }
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ(Shape().row_elements(), 1);
  EXPECT_EQ(Shape().to_string(), "[]");
  const Shape shape{5, 3, 2};
  EXPECT_EQ(shape.num_elements(), 30);
  EXPECT_EQ(shape.row_elements(), 6);
  EXPECT_EQ(shape.to_string(), "[5, 3, 2]");
  EXPECT_EQ(shape, (Shape{5, 3, 2}));
  EXPECT_NE(shape, (Shape{5, 3}));
  EXPECT_EQ((Shape{0, 7}).num_elements(), 0);
}

TEST(Shape, RefusesWhatCannotBe) {
  const auto status_of = [](std::vector<int64_t> sizes) {
    try {
      Shape{std::span<const int64_t>(sizes)};
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  EXPECT_EQ(status_of({1, 1, 1, 1, 1}), Status::kUnsupported);
  EXPECT_EQ(status_of({2, -1}), Status::kInvalidArgument);
  EXPECT_EQ(status_of({int64_t{1} << 32, int64_t{1} << 31}), Status::kFormat);
  EXPECT_EQ(status_of({0, int64_t{1} << 32, int64_t{1} << 31}), Status::kFormat);
  EXPECT_EQ(status_of({int64_t{1} << 31, int64_t{1} << 31}), Status::kOk);
  EXPECT_EQ(status_of({0, int64_t{1} << 31, int64_t{1} << 31}), Status::kOk);
}

TEST(TensorView, KnowsItsBytes) {
  const TensorView view{nullptr, DType::kF16, {6, 5}};
  EXPECT_EQ(view.num_bytes(), 60);
  EXPECT_EQ(view.rows(), 6);
  EXPECT_EQ(view.row_bytes(), 10);
  const TensorView scalar{nullptr, DType::kI64, {}};
  EXPECT_EQ(scalar.rows(), 1);
  EXPECT_EQ(scalar.num_bytes(), 8);
}

TEST(TensorView, ChecksTheElementType) {
  const std::vector<int32_t> values{1, 2, 3};
  const Tensor tensor = Tensor::copy_of<int32_t>(values);
  EXPECT_EQ(tensor.as<int32_t>()[2], 3);
  EXPECT_EQ(tensor.as<const int32_t>()[0], 1);
  try {
    tensor.as<float>();
    FAIL() << "i32 read as f32";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidArgument);
    EXPECT_STREQ(error.what(), "tensor has elements of type i32, expected f32");
  }
}

TEST(Tensor, OwnsAlignedMemoryAndSharesItOnCopy) {
  EXPECT_FALSE(Tensor().defined());
  Tensor copy;
  {
    const Tensor tensor = Tensor::zeros(DType::kF32, {100, 3});
    ASSERT_TRUE(tensor.defined());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
    for (float v : tensor.as<float>()) ASSERT_EQ(v, 0.0f);
    copy = tensor;
    copy.as<float>()[7] = 4.0f;
    EXPECT_EQ(tensor.as<float>()[7], 4.0f);
  }
  EXPECT_EQ(copy.as<float>()[7], 4.0f);
  EXPECT_EQ(copy.owner().use_count(), 1);
}

// The allocator may also return memory that was written before.
TEST(Tensor, LargeZerosTakeNoMemoryBeforeTheyAreWritten) {
  constexpr int64_t kBytes = (int64_t{64} << 20) + 12345;
  for (int round = 0; round < 3; ++round) {
    const Tensor written = Tensor::empty(DType::kU8, {kBytes});
    std::memset(written.data(), 0xff, kBytes);
  }
  const Tensor tensor = Tensor::zeros(DType::kU8, {kBytes});
  const int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> there(static_cast<size_t>((kBytes + page - 1) / page));
  ASSERT_EQ(mincore(tensor.data(), kBytes, there.data()), 0) << std::strerror(errno);
  const auto resident = std::count_if(there.begin(), there.end(), [](auto c) { return c & 1; });
  EXPECT_LT(resident * page, int64_t{4} << 20);
  const auto bytes = tensor.as<uint8_t>();
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; }));
}

TEST(Tensor, IsDefinedWhenEmpty) {
  const Tensor tensor = Tensor::empty(DType::kI64, {0, 4});
  EXPECT_TRUE(tensor.defined());
  EXPECT_EQ(tensor.rows(), 0);
  EXPECT_TRUE(tensor.as<int64_t>().empty());
}

TEST(Tensor, SaysWhenThereIsNoMemory) {
  for (const int64_t count : {int64_t{1} << 59, int64_t{1} << 50}) {
    try {
      Tensor::empty(DType::kF64, {count});
      FAIL() << "2^" << std::log2(count) << " doubles found room";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kNoMemory);
      EXPECT_EQ(std::string(error.what()),
                text("no memory for a tensor f64 [", count, "] of ", count * 8, " bytes"));
    }
  }
}

}  // namespace
}  // namespace gnnmg::base
