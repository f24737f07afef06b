// The device of a rank: its queue for the rank's thread, its memory, and its state after a failure.
#pragma once

#include <memory>
#include <optional>

#include "loader/device_source.h"
#include "nn/model/model.h"
#include "nn/torch/device.h"
#include "train/job/job.h"
#include "train/memory/plan.h"
#include "train/ranks/sends.h"

namespace gnnmg::train {

// Make and use it on the rank's thread, whose LibTorch work it puts into the device's queue.
class RankDevice {
 public:
  // `number`: the rank's, within the process. Errors of the device table.
  RankDevice(const Job& job, int number);
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  const nn::Device& get() const { return device_; }
  Sends& sends() const { return *sends_; }
  // "GPU 0 (NVIDIA H100 80GB HBM3 at 0000:19:00.0)"
  const std::string& name() const { return name_; }
  // Opens graph and features there, for mini-batches of the job's training part, and reserves
  // memory of LibTorch's allocator for the rest of the training, by its plan (memory/plan.h). Model
  // and optimizer are there already. `num_gpus`: of all ranks. Error(kNoMemory).
  std::shared_ptr<const loader::DeviceSource> open_source(const loader::LoaderConfig& training,
                                                          int num_gpus);
  // After open_source(): one line that says why the memory does not suffice for captured steps;
  // empty if it does, or if that is unknown.
  std::string why_no_capture() const;
  // Reserves memory of LibTorch's allocator for evaluations again. c10::OutOfMemoryError.
  void set_aside_for_evaluations() const;
  // The reason if the device is lost.
  std::optional<base::Error> lost() const noexcept;

 private:
  void stay_beside(const std::string& bus_id);
  void reserve(const MemoryPlan& plan);
  void set_aside(int64_t bytes) const;

  const Job& job_;
  nn::Device device_;
  std::unique_ptr<Sends> sends_;
  std::string name_;
  MemoryPlan plan_;
};

// Returns "GPU 0 (NVIDIA H100 80GB HBM3 at 0000:19:00.0)". Error(kUnsupported) if the library has
// no kernels for it.
std::string usable_device(const device::Table& table, int index);

// Returns LibTorch's free memory to the devices, for loaders and others. It waits for all devices,
// so no rank of this process may be at work on one.
void empty_cache(const device::Table& table) noexcept;

// Makes the device's queue wait for a mini-batch that a loader for the device has made.
void receive(const loader::Batch& batch, const nn::Device& device);
// Receives a mini-batch, and returns the input of a model on the device. `sparse` is filled in if
// the rows are sparse. Keep it and the mini-batch until the pass is over.
nn::ForwardArgs args_on(const loader::Batch& batch, const nn::Device& device,
                        nn::SparseView& sparse);
// The same for a mini-batch that was received, or is made already.
nn::ForwardArgs made_args_on(const loader::Batch& batch, const nn::Device& device,
                             nn::SparseView& sparse);

}  // namespace gnnmg::train
