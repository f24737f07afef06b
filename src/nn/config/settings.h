// Uses of the list of settings (setting_list.h): their ranges, and the differences between two
// models. Free of torch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/config/config.h"

namespace gnnmg::nn {

// Error(kInvalidArgument) names a setting outside its range, whatever the architecture.
void check_ranges(const ModelConfig& config);

// Names and values, "aggregation", "max"; of listed layers too, "layer 2 heads", "8". The default
// aggregation and PNA's default reductions are written out.
std::vector<std::pair<std::string, std::string>> setting_texts(const ModelConfig& config);

// Lists the settings on which results depend and whose values differ between a model and a file, as
// "aggregation is mean, the file's is max; ..."; empty if there are none. Different settings of one
// meaning are equal.
std::string differences(const ModelConfig& model, const ModelConfig& file);

}  // namespace gnnmg::nn
