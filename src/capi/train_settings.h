// Settings of optimizers and trainers.
#pragma once

#include <cstdint>
#include <vector>

#include "capi/choices.h"
#include "gnnmg.h"
#include "train/config.h"

namespace gnnmg::capi {

struct OptimizerSettings {
  train::OptimizerConfig config;
  double clip_norm = 0;
};

// Checked.
OptimizerSettings read_optimizer(const char* settings);

struct TrainerSettings {
  train::TrainerConfig config;  // ranks and devices are below
  int32_t num_ranks = 0;        // 0: one per device
  DeviceType device = DeviceType::kAuto;
  std::vector<int32_t> devices;  // GPUs by number, one per rank; empty: those of the process
};

// Values that are none are refused; ranges and combinations are checked by config.check().
TrainerSettings read_trainer(const gnnmg_trainer_config* config, const char* settings);

}  // namespace gnnmg::capi
