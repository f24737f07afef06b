// The device of a rank that has one: its queue, which the rank's thread works in, and what is found
// out about it when something fails.
#pragma once

#include <memory>
#include <optional>

#include "loader/device_source.h"
#include "nn/device.h"
#include "nn/model.h"
#include "train/job/job.h"
#include "train/memory/plan.h"
#include "train/ranks/sends.h"

namespace gnnmg::train {

// Made and used on the rank's thread, which it makes LibTorch's for the device.
class RankDevice {
 public:
  // `number`: of the rank within the process. Errors as those of the device table.
  RankDevice(const Job& job, int number);
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  const nn::Device& get() const { return device_; }
  Sends& sends() const { return *sends_; }
  // "GPU 0 (NVIDIA H100 80GB HBM3 at 0000:19:00.0)"
  const std::string& name() const { return name_; }
  // Graph and features there, for mini-batches of the job's training part, and room for the rest of
  // the training, by its plan (memory/plan.h), which LibTorch's allocator has from here on. The
  // model and its optimizer, one of `num_gpus`, are there. Error(kNoMemory) where it cannot have.
  std::shared_ptr<const loader::DeviceSource> open_source(const loader::LoaderConfig& training,
                                                          int num_gpus);
  // Why captured steps have no room beside the rest, one line; empty: they have, or nobody can
  // tell. Behind open_source().
  std::string why_no_capture() const;
  // Once more what LibTorch's allocator has for evaluations. c10::OutOfMemoryError.
  void set_aside_for_evaluations() const;
  // Why it works no more; nothing where it does.
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

// "GPU 0 (NVIDIA H100 80GB HBM3 at 0000:19:00.0)". Error(kUnsupported) where the library has no
// kernels for it.
std::string usable_device(const base::DeviceTable& table, int index);

// What LibTorch has freed goes back to the devices, where loaders and others find it. It waits for
// all devices, so no rank of this process is at work on one.
void empty_cache(const base::DeviceTable& table) noexcept;

// What comes into the device's queue from here on finds the mini-batch, of a loader for it, made,
// and may read it.
void receive(const loader::Batch& batch, const nn::Device& device);
// A mini-batch of a loader for the device as a model there takes it, behind what has made it.
// `sparse` is written where the rows are sparse, and has to stay with the mini-batch until the pass
// is over.
nn::ForwardArgs args_on(const loader::Batch& batch, const nn::Device& device,
                        nn::SparseView& sparse);
// The same of one that was received, or whose arrays are made or precede the device's queue.
nn::ForwardArgs made_args_on(const loader::Batch& batch, const nn::Device& device,
                             nn::SparseView& sparse);

}  // namespace gnnmg::train
