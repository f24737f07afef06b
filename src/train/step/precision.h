// The precision of a training's products, while it trains.
#pragma once

#include "nn/model.h"
#include "train/config.h"

namespace gnnmg::train {

// Of a model's training passes while it lives. LibTorch has one setting of TF32 for all of a
// process, and one of whether sums of products in bf16 may be rounded on the way: they are switched
// while trainings on GPUs hold them, and put back with the last of these.
// Error(kUnsupported) where another training on GPUs holds the other.
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
