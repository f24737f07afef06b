// The memory of one mini-batch of captured steps, and the work over it: sample, gather of its rows,
// forward and backward pass. Passes have one of a few shapes (shape.h). Everything else that
// differs from mini-batch to mini-batch is read from memory at fixed addresses.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "device/owners.h"
#include "feature/device.h"
#include "loader/device_source_parts.h"
#include "nn/loss.h"
#include "nn/model/model.h"
#include "sample/device.h"
#include "train/job/job.h"
#include "train/step/captured/shape.h"

namespace gnnmg::train {

// The largest number of layers with dropout.
constexpr int64_t kMostDropoutKeys = 64;

// The common parts of a rank's slots.
struct CapturedParts {
  const Job& job;
  nn::Model& model;
  const loader::DeviceSource::Parts& source;
  device::Queue* sampling;
  device::Queue* gathering;
  int64_t max_seeds = 1;
  at::Tensor counts;  // f64 [2] on the device: passes add the sum of losses and the right answers
};

class CapturedSlot {
 public:
  // Takes all memory but that of the rows. Error(kNoMemory).
  explicit CapturedSlot(const CapturedParts& parts);
  ~CapturedSlot();  // the queues must be past its work
  CapturedSlot(const CapturedSlot&) = delete;
  CapturedSlot& operator=(const CapturedSlot&) = delete;

  // Writes seeds, labels and keys to the memory that put_sample() copies; the copy of the last
  // mini-batch must be over. Error(kRange) for a label that is no class.
  void write(std::span<const int64_t> seeds, const sample::BatchKey& sample_key,
             const nn::DropoutKey& dropout_key);
  // Figures of the mini-batch that was written last.
  double weight() const { return weight_; }
  int64_t labeled() const { return labeled_; }
  int64_t bytes() const { return bytes_; }  // copied by put_sample()

  void put_sample();  // puts the sample into the sampling queue
  // Puts the copy of the sample's counts into the same queue. counts() reads them once it is over.
  void put_counts();
  PassCounts counts() const;
  // The bounds of all mini-batches. Call it after the first put_sample().
  PassShape bound() const;
  // Takes the memory of the rows. Call it after the first put_sample(). Error(kNoMemory).
  void reserve_rows();
  bool gathers() const;
  void put_gather();  // puts the gather of the rows into the gathering queue
  // Puts the pass into the model's queue. It adds to the model's gradients and to the counts. The
  // shape must hold the mini-batch.
  void put_pass(const PassShape& shape);

 private:
  template <typename T>
  T* in(uint8_t* memory, int64_t offset) const {
    return reinterpret_cast<T*>(memory + offset);
  }
  bool classes() const { return job_.dataset->task == data::Task::kMulticlass; }
  void write_labels(uint8_t* to, const nn::Targets& targets, int64_t count);
  at::Tensor view(const void* data, at::IntArrayRef sizes, at::ScalarType type,
                  int64_t stride = 0) const;
  feature::DeviceGather rows_of(int64_t most) const;
  void add_rows(nn::RowInput& input, int64_t num_nodes) const;
  at::Tensor add_counts(const at::Tensor& logits) const;  // returns the loss

  const CapturedParts parts_;
  const Job& job_;
  nn::Model& model_;
  const nn::Device& device_;
  const loader::DeviceSource::Parts& source_;
  const int32_t num_hops_;
  const int64_t width_;  // labels of a seed
  device::Buffer host_, there_, rows_;
  int64_t seeds_ = 0, labels_ = 0, weights_ = 0, keys_ = 0, dropout_ = 0, num_seeds_ = 0,
          bytes_ = 0;  // offsets, and the size of the copy; the counts follow it
  double weight_ = 0;
  int64_t labeled_ = 0;
  nn::DropoutKeys dropout_keys_{nullptr, 0};
  sample::DeviceSampler* sampler_ = nullptr;
  const sample::DeviceSample* sample_ = nullptr;
  base::DType row_type_ = base::DType::kF32;
  int64_t row_stride_ = 0;
};

}  // namespace gnnmg::train
