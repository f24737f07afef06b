// Conversion of gnnmg_model_config and settings to the library's own, and the values left to the
// data set.
#pragma once

#include "data/dataset.h"
#include "gnnmg.h"
#include "nn/config/config.h"

namespace gnnmg::capi {

// The struct has the fields of a config; 0 stands for the default.
gnnmg_model_config fields_of(const nn::ModelConfig& config);

// Error(kInvalidArgument) naming a field or setting that is none; ranges are checked by check().
// `of_layer`: those of one layer, not of a whole model.
nn::ModelConfig model_config(const gnnmg_model_config* config, const char* settings,
                             bool of_layer = false);
nn::NormOptions norm_options(const char* settings);
// Columns of edge features, numbers of relations and mean degrees that are to be the data set's,
// which may be null. Error(kInvalidArgument) naming the field where it has none.
void complete_config(nn::ModelConfig& config, const data::Dataset* dataset);
void complete_width(int64_t& width, int64_t from_data, const char* field, const char* what);

}  // namespace gnnmg::capi
