// A store of features on a device: opening, which copies rows there or pins them, and closing.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda/feature/pinned_tables.h"
#include "cuda/feature/rows.h"
#include "feature/device.h"

namespace gnnmg::feature {

struct DeviceStore {
  explicit DeviceStore(std::unique_ptr<cuda::Memory> of_device)
      : memory(std::move(of_device)),
        rows_memory(*memory),
        slots_memory(*memory),
        scales_memory(*memory),
        counts_memory(*memory),
        parts_memory(*memory),
        peer_counts_memory(*memory) {}
  std::unique_ptr<cuda::Memory> memory;  // owns the memory of the members below
  cuda::StoreRows rows;
  base::DType dtype = base::DType::kF32;  // type of the table
  Form form = Form::kAsGiven;
  cuda::Buffer<uint8_t> rows_memory;
  cuda::Buffer<int32_t> slots_memory;
  cuda::Buffer<float> scales_memory;
  cuda::Buffer<cuda::TrafficCounts> counts_memory;
  cuda::Buffer<const uint8_t*> parts_memory;
  cuda::Buffer<cuda::PeerCount> peer_counts_memory;
  cuda::PinnedTables::Use pinned;
};

}  // namespace gnnmg::feature

namespace gnnmg::cuda {

inline constexpr int64_t kStageBytes = 4 << 20;  // bytes packed at a time on the way to the device

// Copies rows `ids` (empty: all `count`) of the table to `rows`, packed, and the scales of int8 to
// `scales` unless that is null.
template <typename Queue>
void upload_rows(Queue& queue, const feature::DeviceStoreConfig& config, feature::Form form,
                 std::span<const int64_t> ids, int64_t count, uint8_t* rows, float* scales) {
  const base::TensorView& table = config.table.view();
  const int64_t stride = feature::packed_stride(table.shape.row_elements(), form, table.dtype);
  if (form == feature::Form::kAsGiven && ids.empty() && stride == table.row_bytes())
    return queue.copy(rows, table.data, count * stride);
  const int64_t at_once = std::min(count, kStageBytes / (stride + 1) + 1);
  base::PageVector<uint8_t> stage;
  stage.resize_discard(base::checked_mul(at_once, stride, "features on their way to a device"));
  std::vector<float> stage_scales(form == feature::Form::kInt8 ? at_once : 0);
  for (int64_t begin = 0; begin < count; begin += at_once) {
    const int64_t end = std::min(count, begin + at_once);
    feature::pack_rows(table, form, ids, begin, end, stage.data(), stage_scales.data(),
                       config.pool);
    queue.copy(rows + begin * stride, stage.data(), (end - begin) * stride);
    if (scales != nullptr)
      queue.copy(scales + begin, stage_scales.data(),
                 (end - begin) * static_cast<int64_t>(sizeof(float)));
    queue.synchronize();  // the staging buffer is reused
  }
}

inline void check_config(const feature::DeviceStoreConfig& config, bool split) {
  using base::fail;
  using base::Status;
  using feature::RowPlacement;
  const base::Tensor& table = config.table;
  if (!table.defined() || table.shape().num_dims == 0)
    fail(Status::kInvalidArgument, "features need at least one dimension, the rows");
  if (split ? config.placement != RowPlacement::kSplit
            : config.placement < RowPlacement::kDevice || config.placement > RowPlacement::kCached)
    fail(Status::kInvalidArgument, "placement of features is ",
         static_cast<int32_t>(config.placement),
         split ? ", expected 3 over several devices" : ", expected 0 to 2 on one device");
  if (config.form < feature::Form::kAsGiven || config.form > feature::Form::kInt8)
    fail(Status::kInvalidArgument, "form of features is ", static_cast<int32_t>(config.form),
         ", expected 0 to 3");
  feature::check_form(config.form, table.dtype());
  if (!split && config.placement != RowPlacement::kCached && !config.cached.empty())
    fail(Status::kInvalidArgument, config.cached.size(),
         " rows are listed to be cached, but the placement is not that of a cache");
}

// Returns each row's position in the cache, or -1. Error for a row that does not exist or repeats.
inline base::PageVector<int32_t> make_slots(std::span<const int64_t> cached, int64_t num_rows) {
  base::PageVector<int32_t> slots;
  slots.resize_discard(num_rows);
  std::fill(slots.begin(), slots.end(), -1);
  for (size_t i = 0; i < cached.size(); ++i) {
    if (cached[i] < 0 || cached[i] >= num_rows)
      base::fail(base::Status::kRange, "row ", i, " to be cached is ", cached[i],
                 ", expected 0 to ", num_rows - 1);
    if (slots[cached[i]] >= 0)
      base::fail(base::Status::kInvalidArgument, "row ", cached[i],
                 " is listed twice among those to be cached");
    if (i >= static_cast<size_t>(INT32_MAX))
      base::fail(base::Status::kUnsupported, cached.size(),
                 " rows are listed to be cached, at most ", INT32_MAX, " can be");
    slots[cached[i]] = static_cast<int32_t>(i);
  }
  return slots;
}

// The share of a cache's rows that a device holds.
struct CachePart {
  int64_t number = 0, of = 1;
};

template <typename Queue>
void fill_store(Queue& queue, const feature::DeviceStoreConfig& config, feature::DeviceStore& store,
                const CachePart& part = {}) {
  using feature::RowPlacement;
  const bool cached = config.placement >= RowPlacement::kCached;
  const char* const remedy =
      cached ? "cache fewer rows, or keep them as bf16 or int8"
             : "open the features pinned in the host's memory, or cached with the hottest rows on "
               "the device, or keep them as bf16 or int8";
  const base::TensorView& table = config.table.view();
  const int64_t num_rows = table.rows();
  // kAsGiven is equivalent if narrowing would change nothing; the table can be used in place then.
  const bool same = (config.form == feature::Form::kF16 && table.dtype == base::DType::kF16) ||
                    (config.form == feature::Form::kBF16 && table.dtype == base::DType::kBF16);
  const feature::Form form = same ? feature::Form::kAsGiven : config.form;
  store.dtype = table.dtype;
  store.form = form;
  StoreRows& rows = store.rows;
  rows.num_rows = num_rows;
  rows.cols = table.shape.row_elements();
  rows.device_stride = feature::packed_stride(rows.cols, form, table.dtype);

  with_remedy(remedy, [&] {
    rows.counts = store.counts_memory.reserve(1, "counts of features");
    if (form == feature::Form::kInt8)
      rows.scales = store.scales_memory.reserve(num_rows, "scales of features");
  });
  queue.fill(rows.counts, 0, sizeof(TrafficCounts));
  if (config.placement != RowPlacement::kDevice) {
    store.pinned =
        PinnedTables::instance().open(queue.pinned_memory(), config.table, form, config.pool);
    rows.host = store.pinned->rows();
    rows.host_stride = store.pinned->stride();
    rows.host_bytes = store.pinned->bytes();
    if (rows.scales != nullptr)
      queue.copy(store.scales_memory.data(), store.pinned->scales().data(),
                 num_rows * static_cast<int64_t>(sizeof(float)));
    if (!cached) return;
  }
  std::span<const int64_t> own = config.cached;
  std::vector<int64_t> of_part;
  if (part.of > 1) {
    for (size_t p = static_cast<size_t>(part.number); p < own.size();
         p += static_cast<size_t>(part.of))
      of_part.push_back(own[p]);
    own = of_part;
  }
  const int64_t on_device = cached ? static_cast<int64_t>(own.size()) : num_rows;
  if (cached) {
    const base::PageVector<int32_t> slots = make_slots(config.cached, num_rows);
    rows.slots = with_remedy(
        remedy, [&] { return store.slots_memory.reserve(num_rows, "a cache's index"); });
    queue.copy(store.slots_memory.data(), slots.data(),
               num_rows * static_cast<int64_t>(sizeof(int32_t)));
    queue.synchronize();  // the lifetime of `slots` ends here
    if (on_device == 0) return;
  }
  const int64_t bytes = base::checked_mul(on_device, rows.device_stride, "features");
  rows.device = with_remedy(remedy, [&] {
    return store.rows_memory.reserve(bytes, cached ? "cached features" : "features");
  });
  if (bytes > 0)
    upload_rows(queue, config, form, own, on_device, store.rows_memory.data(),
                cached ? nullptr : store.scales_memory.data());
}

// Tells a store the addresses of all parts of its cache. `parts` must stay until the queue has been
// awaited.
template <typename Queue>
void join_parts(Queue& queue, std::span<const uint8_t* const> parts, int64_t own,
                feature::DeviceStore& store) {
  const auto count = static_cast<int64_t>(parts.size());
  store.rows.peer_counts = store.peer_counts_memory.reserve(kPeerCounts, "counts of features");
  queue.fill(store.rows.peer_counts, 0, kPeerCounts * sizeof(PeerCount));
  store.rows.parts = store.parts_memory.reserve(count, "a cache's parts");
  store.rows.num_parts = static_cast<uint32_t>(count);
  store.rows.own_part = static_cast<uint32_t>(own);
  queue.copy(store.parts_memory.data(), parts.data(),
             count * static_cast<int64_t>(sizeof(const uint8_t*)));
}

}  // namespace gnnmg::cuda
