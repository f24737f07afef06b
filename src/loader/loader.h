// The loader: samples and gathers the mini-batches of a plan in advance, and hands them out in plan
// order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "base/host_queue.h"
#include "device/table.h"
#include "feature/store.h"
#include "loader/plan.h"
#include "sample/sampler.h"

namespace gnnmg::loader {

class DeviceSource;  // loader/device_source.h
class DeviceSlot;    // loader/device_slot.h

// A mini-batch's arrays where a device can read them: in its own memory, or in pinned host memory.
struct DeviceArrays {
  std::vector<sample::BlockView> blocks;  // device pointers; the counts are readable on the host
  const int64_t* node_ids = nullptr;      // [num_nodes]
  int64_t num_nodes = 0;
  int64_t num_ids = 0;  // upper bound (exclusive) of the node ids
  // Features in one of three forms, or none: the gathered rows of the nodes; a table whose row
  // node_ids[i] belongs to node i; sparse rows.
  const void* rows = nullptr;   // [num_nodes, cols]
  const void* table = nullptr;  // [num_graph_nodes, cols]
  int64_t num_graph_nodes = 0;
  base::DType dtype = base::DType::kF32;  // type of `rows` or `table`
  base::DType given = base::DType::kF32;  // type of the original features
  int64_t cols = 0;
  int64_t stride = 0;  // elements from row to row
  const int64_t* sparse_indptr = nullptr;
  const int32_t* sparse_indices = nullptr;
  const float* sparse_values = nullptr;
  int64_t num_entries = 0;
  // Bytes copied to the device for this mini-batch, or read over the bus by a first layer that
  // reads the rows of a pinned table in place. Stores count the bytes of their gathers themselves.
  int64_t bus_bytes = 0;
  // The queue that made the arrays. A reader makes its own queue wait for it
  // (device::Table::wait()) and sets read_in, and the loader waits for that queue before it reuses
  // the memory. The reader's queue must be open, and no other thread may use it, when the last
  // reference to the mini-batch is dropped. One thread at a time reads the mini-batches of a
  // loader.
  device::Queue* made_in = nullptr;
  device::Queue* read_in = nullptr;
  // The loader's memory of the sample, and of the rows.
  std::array<std::shared_ptr<DeviceSlot>, 2> slots;
};

// One mini-batch. It belongs to a pool of the loader: after its last reference its memory is
// reused, so an exported tensor that holds a reference pins it.
struct Batch {
  uint64_t epoch = 0;
  // Number in the plan; -1: an empty one, so that this rank takes part in the step.
  int64_t number = -1;
  int64_t step = 0;
  bool last_of_step = true;  // the last of this rank's mini-batches in the step
  std::vector<int64_t> seeds;
  std::vector<int64_t> step_ids;  // seeds of all ranks in the step; the divisor of an exact loss
  sample::Sample sample;
  // Rows of sample.node_ids: one of the two, or neither if the loader does not gather.
  base::PageVector<uint8_t> features;
  base::DType feature_dtype = base::DType::kF32;
  int64_t feature_cols = 0;
  feature::SparseRows sparse_features;
  bool has_features = false, sparse = false;
  double sample_seconds = 0, gather_seconds = 0;
  // Set by a loader for a device. `sample` then has the seeds' counts and, for graphs, graph_ptr;
  // the other arrays above are undefined.
  std::unique_ptr<DeviceArrays> device;
  bool empty() const { return seeds.empty(); }
  int64_t step_seeds() const { return static_cast<int64_t>(step_ids.size()); }
};
using BatchRef = std::shared_ptr<Batch>;

struct LoaderConfig {
  PlanConfig plan;
  int32_t num_threads = 1;  // workers; 0: sample inside next()
  int32_t prefetch = 2;     // mini-batches made in advance, at least one per worker
  bool gather = true;
  base::Purpose purpose = base::Purpose::kSample;
  // Seed of the draws; the plan's own seed determines the order of the ids.
  uint64_t sample_seed = 0;
  // Without workers, threads of the caller's for next() to make this many mini-batches on:
  // calls body(i) for i from 0 to count - 1, in any order and on any of them. Not used for samplers
  // that may call back into the host, nor with a device.
  using InTurns = std::function<void(int64_t count, const std::function<void(int64_t)>& body)>;
  int32_t at_once = 1;
  InTurns in_turns = {};
  // Called before the first mini-batch by the thread that makes it; again if it throws, which is
  // the error of the mini-batch. May be empty.
  std::function<void(const base::CancelToken& cancel)> prepare = {};
};

class Loader {
 public:
  // `ids` are copied. `store` may be null (no features). The loader shares ownership of sampler and
  // store. `host` may be null if no sampler calls back into the host. Error(kRange) for an id that
  // is not a seed of the sampler's, kInvalidArgument for a plan that EpochPlan refuses, features
  // with another number of rows than the graph has nodes, or negative numbers of threads. Workers
  // count their calls to the host as this thread does, and wait for a device as long as this thread
  // would (device/wait.h), or until they are canceled. With `device`, which must have been
  // opened for the same sampler and store, mini-batches hold arrays of that device (Batch::device);
  // the source determines the origin of rows, and `config.gather` is ignored. If the device
  // samples, `config.prefetch` mini-batches are sampled per call.
  Loader(std::span<const int64_t> ids, std::shared_ptr<const sample::Sampler> sampler,
         std::shared_ptr<const feature::FeatureStore> store, const LoaderConfig& config,
         base::HostQueue* host, std::shared_ptr<const DeviceSource> device = nullptr);
  // Cancels and joins the workers. Inside a callback of the host, for which a worker may be
  // waiting, joining is deferred to the host thread's next entry.
  ~Loader();

  // Starts an epoch at a step. Mini-batches of another epoch in flight are dropped without waiting
  // for them. One thread at a time, together with next().
  void start_epoch(uint64_t epoch, int64_t first_step = 0);
  // The plan of the epoch that was started last (before the first: of epoch 0), valid until the
  // next start_epoch().
  const EpochPlan& plan() const;
  // Returns the next mini-batch of this rank; null at the end of the epoch; nullopt if the deadline
  // passes. The error of a worker is thrown here, in plan order, and again by every later call
  // until start_epoch(). A host thread waits through the host queue. Without workers the mini-batch
  // is made here, whatever the deadline.
  std::optional<BatchRef> next(const base::Deadline& deadline);
  // True if no worker is making a mini-batch. Any thread.
  bool idle() const noexcept;
  // Makes workers end soon and next() throw Error(kCancelled), until start_epoch(). Any thread.
  void cancel() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnnmg::loader
