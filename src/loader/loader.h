// The loader: samples and gathers the mini-batches of a plan ahead of the one who asks, and hands
// them out in plan order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "base/device.h"
#include "base/host_queue.h"
#include "feature/store.h"
#include "loader/plan.h"
#include "sample/sampler.h"

namespace gnnmg::loader {

class DeviceSource;  // loader/device_source.h
class DeviceSlot;    // loader/device_slot.h

// A mini-batch's arrays where a device reads them: in its own memory, or in the host's, pinned.
struct DeviceArrays {
  std::vector<sample::BlockView> blocks;  // the device's pointers; counts are the host's to read
  const int64_t* node_ids = nullptr;      // [num_nodes]
  int64_t num_nodes = 0;
  int64_t num_ids = 0;  // node ids are below
  // One of three, or none where the loader has no features: rows of the nodes, gathered; a table
  // whose row node_ids[i] is that of node i; sparse rows.
  const void* rows = nullptr;   // [num_nodes, cols]
  const void* table = nullptr;  // [num_graph_nodes, cols]
  int64_t num_graph_nodes = 0;
  base::DType dtype = base::DType::kF32;  // of `rows` or `table`
  base::DType given = base::DType::kF32;  // of the features that they were made of
  int64_t cols = 0;
  int64_t stride = 0;  // elements from row to row
  const int64_t* sparse_indptr = nullptr;
  const int32_t* sparse_indices = nullptr;
  const float* sparse_values = nullptr;
  int64_t num_entries = 0;
  // That were copied for it, or that a first layer which reads the rows of a pinned table in place
  // asks for. What gathers read, their store counts.
  int64_t bus_bytes = 0;
  // Where they were made: who reads them has his queue wait for this one (DeviceTable::wait()), and
  // names his own here, for which the loader waits before it uses the memory again. That queue is
  // open, and no other thread works with it, when the last reference to the mini-batch goes. One
  // thread at a time reads the mini-batches of a loader.
  base::DeviceQueue* made_in = nullptr;
  base::DeviceQueue* read_in = nullptr;
  // What the sample lies in, and the rows: the loader's own.
  std::array<std::shared_ptr<DeviceSlot>, 2> slots;
};

// One mini-batch. Lives in a pool of the loader's: when the last reference goes, its memory is used
// for a later one, so an exported tensor that holds a reference pins it.
struct Batch {
  uint64_t epoch = 0;
  int64_t number = -1;  // in the plan; -1: empty, made so that this rank takes part in the step
  int64_t step = 0;
  bool last_of_step = true;  // of this rank's mini-batches of the step
  std::vector<int64_t> seeds;
  std::vector<int64_t>
      step_ids;  // seeds of all ranks in the step, by which an exact loss is divided
  sample::Sample sample;
  // Rows of sample.node_ids; one of the two, or neither when the loader does not gather.
  base::PageVector<uint8_t> features;
  base::DType feature_dtype = base::DType::kF32;
  int64_t feature_cols = 0;
  feature::SparseRows sparse_features;
  bool has_features = false, sparse = false;
  double sample_seconds = 0, gather_seconds = 0;
  // Of a loader for a device: what it reads. `sample` then has the seeds' counts and, of graphs,
  // graph_ptr, and nothing else is promised of the arrays above.
  std::unique_ptr<DeviceArrays> device;
  bool empty() const { return seeds.empty(); }
  int64_t step_seeds() const { return static_cast<int64_t>(step_ids.size()); }
};
using BatchRef = std::shared_ptr<Batch>;

struct LoaderConfig {
  PlanConfig plan;
  int32_t num_threads = 1;  // workers; 0: sample inside next()
  int32_t prefetch = 2;     // mini-batches made ahead, at least one a worker
  bool gather = true;
  base::Purpose purpose = base::Purpose::kSample;
  uint64_t sample_seed = 0;  // seed of the draws; the plan's own seed orders the ids
};

class Loader {
 public:
  // `ids` are copied. `store` may be null (no features); sampler and store are shared and outlive
  // the loader through their references. `host` may be null when no sampler calls back into the
  // host. Error(kRange) for an id that is no seed of the sampler's, kInvalidArgument for a plan
  // that EpochPlan refuses, features that have another number of rows than the graph has nodes, or
  // negative numbers of threads. Workers count their calls of the host where this thread does, and
  // wait for a device as long as this thread would (base/device_wait.h), or until they are
  // cancelled. With `device`, opened for the same sampler and store, mini-batches hold arrays of
  // that device (Batch::device), of which the source says where rows come from: `config.gather` is
  // not looked at. Where the device samples, `config.prefetch` mini-batches are sampled at once.
  Loader(std::span<const int64_t> ids, std::shared_ptr<const sample::Sampler> sampler,
         std::shared_ptr<const feature::FeatureStore> store, const LoaderConfig& config,
         base::HostQueue* host, std::shared_ptr<const DeviceSource> device = nullptr);
  // Cancels and joins. Inside a callback of the host, for which a worker may be waiting, the
  // joining is left to the host thread's next entry.
  ~Loader();

  // Starts an epoch at a step; what is still in flight of another one is dropped, without waiting
  // for it. One thread at a time, as next().
  void start_epoch(uint64_t epoch, int64_t first_step = 0);
  // Of the epoch that was started last (before the first: of epoch 0); until the next start_epoch.
  const EpochPlan& plan() const;
  // The next mini-batch of this rank; null when the epoch has ended; nullopt when the deadline
  // passed. A failure of a worker is thrown here, in plan order, and again by every later call
  // until start_epoch. Waits through the host queue when the calling thread is a host thread, else
  // plainly. Without workers the mini-batch is made here, whatever the deadline.
  std::optional<BatchRef> next(const base::Deadline& deadline);
  // No worker makes a mini-batch now. Any thread.
  bool idle() const noexcept;
  // Any thread: workers end soon and next() throws Error(kCancelled), until start_epoch.
  void cancel() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnnmg::loader
