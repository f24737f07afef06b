#include "loader/device_sampling.h"

#include <algorithm>
#include <array>
#include <optional>

#include "device/launch_order.h"
#include "device/wait.h"
#include "sample/device_shape.h"

namespace gnnmg::loader {

using base::fail;
using base::Status;

SampleSlot::SampleSlot(const DeviceSamplingConfig& config)
    : DeviceSlot(*config.table, config.device, 0),
      config_(config),
      law_(*config.sampler->neighbors()),
      max_batches_(config.max_batches),
      input_(table_, device_, device::Placement::kPinned),
      counts_(table_, device_, device::Placement::kPinned) {
  while (true) {
    try {
      create();
      return;
    } catch (const base::Error& error) {
      if (error.status() != Status::kNoMemory) throw;
      if (max_batches_ == 1)
        fail(Status::kNoMemory, error.what(), "; for mini-batches of ", config_.max_seeds,
             " seeds that are sampled on the device, in addition to prefetched ones (prefetch)");
    }
    max_batches_ = (max_batches_ + 1) / 2;
  }
}

void SampleSlot::create() {
  const device::MemoryCall call;
  const int64_t layers = num_layers();
  input_.reserve(max_batches_ * (config_.max_seeds * 8 + layers * 8 + 4));
  counts_.reserve(8 + max_batches_ * (2 * layers + 1) * 4);
  sampler_ = table_.of<sample::DeviceSampling>()->create(
      queue(), config_.topology->graph(), *law_.config, config_.max_seeds, max_batches_);
  const sample::SampleShape shape = sample::shape_of(
      *law_.config, law_.csc->num_targets, law_.csc->num_edges(), config_.max_seeds, max_batches_);
  bounded_ = shape.num_bounded == layers;
}

SampleSlot::~SampleSlot() {
  finish();
  const device::MemoryCall call;
  table_.of<sample::DeviceSampling>()->free(sampler_);
}

void SampleSlot::sample(const EpochPlan& plan, std::span<const Item> items) {
  const int32_t layers = num_layers(), count = static_cast<int32_t>(items.size());
  auto* const seeds = reinterpret_cast<int64_t*>(input_.data());
  auto* const keys = reinterpret_cast<uint32_t*>(seeds + count * config_.max_seeds);
  auto* const num_seeds = reinterpret_cast<int32_t*>(keys + int64_t{count} * layers * 2);
  for (int32_t m = 0; m < count; ++m) {
    const std::span<const int64_t> ids = plan.batch(items[m].number);
    if (static_cast<int64_t>(ids.size()) > config_.max_seeds)
      fail(Status::kInternal, "mini-batch ", items[m].number, " has ", ids.size(),
           " seeds, expected at most ", config_.max_seeds);
    std::copy(ids.begin(), ids.end(), seeds + m * config_.max_seeds);
    num_seeds[m] = static_cast<int32_t>(ids.size());
    const sample::BatchKey key{config_.seed, config_.purpose, plan.epoch(),
                               static_cast<uint64_t>(items[m].number)};
    for (int32_t hop = 0; hop < layers; ++hop) {
      const base::Key of_hop = sample::hop_key(*law_.config, key, hop, law_.edge_type);
      std::copy_n(of_hop.data(), 2, keys + (int64_t{m} * layers + hop) * 2);
    }
  }
  put({.num_batches = count,
       .seeds = seeds,
       .seed_stride = config_.max_seeds,
       .num_seeds = num_seeds,
       .keys = keys,
       .on_host = true});
  auto* const bad_seed = reinterpret_cast<uint64_t*>(counts_.data());
  auto* const hop_ends = reinterpret_cast<int32_t*>(bad_seed + 1);
  int32_t* const num_edges = hop_ends + int64_t{count} * (layers + 1);
  table_.copy(queue(), bad_seed, sample_.bad_seed, 8);
  table_.copy(queue(), hop_ends, sample_.hop_ends, int64_t{count} * (layers + 1) * 4);
  table_.copy(queue(), num_edges, sample_.num_edges, int64_t{count} * layers * 4);
}

// The largest call so far allocates room for scans, and measured hops allocate room for their
// edges.
void SampleSlot::put(const sample::DeviceBatches& batches) {
  std::optional<device::MemoryCall> call;
  if (batches.num_batches > room_for_) call.emplace();
  sample_ = *table_.of<sample::DeviceSampling>()->sample(sampler_, batches);
  if (bounded_) room_for_ = std::max(room_for_, batches.num_batches);
}

void SampleSlot::wait() {
  device::wait_for(table_, device_, queue());
  const uint64_t bad_seed = *reinterpret_cast<const uint64_t*>(counts_.data());
  if (bad_seed != ~uint64_t{0})
    fail(Status::kInternal, "the device found seed ", bad_seed & UINT32_MAX, " of mini-batch ",
         bad_seed >> 32, " of a call outside the graph");
}

void SampleSlot::describe(int32_t m, DeviceArrays& out, sample::Sample& counts) const {
  const int32_t layers = num_layers();
  const auto* const ends = reinterpret_cast<const int32_t*>(counts_.data() + 8);
  const int32_t* const edges =
      ends + int64_t{sample_.num_batches} * (layers + 1) + int64_t{m} * layers;
  const int32_t* const hop_ends = ends + int64_t{m} * (layers + 1);
  out.node_ids = sample_.node_ids + m * sample_.node_stride;
  out.num_nodes = hop_ends[layers];
  out.blocks.resize(layers);
  for (int32_t layer = 0; layer < layers; ++layer) {
    const sample::DeviceLayer& from = sample_.layers[layer];
    sample::BlockView& block = out.blocks[layer];
    block.num_targets = hop_ends[from.hop];
    block.num_sources = hop_ends[from.hop + 1];
    block.num_edges = edges[layer];
    block.indptr = from.indptr + m * from.indptr_stride;
    block.indices = from.indices + m * from.edge_stride;
    block.edge_ids = from.edge_ids ? from.edge_ids + m * from.edge_stride : nullptr;
    block.out_indptr = from.out_indptr ? from.out_indptr + m * from.out_indptr_stride : nullptr;
    block.out_targets = from.out_targets ? from.out_targets + m * from.edge_stride : nullptr;
  }
  counts.num_seeds = hop_ends[0];
  counts.hop_ends.assign(hop_ends, hop_ends + layers + 1);
  counts.node_ids.clear();
  counts.graph_ptr.clear();
  counts.blocks.clear();
}

DeviceSampling::DeviceSampling(const DeviceSamplingConfig& config) : config_(config) {}

void DeviceSampling::sample(const EpochPlan& plan, uint64_t epoch, const Item& first,
                            const Item& item, const base::CancelToken& cancel, Batch& batch) {
  const std::lock_guard lock(mutex_);
  cancel.check("sampling");  // no epoch is newer than this one after the check
  if (epoch != epoch_) {
    calls_.clear();
    next_ = first;
    epoch_ = epoch;
    no_room_ahead_ = false;
  }
  Call* call = call_of(item.place);
  while (call == nullptr) {
    launch(plan);
    call = call_of(item.place);
  }
  if (!call->waited) call->slot->wait();
  call->waited = true;
  call->slot->describe(static_cast<int32_t>(item.place - call->first), *batch.device, batch.sample);
  call->slot->hold(1);
  batch.device->slots[0] = call->slot;
  batch.device->made_in = call->slot->queue();
  ++call->taken;
  launch_ahead(plan);
  if (call->taken == call->count)
    std::erase_if(calls_, [&](const auto& other) { return other.get() == call; });
}

DeviceSampling::Call* DeviceSampling::call_of(int64_t place) {
  for (const auto& call : calls_)
    if (place >= call->first && place < call->first + call->count) return call.get();
  return nullptr;
}

void DeviceSampling::launch(const EpochPlan& plan) {
  auto call =
      std::make_unique<Call>(pool_.take([&] { return std::make_shared<SampleSlot>(config_); }));
  std::vector<Item> items;
  Item item = next_;
  for (; item.step < plan.num_steps() &&
         static_cast<int32_t>(items.size()) < call->slot->max_batches();
       item = item_after(plan, item))
    items.push_back(item);
  call->first = next_.place;
  call->count = static_cast<int64_t>(items.size());
  call->slot->sample(plan, items);
  calls_.push_back(std::move(call));
  next_ = item;
}

// Launches one call beyond the newest one that is read, into free memory or, as the second of two
// calls, new memory. An error here is not reported: the launch is repeated when its first
// mini-batch is requested, and fails again.
void DeviceSampling::launch_ahead(const EpochPlan& plan) noexcept {
  if (next_.step >= plan.num_steps() || calls_.back()->taken == 0) return;
  if (!pool_.has_free() && (pool_.size() >= 2 || no_room_ahead_)) return;
  try {
    launch(plan);
  } catch (...) {
    no_room_ahead_ = true;
  }
}

}  // namespace gnnmg::loader
