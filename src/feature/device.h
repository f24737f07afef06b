// Feature stores of a GPU: rows in its memory or in the host's, and the gather of a mini-batch's
// rows. Part of the device table of base/device.h; the twin of store.h.
#pragma once

#include <cstdint>
#include <span>

#include "base/device.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "feature/pack.h"

namespace gnnmg::feature {

enum class RowPlacement : int32_t {
  kDevice = 0,  // all in the device's memory
  // In the host's memory, which kernels read over the bus. With Form::kAsGiven the table itself is
  // pinned where it lies, whatever its width; otherwise a narrowed copy is. One pinned table a
  // process serves all stores over it, on any device, and goes with the last of them.
  kPinned = 1,
  // As kPinned, with copies of the rows `cached` in the device's memory and an i32 per node there.
  kCached = 2,
  // As kCached, over several devices that read each other's memory; see open_split().
  kSplit = 3,
};

struct DeviceStoreConfig {
  // Dense [rows, ...], in memory of the host's that is no mapping (base::in_memory()): the store
  // holds a share of it for as long as kernels read it there, and nobody may write it.
  base::Tensor table;
  RowPlacement placement = RowPlacement::kDevice;
  Form form = Form::kAsGiven;  // int8 keeps its scales, 4 bytes a row, on the device
  // For kCached: distinct rows, the hottest first or in any order; for kSplit: the hottest first.
  std::span<const int64_t> cached;
  base::ThreadPool* pool = nullptr;  // narrows and pads rows; may be null
};

// Rows ids[0] .. ids[n - 1], n = min(*count, max_count), to out, out_stride elements apart; what
// lies behind a row's columns, and rows from n on, are left alone.
struct DeviceGather {
  const void* ids = nullptr;  // on the device: i64 or, not `wide`, i32, each a row of the store
  bool wide = true;
  int64_t max_count = 0;           // rows at most: what the launch is sized by
  const int32_t* count = nullptr;  // on the device; null: max_count rows
  void* out = nullptr;  // on the device; a row begins on a multiple of its element's size
  // f32, f16 or bf16 of floating rows (rounded to nearest even where it is narrower than what is
  // kept), the type of the table of all others and of f64.
  base::DType out_type = base::DType::kF32;
  int64_t out_stride = 0;  // elements, at least the columns; fastest where it makes rows begin on
                           // multiples of 16 bytes
};

// What gathers read since opening, or since the last reset.
struct DeviceTraffic {
  int64_t rows = 0;        // gathered
  int64_t host_rows = 0;   // those on no device: misses of a cache
  int64_t peer_rows = 0;   // those on another device: hits of a split cache
  int64_t host_bytes = 0;  // of the aligned 128-byte lines that they lie in
  double hit_rate() const {
    return rows ? static_cast<double>(rows - host_rows) / static_cast<double>(rows) : 0;
  }
};

// All rows as one table, for kernels that read them in place: row r begins at data + r * stride
// elements.
struct DeviceRows {
  const void* data = nullptr;  // null: they do not lie so, or there are none
  base::DType dtype = base::DType::kF32;
  int64_t stride = 0;
};

struct DeviceStore;

struct DeviceFeatures {
  // Waits for the copies that it makes; the store may then be used by every queue of that device,
  // several at once, and may outlive this one. Error(kNoMemory), with the remedy, when the device
  // or the host has not the room; kUnsupported when the system refuses to pin; kInvalidArgument for
  // a table without the dimension of rows, a form that does not suit it, rows listed twice or
  // without kCached; kRange for a listed row that is none.
  DeviceStore* (*open)(base::DeviceQueue* queue, const DeviceStoreConfig& config);
  // A cache that is split over devices, whose queues these are, all of them different, with
  // enable_peer() between any two: row cached[p] lies on device p % n of the n, which so have equal
  // shares of what is read. Store k is for gathers on device k, which read rows of all of them;
  // each is closed by itself, when no gather of any reads on. Errors as of open(), kInvalidArgument
  // for another placement than kSplit too; then there is none.
  void (*open_split)(std::span<base::DeviceQueue* const> queues, const DeviceStoreConfig& config,
                     std::span<DeviceStore*> stores);
  // What uses it is over. Null: nothing.
  void (*close)(DeviceStore* store) noexcept;
  // Of a store that is all on the device or all pinned, of any form but int8. It lasts as long.
  DeviceRows (*rows)(const DeviceStore* store) noexcept;

  // In order with the queue: does not wait, and allocates nothing. Ids are in range: who made them
  // has checked. Error(kInvalidArgument) for a type of output or a stride that does not suit. To
  // keep a gather of pinned rows from taking the device, give it a queue of few multiprocessors.
  void (*gather)(base::DeviceQueue* queue, DeviceStore* store, const DeviceGather& gather);
  // Rows from n to max_count of a gather's result become zeros, as far as a row's columns go; in
  // order with the queue. Errors as of gather().
  void (*clear)(base::DeviceQueue* queue, DeviceStore* store, const DeviceGather& gather);
  // How many of a gather's ids are no row of the store, for debugging; waits. One at a time a
  // store.
  int64_t (*num_out_of_range)(base::DeviceQueue* queue, DeviceStore* store,
                              const DeviceGather& gather);

  // Behind what is in this queue; waits for it.
  DeviceTraffic (*traffic)(base::DeviceQueue* queue, DeviceStore* store);
  void (*reset_traffic)(base::DeviceQueue* queue, DeviceStore* store);
};

}  // namespace gnnmg::feature
