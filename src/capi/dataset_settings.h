// Settings of the functions that open data sets and split them.
#pragma once

#include <cstdint>

#include "capi/settings.h"
#include "data/dataset.h"

namespace gnnmg::capi {

// Reads the settings of gnnmg_dataset_open().
data::OpenOptions read_open_options(const char* settings);

struct SplitSettings {
  double train_fraction = 0.6, validation_fraction = 0.2;
  int64_t train_per_class = 0, validation_per_class = 0;
  bool numpy_legacy = false;
  uint64_t seed = 0;
};
std::span<const SettingRow<SplitSettings>> split_rows();
data::Split draw_split(const data::Dataset& dataset, const SplitSettings& settings,
                       std::string name);

// The splits that gnnmg_dataset_add_folds() makes, without their name.
std::vector<data::Split> make_folds(const data::Dataset& dataset, const char* settings);

}  // namespace gnnmg::capi
