// A training pass of a model: its input, and the precision of its products.
#pragma once

#include <vector>

#include "loader/loader.h"
#include "nn/model/model.h"
#include "train/job/job.h"

namespace gnnmg::train {

// A mini-batch of a loader in the form that a model reads. Keep it and the mini-batch until the
// pass and the work in the device's queue are over. For a model on a device the mini-batch has been
// received (train/ranks/device.h).
class PassInput {
 public:
  PassInput(const Job& job, const nn::Model& model, const loader::Batch& batch, bool training);
  PassInput(const PassInput&) = delete;
  PassInput& operator=(const PassInput&) = delete;

  const nn::ForwardArgs& args() const { return args_; }

 private:
  nn::SparseView sparse_;
  std::vector<nn::EdgeValues> edges_;
  nn::ForwardArgs args_;
};

// Sets the precision of a model's training passes while it lives. LibTorch has one setting of TF32
// per process, and one of whether sums of products in bf16 may be rounded on the way: trainings on
// GPUs share them, and the last one restores them. Error(kUnsupported) if another training on GPUs
// of this process needs another setting.
class InPrecision {
 public:
  InPrecision(nn::Model& model, Precision precision);
  ~InPrecision();
  InPrecision(const InPrecision&) = delete;
  InPrecision& operator=(const InPrecision&) = delete;

 private:
  nn::Model& model_;
  const Precision precision_;
};

}  // namespace gnnmg::train
