// The table of feature/device.h, for any queue.
#pragma once

#include <memory>
#include <type_traits>

#include "cuda/feature/gather.h"
#include "cuda/feature/store.h"
#include "cuda/grid/entries.h"

namespace gnnmg::cuda {

template <typename From, typename To>
using Conversion =
    std::conditional_t<std::is_same_v<From, To>, Keep<typename From::Word>, Convert<From, To>>;

template <typename From, typename F>
void visit_floating(const feature::DeviceStore& store, base::DType out, const F& f) {
  using base::DType;
  if (out == DType::kF32) return f(Conversion<From, F32>{});
  if (out == DType::kF16) return f(Conversion<From, F16>{});
  if (out == DType::kBF16) return f(Conversion<From, BF16>{});
  base::fail(base::Status::kInvalidArgument, "features of type ", base::dtype_name(store.dtype),
             " were asked for as ", base::dtype_name(out), ", expected f32, f16 or bf16");
}

// Calls f(Convert<...>{}) or f(Keep<...>{}) for the store's format and the requested type.
template <typename F>
void visit_conversion(const feature::DeviceStore& store, base::DType out, const F& f) {
  using base::DType;
  using feature::Form;
  if (store.form == Form::kInt8) return visit_floating<Int8>(store, out, f);
  if (store.form == Form::kF16 || store.dtype == DType::kF16)
    return visit_floating<F16>(store, out, f);
  if (store.form == Form::kBF16 || store.dtype == DType::kBF16)
    return visit_floating<BF16>(store, out, f);
  if (store.dtype == DType::kF32) return visit_floating<F32>(store, out, f);
  if (out != store.dtype)
    base::fail(base::Status::kInvalidArgument, "features of type ", base::dtype_name(store.dtype),
               " were asked for as ", base::dtype_name(out), ", expected ",
               base::dtype_name(store.dtype));
  switch (base::dtype_size(store.dtype)) {
    case 1:
      return f(Keep<uint8_t>{});
    case 4:
      return f(Keep<uint32_t>{});
    default:
      return f(Keep<uint64_t>{});
  }
}

template <typename Queue>
struct FeatureEntries {
  using Handle = device::Queue*;
  using Store = feature::DeviceStore;

  // Waits until nothing writes to memory that is about to be freed.
  static void settle(Queue& queue) noexcept {
    try {
      queue.synchronize();
    } catch (const std::exception&) {  // a lost device does no work
    }
  }

  static Store* open(Handle handle, const feature::DeviceStoreConfig& config) {
    Queue& queue = queue_of<Queue>(handle);
    check_config(config, false);
    auto store = std::make_unique<Store>(queue.lasting_memory());
    try {
      fill_store(queue, config, *store);
      queue.synchronize();
    } catch (...) {
      settle(queue);
      throw;
    }
    return store.release();
  }

  static void open_split(std::span<const Handle> handles, const feature::DeviceStoreConfig& config,
                         std::span<Store*> stores) {
    check_config(config, true);
    if (handles.empty() || handles.size() != stores.size())
      base::fail(base::Status::kInvalidArgument, "a cache is split over ", handles.size(),
                 " devices, with room for ", stores.size(), " stores; expected one each");
    std::vector<std::unique_ptr<Store>> made;
    std::vector<const uint8_t*> parts;
    try {
      for (size_t k = 0; k < handles.size(); ++k) {
        Queue& queue = queue_of<Queue>(handles[k]);
        made.push_back(std::make_unique<Store>(queue.lasting_memory()));
        fill_store(queue, config, *made[k],
                   {static_cast<int64_t>(k), static_cast<int64_t>(handles.size())});
        parts.push_back(made[k]->rows.device);
      }
      for (size_t k = 0; k < handles.size(); ++k)
        join_parts(queue_of<Queue>(handles[k]), parts, static_cast<int64_t>(k), *made[k]);
      for (const Handle handle : handles) queue_of<Queue>(handle).synchronize();
    } catch (...) {
      for (const Handle handle : handles) settle(queue_of<Queue>(handle));
      throw;
    }
    for (size_t k = 0; k < made.size(); ++k) stores[k] = made[k].release();
  }

