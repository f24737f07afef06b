// Feature stores of a GPU: rows in its memory or in host memory, and the gather of a mini-batch's
// rows. A part of the device table of device/table.h; the counterpart of store.h.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "base/thread_pool.h"
#include "device/table.h"
#include "feature/pack.h"

namespace gnnmg::feature {

enum class RowPlacement : int32_t {
  kDevice = 0,  // all rows in device memory
  // Rows in host memory, which kernels read over the bus. With Form::kAsGiven the table is pinned
  // in place, whatever its width; otherwise a narrowed copy is pinned. The process has one pinned
  // table for all stores over the same rows, on any device; it is freed with the last of them.
  kPinned = 1,
  // Like kPinned, with copies of the rows `cached` in device memory and one i32 per node there.
  kCached = 2,
  // Like kCached, over several devices that read each other's memory; see open_split().
  kSplit = 3,
};

struct DeviceStoreConfig {
  // Dense [rows, ...], in host memory that is not a mapping (base::in_memory()). The store shares
  // it for as long as kernels read it there; nobody may write to it.
  base::Tensor table;
  RowPlacement placement = RowPlacement::kDevice;
  Form form = Form::kAsGiven;  // int8 keeps its scales, 4 bytes per row, on the device
  // For kCached: distinct rows in any order. For kSplit: distinct rows, the hottest first.
  std::span<const int64_t> cached;
  base::ThreadPool* pool = nullptr;  // narrows and pads rows; may be null
};

// Copies the rows ids[0] .. ids[n - 1], n = min(*count, max_count), to `out`, out_stride elements
// apart. Elements after a row's columns, and rows from n on, stay unchanged.
struct DeviceGather {
  // On the device: i64, or i32 if not `wide`; each is a row of the store.
  const void* ids = nullptr;
  bool wide = true;
  int64_t max_count = 0;           // upper bound of the rows; sizes the launch
  const int32_t* count = nullptr;  // device pointer; null: max_count rows
  void* out = nullptr;  // device pointer; each row is aligned to the size of its elements
  // f32, f16 or bf16 for rows of these types (rounded to nearest even if narrower than the stored
  // form); for all others and for f64 the type of the table.
  base::DType out_type = base::DType::kF32;
  // In elements, at least the number of columns; fastest if rows are aligned to 16 bytes.
  int64_t out_stride = 0;
};

// Counts of the gathers since opening, or since the last reset.
struct DeviceTraffic {
  int64_t rows = 0;        // rows gathered
  int64_t host_rows = 0;   // rows on no device: misses of a cache
  int64_t peer_rows = 0;   // rows on another device: hits of a split cache
  int64_t host_bytes = 0;  // bytes of the aligned 128-byte lines that hold these host rows
  double hit_rate() const {
    return rows ? static_cast<double>(rows - host_rows) / static_cast<double>(rows) : 0;
  }
};

// All rows as one table, for kernels that read them in place: row r begins at data + r * stride
// elements.
struct DeviceRows {
  const void* data = nullptr;  // null: the store has no such table, or no rows
  base::DType dtype = base::DType::kF32;
  int64_t stride = 0;
};

struct DeviceStore;

struct DeviceFeatures {
  static constexpr const char* kTable = "features";

  // Waits for its copies. Every queue of that device may use the store then, several at once, and
  // the store may outlive `queue`. Error(kNoMemory), with the remedy, if the device or the host has
  // too little memory; kUnsupported if the system refuses to pin; kInvalidArgument for a table
  // without a dimension of rows, a form that does not suit the table, or cached rows that repeat or
  // are given without kCached; kRange for a cached row that does not exist.
  DeviceStore* (*open)(device::Queue* queue, const DeviceStoreConfig& config);
  // Opens a cache that is split over devices. `queues` are on different devices, with enable_peer()
  // between any two. Row cached[p] is on device p % n of the n, so that each has an equal share of
  // the reads. Store k serves gathers on device k, which read rows of all devices. Close each store
  // when no gather of any device reads from it. Errors of open(), and kInvalidArgument for a
  // placement other than kSplit; no store is open after an error.
  void (*open_split)(std::span<device::Queue* const> queues, const DeviceStoreConfig& config,
                     std::span<DeviceStore*> stores);
  // No work may use the store any more. Null is allowed.
  void (*close)(DeviceStore* store) noexcept;
  // The table of a store that is all on the device or all pinned, in any form except int8. Valid as
  // long as the store.
  DeviceRows (*rows)(const DeviceStore* store) noexcept;

  // Gathers in the order of the queue: neither waits nor allocates. The caller has checked that ids
  // are in range. Error(kInvalidArgument) for a type of output or a stride that does not suit the
  // store. To keep a gather of pinned rows from occupying the whole device, use a queue of few
  // multiprocessors.
  void (*gather)(device::Queue* queue, DeviceStore* store, const DeviceGather& gather);
  // Sets rows n to max_count of a gather's result to zero, up to the number of columns, in the
  // order of the queue. Errors of gather().
  void (*clear)(device::Queue* queue, DeviceStore* store, const DeviceGather& gather);
  // Returns how many of a gather's ids are not rows of the store, for debugging. Waits. One call at
  // a time per store.
  int64_t (*num_out_of_range)(device::Queue* queue, DeviceStore* store, const DeviceGather& gather);

  // Returns the counts after all work in this queue; waits for it.
  DeviceTraffic (*traffic)(device::Queue* queue, DeviceStore* store);
  void (*reset_traffic)(device::Queue* queue, DeviceStore* store);
};

}  // namespace gnnmg::feature
