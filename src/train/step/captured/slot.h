// The memory of one mini-batch of captured steps, and what is put into queues over it: its sample,
// the gather of its rows, forward and backward pass. Passes have one of a few shapes
// (shape.h), and all else that differs from mini-batch to mini-batch is read from memory
// at fixed addresses.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "feature/device.h"
#include "loader/device_memory.h"
#include "loader/device_source_parts.h"
#include "nn/loss.h"
#include "nn/model.h"
#include "sample/device.h"
#include "train/job/job.h"
#include "train/step/captured/shape.h"

namespace gnnmg::train {

// Layers whose dropout may have keys of their own.
constexpr int64_t kMostDropoutKeys = 64;

// What the slots of a rank have in common.
struct CapturedParts {
  const Job& job;
  nn::Model& model;
  const loader::DeviceSource::Parts& source;
  base::DeviceQueue* sampling;  // queues of their own
  base::DeviceQueue* gathering;
  int64_t max_seeds = 1;
  at::Tensor counts;  // f64 [2] on the device: passes add the sum of losses and the right answers
};

class CapturedSlot {
 public:
  // Takes all memory but that of the rows. Error(kNoMemory).
  explicit CapturedSlot(const CapturedParts& parts);
  ~CapturedSlot();  // nothing is under way
  CapturedSlot(const CapturedSlot&) = delete;
  CapturedSlot& operator=(const CapturedSlot&) = delete;

  // What the host knows of a mini-batch goes to memory that put_sample() copies from; what was
  // written before has been copied. Error(kRange) for a label that is no class.
  void write(std::span<const int64_t> seeds, const sample::BatchKey& sample_key,
             const nn::DropoutKey& dropout_key);
  // Of what was written.
  double weight() const { return weight_; }
  int64_t labelled() const { return labelled_; }
  int64_t bytes() const { return bytes_; }  // that put_sample() copies

  void put_sample();  // into the sampling queue
  // Behind it, into the same queue: what counts() reads when that is over.
  void put_counts();
  PassCounts counts() const;
  PassShape bound() const;  // of any mini-batch, behind the first put_sample()
  // Room for the rows, behind the first put_sample(). Error(kNoMemory).
  void reserve_rows();
  bool gathers() const;
  void put_gather();  // into the gathering queue
  // Into the model's queue: adds to the model's gradients and the counts. The shape holds the
  // mini-batch.
  void put_pass(const PassShape& shape);

 private:
  template <typename T>
  T* in(uint8_t* memory, int64_t offset) const {
    return reinterpret_cast<T*>(memory + offset);
  }
  bool classes() const { return job_.config.loss == nn::Loss::kCrossEntropy; }
  void write_labels(uint8_t* to, const nn::Targets& targets, int64_t count);
  at::Tensor view(const void* data, at::IntArrayRef sizes, at::ScalarType type,
                  int64_t stride = 0) const;
  feature::DeviceGather rows_of(int64_t most) const;
  void add_rows(nn::RowInput& input, int64_t num_nodes) const;
  at::Tensor add_counts(const at::Tensor& logits) const;  // the loss

  const CapturedParts parts_;
  const Job& job_;
  nn::Model& model_;
  const nn::Device& device_;
  const loader::DeviceSource::Parts& source_;
  const int32_t num_hops_;
  const int64_t width_;  // labels of a seed
  loader::DeviceBuffer host_, there_, rows_;
  int64_t seeds_ = 0, labels_ = 0, weights_ = 0, keys_ = 0, dropout_ = 0, num_seeds_ = 0,
          bytes_ = 0;  // what is copied to the device; behind it what counts() reads
  double weight_ = 0;
  int64_t labelled_ = 0;
  nn::DropoutKeys dropout_keys_{nullptr, 0};
  sample::DeviceSampler* sampler_ = nullptr;
  const sample::DeviceSample* sample_ = nullptr;
  base::DType row_type_ = base::DType::kF32;
  int64_t row_stride_ = 0;
};

}  // namespace gnnmg::train