  static void close(Store* store) noexcept { delete store; }

  static feature::DeviceRows rows(const Store* store) noexcept {
    const StoreRows& rows = store->rows;
    if (rows.slots != nullptr || store->form == feature::Form::kInt8) return {};
    const base::DType dtype = store->form == feature::Form::kF16    ? base::DType::kF16
                              : store->form == feature::Form::kBF16 ? base::DType::kBF16
                                                                    : store->dtype;
    const bool on_host = rows.host != nullptr;
    return {on_host ? rows.host : rows.device, dtype,
            (on_host ? rows.host_stride : rows.device_stride) / base::dtype_size(dtype)};
  }

  static GatherIds ids_of(const feature::DeviceGather& gather) {
    return {gather.ids, gather.count, gather.max_count, gather.wide};
  }

  template <bool kClears>
  struct Launch {
    Queue& queue;
    const StoreRows& rows;
    const feature::DeviceGather& gather;
    template <typename C>
    void operator()(const C&) const {
      if constexpr (kClears)
        clear_rows<C>(queue, rows, ids_of(gather), gather.out, gather.out_stride);
      else
        gather_rows<C>(queue, rows, ids_of(gather), gather.out, gather.out_stride);
    }
  };

  template <bool kClears>
  static void launch(Handle handle, Store* store, const feature::DeviceGather& gather) {
    if (gather.out_stride < store->rows.cols)
      base::fail(base::Status::kInvalidArgument, "rows of ", store->rows.cols,
                 " features were asked for ", gather.out_stride, " apart");
    visit_conversion(*store, gather.out_type,
                     Launch<kClears>{queue_of<Queue>(handle), store->rows, gather});
  }

  static TrafficCounts counts(Queue& queue, const Store& store,
                              std::span<PeerCount> of_peers = {}) {
    TrafficCounts counts{};
    queue.copy(&counts, store.rows.counts, sizeof(counts));
    if (store.rows.parts != nullptr)
      queue.copy(of_peers.data(), store.rows.peer_counts,
                 static_cast<int64_t>(of_peers.size_bytes()));
    queue.synchronize();
    return counts;
  }

  static int64_t num_out_of_range(Handle handle, Store* store,
                                  const feature::DeviceGather& gather) {
    Queue& queue = queue_of<Queue>(handle);
    queue.fill(&store->rows.counts->out_of_range, 0, sizeof(uint64_t));
    queue.each(gather.max_count, CountOutOfRange{store->rows, ids_of(gather)});
    return static_cast<int64_t>(counts(queue, *store).out_of_range);
  }

  static feature::DeviceTraffic traffic(Handle handle, Store* store) {
    PeerCount of_peers[kPeerCounts] = {};
    const TrafficCounts found = counts(queue_of<Queue>(handle), *store, of_peers);
    feature::DeviceTraffic traffic;
    traffic.rows = static_cast<int64_t>(found.rows);
    traffic.host_rows = static_cast<int64_t>(found.host_rows);
    for (const PeerCount& count : of_peers) traffic.peer_rows += static_cast<int64_t>(count.rows);
    traffic.host_bytes = static_cast<int64_t>(found.host_lines) * kBusLine;
    return traffic;
  }

  static void reset_traffic(Handle handle, Store* store) {
    Queue& queue = queue_of<Queue>(handle);
    queue.fill(store->rows.counts, 0, sizeof(TrafficCounts));
    if (store->rows.parts != nullptr)
      queue.fill(store->rows.peer_counts, 0, kPeerCounts * sizeof(PeerCount));
  }
};

template <typename Queue>
const feature::DeviceFeatures& features_table() {
  using Entries = FeatureEntries<Queue>;
  static constexpr feature::DeviceFeatures table = {Entries::open,
                                                    Entries::open_split,
                                                    Entries::close,
                                                    Entries::rows,
                                                    Entries::template launch<false>,
                                                    Entries::template launch<true>,
                                                    Entries::num_out_of_range,
                                                    Entries::traffic,
                                                    Entries::reset_traffic};
  return table;
}

}  // namespace gnnmg::cuda
