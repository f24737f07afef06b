// DLPack 1.x as its specification lays it out in memory: the little of it that this library reads
// and writes (dlpack.cpp). Written out here so that no other project's header is needed to build.
#pragma once

#include <cstdint>

extern "C" {

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // counted in elements; null: contiguous
  uint64_t byte_offset;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

namespace gnnmg::capi {

inline constexpr uint32_t kDlpackMajor = 1;
inline constexpr uint32_t kDlpackMinor = 0;
inline constexpr int32_t kDlpackCpu = 1;
inline constexpr int32_t kDlpackCuda = 2;
inline constexpr uint64_t kDlpackReadOnly = 1;

// Codes of DLDataType.
inline constexpr uint8_t kDlpackInt = 0;
inline constexpr uint8_t kDlpackUInt = 1;
inline constexpr uint8_t kDlpackFloat = 2;
inline constexpr uint8_t kDlpackBfloat = 4;
inline constexpr uint8_t kDlpackBool = 6;

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensorVersioned) == 80,
              "the layout of DLPack 1.x on 64-bit machines");

}  // namespace gnnmg::capi
