// The gather of the GPU, byte for byte equal to the CPU's: every type, width, form and placement.
#include <gtest/gtest.h>

#include <algorithm>

#include "feature_support.h"

namespace gnnmg::cuda {
namespace {

using base::DType;
using feature::Form;
using feature::RowPlacement;

TEST(Convert, SixteenBitsAreWidenedExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(bits_of(widen_f16(half)), bits_of(base::f16_to_f32(half))) << bits;
    ASSERT_EQ(bits_of(BF16::widen(half, 0)), bits_of(base::bf16_to_f32(half))) << bits;
  }
}

TEST(Convert, NarrowsAsTheHostDoes) {
  base::Stream stream({1, 1}, 1);
  for (uint32_t high = 0; high < 0x10000; ++high)
    for (const uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, 0x1000u, 0x0fffu,
                               0x1001u, 0x3000u, stream.next() & 0xffffu}) {
      const float value = float_of(high << 16 | low);
      ASSERT_EQ(narrow_f16(value), base::f32_to_f16(value)) << high << " " << low;
      ASSERT_EQ(narrow_bf16(value), base::f32_to_bf16(value)) << high << " " << low;
    }
}

constexpr int64_t kRows = 37;
constexpr uint8_t kUntouched = 0xEE;

struct Case {
  DType dtype;
  Form form;
  DType out;
};

const std::vector<Case> kCases = {
    {DType::kF32, Form::kAsGiven, DType::kF32},   {DType::kF32, Form::kAsGiven, DType::kF16},
    {DType::kF32, Form::kAsGiven, DType::kBF16},  {DType::kF16, Form::kAsGiven, DType::kF32},
    {DType::kF16, Form::kAsGiven, DType::kF16},   {DType::kF16, Form::kF16, DType::kBF16},
    {DType::kBF16, Form::kBF16, DType::kF32},     {DType::kBF16, Form::kAsGiven, DType::kF16},
    {DType::kBF16, Form::kAsGiven, DType::kBF16}, {DType::kF32, Form::kF16, DType::kF32},
    {DType::kF32, Form::kBF16, DType::kBF16},     {DType::kF32, Form::kInt8, DType::kF32},
    {DType::kF16, Form::kInt8, DType::kF16},      {DType::kBF16, Form::kInt8, DType::kBF16},
    {DType::kI64, Form::kAsGiven, DType::kI64},   {DType::kI32, Form::kAsGiven, DType::kI32},
    {DType::kU8, Form::kAsGiven, DType::kU8},     {DType::kF64, Form::kAsGiven, DType::kF64},
    {DType::kBool, Form::kAsGiven, DType::kBool},
};

// Checks one gather: at most `bound` rows, of which `count` are requested.
void check_gather(DeviceTwin& queue, feature::DeviceStore* store, const base::Tensor& features,
                  const Case& c, int64_t count, int64_t bound, bool on_device, bool wide,
                  int64_t stride, int64_t shift) {
  const int64_t cols = features.shape().row_elements(), size = base::dtype_size(c.out);
  const std::vector<int64_t> ids = some_ids(bound, kRows);
  const std::vector<int32_t> narrow_ids(ids.begin(), ids.end());
  std::vector<uint8_t> memory((bound * stride + shift) * size + 64, kUntouched);
  uint8_t* out = memory.data();
  while (reinterpret_cast<uintptr_t>(out) % 16 != 0) ++out;
  out += shift * size;
  const int32_t device_count = static_cast<int32_t>(count);
  feature::DeviceGather gather;
  gather.ids = wide ? static_cast<const void*>(ids.data()) : narrow_ids.data();
  gather.wide = wide;
  gather.max_count = on_device ? bound : count;
  gather.count = on_device ? &device_count : nullptr;
  gather.out = out;
  gather.out_type = c.out;
  gather.out_stride = stride;
  table().gather(handle_of(queue), store, gather);
  const int64_t rows = std::min(count, bound);
  const std::vector<uint8_t> expected =
      expected_rows(features, c.form, c.out, {ids.begin(), ids.begin() + rows});
  for (int64_t i = 0; i < bound; ++i) {
    const uint8_t* row = out + i * stride * size;
    int64_t known = 0;
    if (i < rows) {
      known = cols * size;
      ASSERT_TRUE(std::equal(row, row + known, expected.begin() + i * known))
          << "row " << i << ", id " << ids[i];
    }
    for (int64_t b = known; b < stride * size; ++b)
      ASSERT_EQ(row[b], kUntouched) << "row " << i << ", byte " << b;
  }
  EXPECT_EQ(table().num_out_of_range(handle_of(queue), store, gather), 0);
}

