// Stores of features on every device, by the device table: gathered rows equal the given ones, for
// every placement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/philox.h"
#include "chosen_cases.h"
#include "devices.h"
#include "feature/device.h"
#include "feature/store.h"

namespace gnnmg::cuda {
namespace {

using base::DType;
using feature::Form;
using feature::RowPlacement;
using Features = OnDevices;

struct Closer {
  const feature::DeviceFeatures* features;
  void operator()(feature::DeviceStore* store) const { features->close(store); }
};

// Finite numbers; the table begins `shift` elements after the start of its memory.
base::Tensor finite_numbers(DType dtype, int64_t rows, int64_t cols, int64_t shift) {
  const base::Tensor block = base::Tensor::empty(dtype, {rows * cols + shift});
  base::Stream stream({1, 2}, static_cast<uint64_t>(cols));
  for (int64_t i = 0; i < rows * cols + shift; ++i) {
    const float value = static_cast<float>(stream.normal());
    if (dtype == DType::kF32)
      static_cast<float*>(block.data())[i] = value;
    else if (dtype == DType::kF16)
      static_cast<uint16_t*>(block.data())[i] = base::f32_to_f16(value);
    else if (dtype == DType::kBF16)
      static_cast<uint16_t*>(block.data())[i] = base::f32_to_bf16(value);
    else
      static_cast<int64_t*>(block.data())[i] = static_cast<int64_t>(stream.next64());
  }
  auto* data = static_cast<uint8_t*>(block.data()) + shift * base::dtype_size(dtype);
  return base::Tensor({data, dtype, {rows, cols}}, block.owner());
}

std::vector<uint8_t> by_cpu(const base::Tensor& table, const std::vector<int64_t>& ids) {
  std::vector<uint8_t> rows(ids.size() * table.view().row_bytes());
  feature::gather_rows(static_cast<const uint8_t*>(table.data()), table.view().row_bytes(), ids,
                       rows.data(), nullptr);
  return rows;
}

TEST_P(Features, AreGatheredFromEveryPlacement) {
  constexpr int64_t kRows = 200, kIds = 411;
  ASSERT_NE(table().of<feature::DeviceFeatures>(), nullptr);
  const feature::DeviceFeatures& features = *table().of<feature::DeviceFeatures>();
  std::vector<int64_t> ids(kIds), cached;
  base::Stream stream({3, 4}, 5);
  for (int64_t& id : ids) id = static_cast<int64_t>(stream.below(kRows));
  for (int64_t r = 0; r < kRows; r += 3) cached.push_back(r);
  int64_t hits = 0;
  for (const int64_t id : ids) hits += id % 3 == 0;
  const DeviceArray<int64_t> there(device(), queue(), ids);
  const DeviceArray<int32_t> count(device(), queue(), std::vector<int32_t>{kIds - 11});
  const DeviceArray<int32_t> few(device(), queue(), std::vector<int32_t>{3});
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI64};
  constexpr int64_t kColumns[] = {1, 3, 100, 256, 602, 3001};
  constexpr RowPlacement kPlacements[] = {RowPlacement::kDevice, RowPlacement::kPinned,
                                          RowPlacement::kCached};
  for (const auto& c : taken_combinations({4, 6, 3})) {
    const DType dtype = kTypes[c[0]];
    const int64_t cols = kColumns[c[1]];
    const RowPlacement placement = kPlacements[c[2]];
    const base::Tensor given = finite_numbers(dtype, kRows, cols, 1);
    feature::DeviceStoreConfig config;
    config.table = given;
    config.placement = placement;
    if (placement == RowPlacement::kCached) config.cached = cached;
    const std::unique_ptr<feature::DeviceStore, Closer> store(features.open(queue(), config),
                                                              Closer{&features});
    const std::vector<uint8_t> untouched(kIds * given.view().row_bytes(), 0xEE);
    const DeviceArray<uint8_t> out(device(), queue(), untouched);
    feature::DeviceGather gather;
    gather.ids = there.data();
    gather.max_count = kIds;
    gather.count = count.data();
    gather.out = out.data();
    gather.out_type = dtype;
    gather.out_stride = cols;
    ASSERT_EQ(features.num_out_of_range(queue(), store.get(), gather), 0);
    features.gather(queue(), store.get(), gather);
    const std::vector<uint8_t> found = out.read();
    std::vector<uint8_t> expected = by_cpu(given, {ids.begin(), ids.end() - 11});
    expected.resize(found.size(), 0xEE);
    ASSERT_TRUE(found == expected) << base::dtype_name(dtype) << ", " << cols << " columns";
    features.clear(queue(), store.get(), gather);
    std::fill(expected.end() - 11 * given.view().row_bytes(), expected.end(), uint8_t{0});
    ASSERT_TRUE(out.read() == expected) << "the rest is not zeros";
    gather.count = few.data();
    features.clear(queue(), store.get(), gather);
    std::fill(expected.begin() + 3 * given.view().row_bytes(), expected.end(), uint8_t{0});
    ASSERT_TRUE(out.read() == expected) << "all but three rows are not zeros";
    gather.count = nullptr;
    features.reset_traffic(queue(), store.get());
    features.gather(queue(), store.get(), gather);
    const feature::DeviceTraffic traffic = features.traffic(queue(), store.get());
    EXPECT_EQ(traffic.rows, kIds);
    EXPECT_EQ(traffic.host_rows, placement == RowPlacement::kDevice   ? 0
                                 : placement == RowPlacement::kPinned ? kIds
                                                                      : kIds - hits);
  }
}

// Splits the cache over this device and its peers with mutual access; without any, over it alone.
TEST_P(Features, AreGatheredFromASplitCache) {
  constexpr int64_t kRows = 200, kIds = 411;
  const feature::DeviceFeatures& features = *table().of<feature::DeviceFeatures>();
  std::vector<int64_t> ids(kIds), cached;
  base::Stream stream({3, 4}, 6);
  for (int64_t& id : ids) id = static_cast<int64_t>(stream.below(kRows));
  for (int64_t r = 0; r < kRows; r += 3) cached.push_back(r);
  std::vector<device::Queue*> queues = {queue()};
  for (int other = 0; other < table().num_devices(); ++other)
    if (other != device().device && table().enable_peer(device().device, other) &&
        table().enable_peer(other, device().device))
      queues.push_back(table().open_queue(other, 0, nullptr));
  const auto num_parts = static_cast<int64_t>(queues.size());
  RecordProperty("devices", static_cast<int>(num_parts));
  const DeviceArray<int64_t> there(device(), queue(), ids);
  for (const Form form : {Form::kAsGiven, Form::kBF16, Form::kInt8})
    for (const int64_t cols : {1, 3, 100, 602}) {
      const base::Tensor given = finite_numbers(DType::kF32, kRows, cols, 1);
      feature::DeviceStoreConfig config;
      config.table = given;
      config.form = form;
      const auto gathered = [&](feature::DeviceStore* store) {
        const DeviceArray<float> out(device(), queue(), kIds * cols);
        feature::DeviceGather gather;
        gather.ids = there.data();
        gather.max_count = kIds;
        gather.out = out.data();
        gather.out_stride = cols;
        features.gather(queue(), store, gather);
        return out.read();
      };
      const std::unique_ptr<feature::DeviceStore, Closer> whole(features.open(queue(), config),
                                                                Closer{&features});
      config.placement = RowPlacement::kSplit;
      config.cached = cached;
      std::vector<feature::DeviceStore*> parts(queues.size());
      features.open_split(queues, config, parts);
      EXPECT_TRUE(gathered(parts[0]) == gathered(whole.get())) << cols << " columns";
      const feature::DeviceTraffic traffic = features.traffic(queue(), parts[0]);
      int64_t on_host = 0, on_peers = 0;
      for (const int64_t id : ids) {
        on_host += id % 3 != 0;
        on_peers += id % 3 == 0 && id / 3 % num_parts != 0;
      }
      EXPECT_EQ(traffic.rows, kIds);
      EXPECT_EQ(traffic.host_rows, on_host);
      EXPECT_EQ(traffic.peer_rows, on_peers);
      for (feature::DeviceStore* part : parts) features.close(part);
    }
  for (size_t k = 1; k < queues.size(); ++k) table().close_queue(queues[k]);
}

// The table for kernels that read in place holds the rows, if they all are in one table.
TEST_P(Features, AreOneTableWhereTheyLieSo) {
  constexpr int64_t kRows = 50, kCols = 7;
  const feature::DeviceFeatures& features = *table().of<feature::DeviceFeatures>();
  const base::Tensor given = finite_numbers(DType::kF32, kRows, kCols, 0);
  const float* const x = static_cast<const float*>(given.data());
  for (const RowPlacement placement :
       {RowPlacement::kDevice, RowPlacement::kPinned, RowPlacement::kCached})
    for (const Form form : {Form::kAsGiven, Form::kBF16, Form::kInt8}) {
      feature::DeviceStoreConfig config;
      config.table = given;
      config.placement = placement;
      config.form = form;
      const std::unique_ptr<feature::DeviceStore, Closer> store(features.open(queue(), config),
                                                                Closer{&features});
      const feature::DeviceRows rows = features.rows(store.get());
      ASSERT_EQ(rows.data != nullptr, placement != RowPlacement::kCached && form != Form::kInt8);
      if (rows.data == nullptr) continue;
      ASSERT_EQ(rows.dtype, form == Form::kBF16 ? DType::kBF16 : DType::kF32);
      const int64_t size = base::dtype_size(rows.dtype);
      for (const int64_t row : {int64_t{0}, int64_t{1}, kRows - 1}) {
        std::vector<uint8_t> found(kCols * size);
        table().copy(queue(), found.data(),
                     static_cast<const uint8_t*>(rows.data) + row * rows.stride * size,
                     kCols * size);
        table().synchronize(queue());
        for (int64_t c = 0; c < kCols; ++c) {
          const float expected = x[row * kCols + c];
          uint16_t narrow = 0;
          float wide = 0;
          if (form == Form::kBF16) {
            std::memcpy(&narrow, found.data() + c * size, sizeof narrow);
            EXPECT_EQ(narrow, base::f32_to_bf16(expected));
          } else {
            std::memcpy(&wide, found.data() + c * size, sizeof wide);
            EXPECT_EQ(wide, expected);
          }
        }
      }
    }
}

// Widening and narrowing on the device give the host's bits.
TEST_P(Features, AreConvertedAsTheHostDoes) {
  ASSERT_NE(table().of<feature::DeviceFeatures>(), nullptr);
  const feature::DeviceFeatures& features = *table().of<feature::DeviceFeatures>();
  // All 16-bit numbers, including every NaN and subnormal, in rows of 256.
  const base::Tensor all = base::Tensor::empty(DType::kF16, {256, 256});
  for (int64_t i = 0; i < 65536; ++i)
    static_cast<uint16_t*>(all.data())[i] = static_cast<uint16_t>(i);
  std::vector<int64_t> ids(256);
  for (int64_t i = 0; i < 256; ++i) ids[i] = (i * 37) % 256;
  const DeviceArray<int64_t> there(device(), queue(), ids);
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32})
    for (const DType wanted : {DType::kF32, DType::kF16, DType::kBF16}) {
      if (dtype == wanted) continue;
      const base::Tensor given = dtype == DType::kF32
                                     ? base::Tensor::empty(dtype, {256, 256})
                                     : base::Tensor({all.data(), dtype, {256, 256}}, all.owner());
      for (int64_t i = 0; dtype == DType::kF32 && i < 65536; ++i)
        static_cast<uint32_t*>(given.data())[i] =
            static_cast<uint32_t>(i << 16 | (i * 40503 & 0xffff));
      feature::DeviceStoreConfig config;
      config.table = given;
      const std::unique_ptr<feature::DeviceStore, Closer> store(features.open(queue(), config),
                                                                Closer{&features});
      const DeviceArray<uint8_t> out(device(), queue(), 65536 * base::dtype_size(wanted));
      feature::DeviceGather gather;
      gather.ids = there.data();
      gather.max_count = 256;
      gather.out = out.data();
      gather.out_type = wanted;
      gather.out_stride = 256;
      features.gather(queue(), store.get(), gather);
      const std::vector<uint8_t> found = out.read();
      for (int64_t i = 0; i < 65536; ++i) {
        const int64_t from = ids[i / 256] * 256 + i % 256;
        float value;
        if (dtype == DType::kF32) {
          value = static_cast<const float*>(given.data())[from];
        } else {
          const uint16_t bits = static_cast<const uint16_t*>(given.data())[from];
          value = dtype == DType::kF16 ? base::f16_to_f32(bits) : base::bf16_to_f32(bits);
        }
        const uint16_t narrow =
            wanted == DType::kF16 ? base::f32_to_f16(value) : base::f32_to_bf16(value);
        const int64_t size = base::dtype_size(wanted);
        ASSERT_EQ(
            std::memcmp(&found[i * size],
                        wanted == DType::kF32 ? static_cast<const void*>(&value) : &narrow, size),
            0)
            << base::dtype_name(dtype) << " to " << base::dtype_name(wanted) << ", element "
            << from;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, Features, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
