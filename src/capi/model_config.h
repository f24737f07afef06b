// Conversion between gnnmg_model_config and the library's own, and the values left to the data set.
#pragma once

#include "data/dataset.h"
#include "gnnmg.h"
#include "nn/config.h"

namespace gnnmg::capi {

extern const gnnmg_model_config kModelDefaults;
// The struct from which model_config() makes this config; without listed layers.
gnnmg_model_config fields_of(const nn::ModelConfig& config);

// Error(kInvalidArgument) naming the field that is no choice; numbers are checked by check().
nn::ModelConfig model_config(const gnnmg_model_config& in);
// A norm's settings as structs have them, where 0 stands for the default.
nn::NormOptions norm_options(double scale, double epsilon, double momentum,
                             gnnmg_norm_affine affine);
// Columns of edge features, numbers of relations and mean degrees that are to be the data set's,
// which may be null. Error(kInvalidArgument) naming the field where it has none.
void complete_config(nn::ModelConfig& config, const data::Dataset* dataset);
void complete_width(int64_t& width, int64_t from_data, const char* field, const char* what);

}  // namespace gnnmg::capi