void check_all(RowPlacement placement) {
  const uint32_t seeds[] = {0, 1, 2, 7, 12345};
  int turn = 0;
  for (const Case& c : kCases) {
    for (const int64_t cols : {0, 1, 3, 4, 5, 32, 100, 256, 602, 5000}) {
      for (const int64_t shift : {0, 1, 3}) {  // shift of the table in its block, and of the output
        ++turn;
        SCOPED_TRACE(testing::Message()
                     << base::dtype_name(c.dtype) << " as form " << static_cast<int>(c.form)
                     << " to " << base::dtype_name(c.out) << ", " << cols << " columns, shift "
                     << shift);
        HostMemory pinned;
        DeviceTwin queue(pinned, seeds[turn % 5]);
        const base::Tensor features =
            make_table(c.dtype, {kRows, cols}, shift, c.form != Form::kAsGiven);
        std::vector<int64_t> cached;
        for (int64_t r = turn % 3; r < kRows; r += 3) cached.push_back((r * 5) % kRows);
        feature::DeviceStoreConfig config;
        config.table = features;
        config.placement = placement;
        config.form = c.form;
        if (placement == RowPlacement::kCached) config.cached = cached;
        const StoreOwner store = open_store(queue, config);
        const int64_t aligned_stride = (cols + 15) / 16 * 16;
        check_gather(queue, store.get(), features, c, 61, 61, false, true, aligned_stride, 0);
        check_gather(queue, store.get(), features, c, 23, 61, true, false, cols, shift);
        check_gather(queue, store.get(), features, c, 90, 61, true, true, cols + 1, shift);
        check_gather(queue, store.get(), features, c, 0, 61, true, true, aligned_stride, 0);
        check_gather(queue, store.get(), features, c, 0, 61, false, true, aligned_stride, 0);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(DeviceGather, OfRowsOnTheDevice) { check_all(RowPlacement::kDevice); }
TEST(DeviceGather, OfPinnedRows) { check_all(RowPlacement::kPinned); }
TEST(DeviceGather, OfCachedRows) { check_all(RowPlacement::kCached); }

// Many tiles share a row of a megabyte.
TEST(DeviceGather, OfOneHugeRow) {
  const Case c{DType::kF32, Form::kAsGiven, DType::kF32};
  const base::Tensor features = make_table(DType::kF32, {kRows, 300001}, 1, false);
  for (const uint32_t seed : {0u, 1u, 12345u})
    for (const RowPlacement placement : {RowPlacement::kDevice, RowPlacement::kPinned}) {
      HostMemory pinned;
      DeviceTwin queue(pinned, seed);
      feature::DeviceStoreConfig config;
      config.table = features;
      config.placement = placement;
      const StoreOwner store = open_store(queue, config);
      check_gather(queue, store.get(), features, c, 2, 3, true, true, 300004, 0);
    }
}

// Features of several dimensions are rows too; a table without columns needs no work.
TEST(DeviceGather, OfOtherShapes) {
  HostMemory pinned;
  DeviceTwin queue(pinned, 2);
  const Case c{DType::kF32, Form::kAsGiven, DType::kF32};
  feature::DeviceStoreConfig config;
  config.table = make_table(DType::kF32, {kRows, 3, 7}, 0, false);
  const StoreOwner cube = open_store(queue, config);
  check_gather(queue, cube.get(), config.table, c, 9, 9, false, true, 24, 0);
  config.table = make_table(DType::kF32, {kRows}, 0, false);
  const StoreOwner line = open_store(queue, config);
  check_gather(queue, line.get(), config.table, c, 9, 9, false, true, 1, 0);
  for (const RowPlacement placement :
       {RowPlacement::kDevice, RowPlacement::kPinned, RowPlacement::kCached}) {
    config.table = base::Tensor::zeros(DType::kF32, {0, 5});
    config.placement = placement;
    const StoreOwner none = open_store(queue, config);
    feature::DeviceGather gather;
    gather.out_stride = 5;
    table().gather(handle_of(queue), none.get(), gather);
    EXPECT_EQ(table().traffic(handle_of(queue), none.get()).rows, 0);
  }
}

TEST(DeviceGather, CountsIdsThatAreNone) {
  HostMemory pinned;
  DeviceTwin queue(pinned, 7);
  feature::DeviceStoreConfig config;
  config.table = make_table(DType::kF32, {kRows, 3}, 0, false);
  const StoreOwner store = open_store(queue, config);
  const std::vector<int64_t> ids = {0, -1, 36, 37, int64_t{1} << 40, INT64_MIN, 99};
  const int32_t count = 6;
  feature::DeviceGather gather;
  gather.ids = ids.data();
  gather.max_count = 7;
  EXPECT_EQ(table().num_out_of_range(handle_of(queue), store.get(), gather), 5);
  EXPECT_EQ(table().num_out_of_range(handle_of(queue), store.get(), gather), 5);
  gather.count = &count;
  EXPECT_EQ(table().num_out_of_range(handle_of(queue), store.get(), gather), 4);
}

}  // namespace
}  // namespace gnnmg::cuda
