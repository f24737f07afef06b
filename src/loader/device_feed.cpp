#include "loader/device_feed.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "loader/device_source_parts.h"

namespace gnnmg::loader {
namespace {

// Arrays one after another in one block of memory, each aligned to a cache line.
class Layout {
 public:
  // Returns the offset of an array of `count` elements.
  template <typename T>
  int64_t add(int64_t count) {
    const int64_t at = bytes_;
    bytes_ += (count * static_cast<int64_t>(sizeof(T)) + 127) / 128 * 128;
    return at;
  }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

size_t store_of(const sample::Sample& sample, const sample::BlockView& block) {
  for (size_t i = 0; i < sample.stores.size(); ++i)
    if (sample.stores[i].indptr.data() == block.indptr) return i;
  base::fail(base::Status::kInternal, "a block of a sample lies in none of its stores");
}

struct StorePlaces {
  int64_t indptr = 0, indices = 0, edge_ids = 0, out_indptr = 0, out_targets = 0;
};

}  // namespace

int32_t batches_of_call(const LoaderConfig& config, const sample::NeighborConfig& law,
                        int64_t max_seeds) {
  double nodes = static_cast<double>(max_seeds);
  for (const int64_t fanout : law.fanouts)
    nodes *= 1 + static_cast<double>(std::max<int64_t>(fanout, 0));
  const double most = std::numeric_limits<int32_t>::max() / nodes;
  return static_cast<int32_t>(
      std::clamp<double>(std::max(config.prefetch, 1), 1, std::max(most, 1.0)));
}

DeviceFeed::DeviceFeed(std::shared_ptr<const DeviceSource> source, const LoaderConfig& config,
                       int64_t max_seeds)
    : source_(std::move(source)) {
  const DeviceSource::Parts& parts = source_->parts();
  if (parts.topology == nullptr) return;
  DeviceSamplingConfig sampling;
  sampling.table = parts.config.table;
  sampling.device = parts.config.device;
  sampling.topology = parts.topology;
  sampling.sampler = parts.sampler;
  sampling.keeps = source_;
  sampling.max_seeds = std::max<int64_t>(max_seeds, 1);
  sampling.max_batches =
      batches_of_call(config, *parts.sampler->neighbors()->config, sampling.max_seeds);
  sampling.seed = config.sample_seed;
  sampling.purpose = config.purpose;
  sampling_.emplace(sampling);
}

std::shared_ptr<ArraySlot> DeviceFeed::take(SlotPool<ArraySlot>& pool, int max_multiprocessors) {
  const DeviceSourceConfig& config = source_->parts().config;
  const std::lock_guard lock(mutex_);
  return pool.take([&] {
    return std::make_shared<ArraySlot>(*config.table, config.device, max_multiprocessors, source_);
  });
}

void DeviceFeed::copy_sample(Batch& batch) {
  const sample::Sample& from = batch.sample;
  DeviceArrays& out = *batch.device;
  const std::shared_ptr<ArraySlot> slot = take(samples_, 0);
  out.slots[0] = slot;
  out.made_in = slot->queue();

  // Layers may share a store and use a part of it each.
  Layout layout;
  const int64_t node_ids = layout.add<int64_t>(from.num_nodes());
  std::vector<StorePlaces> places(from.stores.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const sample::BlockStore& store = from.stores[i];
    places[i] = {
        layout.add<int32_t>(store.indptr.size()), layout.add<int32_t>(store.indices.size()),
        layout.add<int64_t>(store.edge_ids.size()), layout.add<int32_t>(store.out_indptr.size()),
        layout.add<int32_t>(store.out_targets.size())};
  }
  uint8_t* const staging = slot->reserve_staging(layout.bytes());
  uint8_t* const memory = slot->reserve(layout.bytes());
  const auto put = [staging](int64_t at, const auto& values) {
    if (values.size() > 0)
      std::memcpy(staging + at, values.data(), values.size() * sizeof(*values.data()));
  };
  put(node_ids, from.node_ids);
  for (size_t i = 0; i < places.size(); ++i) {
    const sample::BlockStore& store = from.stores[i];
    put(places[i].indptr, store.indptr);
    put(places[i].indices, store.indices);
    put(places[i].edge_ids, store.edge_ids);
    put(places[i].out_indptr, store.out_indptr);
    put(places[i].out_targets, store.out_targets);
  }
  source_->parts().config.table->copy(slot->queue(), memory, staging, layout.bytes());
  out.bus_bytes += layout.bytes();

  out.node_ids = reinterpret_cast<const int64_t*>(memory + node_ids);
  out.num_nodes = from.num_nodes();
  out.blocks = from.blocks;
  for (sample::BlockView& block : out.blocks) {
    const size_t i = store_of(from, block);
    const auto i32 = [memory](int64_t at) { return reinterpret_cast<const int32_t*>(memory + at); };
    block.indptr = i32(places[i].indptr);
    block.indices = i32(places[i].indices);
    if (block.edge_ids)
      block.edge_ids = reinterpret_cast<const int64_t*>(memory + places[i].edge_ids);
    if (block.out_indptr) block.out_indptr = i32(places[i].out_indptr);
    if (block.out_targets) block.out_targets = i32(places[i].out_targets);
  }
}

void DeviceFeed::add_rows(Batch& batch, const base::CancelToken& cancel) {
  const DeviceSource::Parts& parts = source_->parts();
  DeviceArrays& out = *batch.device;
  out.rows = out.table = nullptr;
  out.sparse_indptr = nullptr;
  out.sparse_indices = nullptr;
  out.sparse_values = nullptr;
  out.num_entries = out.num_graph_nodes = out.cols = out.stride = 0;
  out.num_ids = parts.sampler->num_nodes();
  if (parts.store == nullptr) return;
  out.cols = parts.store->num_cols();
  out.given = parts.store->dtype();
  if (parts.table == nullptr) return copy_rows(batch, cancel);
  const feature::DeviceRows& rows = parts.table->rows();
  if (parts.gathers()) return gather(batch);
  out.table = rows.data;
  out.dtype = rows.dtype;
  out.stride = rows.stride;
  out.num_graph_nodes = parts.store->num_rows();
  if (parts.features != FeaturePlacement::kPinned || out.blocks.empty()) return;
  out.bus_bytes += (out.blocks[0].num_edges + out.blocks[0].num_targets) * out.stride *
                   base::dtype_size(out.dtype);
}

void DeviceFeed::gather(Batch& batch) {
  const DeviceSource::Parts& parts = source_->parts();
  const device::Table& table = *parts.config.table;
  DeviceArrays& out = *batch.device;
  const std::shared_ptr<ArraySlot> slot = take(rows_, parts.gather_multiprocessors);
  out.slots[1] = slot;
  out.made_in = slot->queue();
  const base::DType given = parts.store->dtype();
  const bool converts = given == base::DType::kF32 || given == base::DType::kF16 ||
                        given == base::DType::kBF16 || parts.config.form != feature::Form::kAsGiven;
  out.dtype = converts ? parts.config.row_type : given;
  const int64_t size = base::dtype_size(out.dtype);
  const int64_t a_line = feature::kRowAlignment / size;
  out.stride = (out.cols + a_line - 1) / a_line * a_line;
  uint8_t* const rows = slot->reserve(
      base::checked_mul(base::checked_mul(out.num_nodes, out.stride, "rows of a mini-batch"), size,
                        "rows of a mini-batch"));
  out.rows = rows;
  out.slots[0]->precede(slot->queue());
  if (out.num_nodes == 0) return;
  table.of<feature::DeviceFeatures>()->gather(slot->queue(), parts.table->store(),
                                              {.ids = out.node_ids,
                                               .max_count = out.num_nodes,
                                               .out = rows,
                                               .out_type = out.dtype,
                                               .out_stride = out.stride});
}

// Copies rows that only the host can read. If the device made the sample, its ids are read back
// first.
void DeviceFeed::copy_rows(Batch& batch, const base::CancelToken& cancel) {
  const DeviceSource::Parts& parts = source_->parts();
  DeviceArrays& out = *batch.device;
  const std::shared_ptr<ArraySlot> slot = take(rows_, 0);
  out.slots[1] = slot;
  base::PageVector<int64_t>& ids = batch.sample.node_ids;
  if (samples()) {
    const int64_t bytes = out.num_nodes * static_cast<int64_t>(sizeof(int64_t));
    uint8_t* const staging = slot->reserve_staging(bytes);
    out.slots[0]->read(staging, out.node_ids, bytes);
    out.bus_bytes += bytes;
    ids.resize_discard(out.num_nodes);
    if (bytes > 0) std::memcpy(ids.data(), staging, static_cast<size_t>(bytes));
  }
  out.dtype = parts.store->dtype();
  out.made_in = slot->queue();
  if (parts.store->sparse())
    copy_sparse(ids.span(), cancel, batch.sparse_features, *slot, out);
  else
    copy_dense(ids.span(), cancel, *slot, out);
  // A queue that waits for the rows waits for the sample too.
  out.slots[0]->precede(slot->queue());
}

void DeviceFeed::copy_dense(std::span<const int64_t> ids, const base::CancelToken& cancel,
                            ArraySlot& slot, DeviceArrays& out) {
  const DeviceSource::Parts& parts = source_->parts();
  out.stride = out.cols;
  const int64_t bytes =
      base::checked_mul(static_cast<int64_t>(ids.size()), out.cols * base::dtype_size(out.dtype),
                        "rows of a mini-batch");
  uint8_t* const staging = slot.reserve_staging(bytes);
  uint8_t* const memory = slot.reserve(bytes);
  parts.store->gather(ids, staging, nullptr, cancel);
  if (bytes > 0) parts.config.table->copy(slot.queue(), memory, staging, bytes);
  out.bus_bytes += bytes;
  out.rows = memory;
}

void DeviceFeed::copy_sparse(std::span<const int64_t> ids, const base::CancelToken& cancel,
                             feature::SparseRows& rows, ArraySlot& slot, DeviceArrays& out) {
  const DeviceSource::Parts& parts = source_->parts();
  parts.store->gather_sparse(ids, rows, nullptr, cancel);
  Layout layout;
  const int64_t indptr = layout.add<int64_t>(rows.indptr.size());
  const int64_t indices = layout.add<int32_t>(rows.indices.size());
  const int64_t values = layout.add<float>(rows.values.size());
  uint8_t* const staging = slot.reserve_staging(layout.bytes());
  uint8_t* const memory = slot.reserve(layout.bytes());
  const auto put = [staging](int64_t at, const auto& of) {
    if (of.size() > 0) std::memcpy(staging + at, of.data(), of.size() * sizeof(*of.data()));
  };
  put(indptr, rows.indptr);
  put(indices, rows.indices);
  put(values, rows.values);
  parts.config.table->copy(slot.queue(), memory, staging, layout.bytes());
  out.bus_bytes += layout.bytes();
  out.sparse_indptr = reinterpret_cast<const int64_t*>(memory + indptr);
  out.sparse_indices = reinterpret_cast<const int32_t*>(memory + indices);
  out.sparse_values = reinterpret_cast<const float*>(memory + values);
  out.num_entries = rows.values.size();
}

}  // namespace gnnmg::loader
