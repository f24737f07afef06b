// Common parts of the tests of feature stores: queues of several devices with one pinned memory,
// tables that end where their memory ends, and the expected result of a gather, computed on the
// CPU.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/philox.h"
#include "cuda/feature/entries.h"
#include "feature/store.h"
#include "host_queue.h"

namespace gnnmg::cuda {

// A device of a process with several devices.
struct DeviceTwin : HostQueue {
  DeviceTwin(HostMemory& of_process, uint32_t seed) : HostQueue(seed), shared(&of_process) {}
  PinnedMemory& pinned_memory() { return *shared; }
  std::unique_ptr<Memory> lasting_memory() { return std::make_unique<PassedOnMemory>(*lasting); }
  HostMemory* shared;
  HostMemory* lasting = &device;  // memory of the device, for a store that outlives its first queue
};

inline const feature::DeviceFeatures& table() { return features_table<DeviceTwin>(); }

struct StoreCloser {
  void operator()(feature::DeviceStore* store) const { table().close(store); }
};
using StoreOwner = std::unique_ptr<feature::DeviceStore, StoreCloser>;
inline StoreOwner open_store(DeviceTwin& queue, const feature::DeviceStoreConfig& config) {
  return StoreOwner(table().open(handle_of(queue), config));
}

// A table whose memory ends with its last element and begins `shift` elements after the start of a
// block. With arbitrary bits, or with numbers other than NaN and infinity.
inline base::Tensor make_table(base::DType dtype, base::Shape shape, int64_t shift, bool finite) {
  const int64_t count = shape.num_elements(), size = base::dtype_size(dtype);
  auto* block = static_cast<uint8_t*>(std::malloc(static_cast<size_t>((count + shift) * size)));
  base::Stream stream({5, 6}, static_cast<uint64_t>(count + size));
  uint8_t* data = block + shift * size;
  for (int64_t i = 0; i < count * size; ++i) data[i] = static_cast<uint8_t>(stream.next());
  for (int64_t i = 0; finite && i < count; ++i) {
    const float value = static_cast<float>(stream.normal());
    const uint16_t bits =
        dtype == base::DType::kF16 ? base::f32_to_f16(value) : base::f32_to_bf16(value);
    if (dtype == base::DType::kF32)
      std::memcpy(data + i * 4, &value, 4);
    else
      std::memcpy(data + i * 2, &bits, 2);
  }
  return base::Tensor({data, dtype, shape}, std::shared_ptr<void>(block, std::free));
}

inline std::vector<int64_t> some_ids(int64_t count, int64_t bound) {
  std::vector<int64_t> ids(count);
  base::Stream stream({8, 9}, static_cast<uint64_t>(count));
  for (int64_t& id : ids) id = static_cast<int64_t>(stream.below(bound));
  if (count > 3) ids[1] = ids[2] = bound - 1, ids[3] = 0;
  return ids;
}

// Returns rows `ids` of the table as a store of `form` holds them, by the CPU's gather, one after
// another, with elements of type `out`.
inline std::vector<uint8_t> expected_rows(const base::Tensor& table, feature::Form form,
                                          base::DType out, const std::vector<int64_t>& ids) {
  using base::DType;
  using feature::Form;
  const int64_t cols = table.shape().row_elements();
  DType kept = table.dtype();
  if (form == Form::kF16) kept = DType::kF16;
  if (form == Form::kBF16) kept = DType::kBF16;
  const int64_t kept_bytes = cols * feature::form_size(form, table.dtype());
  std::vector<uint8_t> packed(
      std::max<int64_t>(1, table.rows() * feature::packed_stride(cols, form, table.dtype())));
  std::vector<float> scales(table.rows());
  feature::pack_rows(table.view(), form, {}, 0, table.rows(), packed.data(), scales.data(),
                     nullptr);
  std::vector<uint8_t> rows(table.rows() * kept_bytes), gathered(ids.size() * kept_bytes);
  for (int64_t r = 0; r < table.rows(); ++r)
    if (kept_bytes > 0)
      std::memcpy(rows.data() + r * kept_bytes,
                  packed.data() + r * feature::packed_stride(cols, form, table.dtype()),
                  kept_bytes);
  feature::gather_rows(rows.data(), kept_bytes, ids, gathered.data(), nullptr);
  if (form != Form::kInt8 && kept == out) return gathered;

  std::vector<uint8_t> result(ids.size() * cols * base::dtype_size(out));
  for (size_t i = 0; i < ids.size() * static_cast<size_t>(cols); ++i) {
    float value = 0;
    uint16_t bits = 0;
    if (form == Form::kInt8) {
      value = static_cast<float>(static_cast<int8_t>(gathered[i])) * scales[ids[i / cols]];
    } else if (kept == DType::kF32) {
      std::memcpy(&value, &gathered[i * 4], 4);
    } else {
      std::memcpy(&bits, &gathered[i * 2], 2);
      value = kept == DType::kF16 ? base::f16_to_f32(bits) : base::bf16_to_f32(bits);
    }
    bits = out == DType::kF16 ? base::f32_to_f16(value) : base::f32_to_bf16(value);
    if (out == DType::kF32)
      std::memcpy(&result[i * 4], &value, 4);
    else
      std::memcpy(&result[i * 2], &bits, 2);
  }
  return result;
}

}  // namespace gnnmg::cuda
