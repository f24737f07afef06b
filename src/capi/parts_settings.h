// The settings of a call that divides a data set, as one struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gnnmg.h"
#include "partition/assign.h"

namespace gnnmg::capi {

struct PartsSettings {
  partition::Config assign;
  bool edge_ids = false;
  std::vector<int64_t> fanouts;  // empty: no hotness
  int64_t batch_size = 1024;
};

// Reads the config, which may be NULL, and words "name=value". Error(kInvalidArgument) naming the
// field, or the word and the names that exist.
PartsSettings read_parts_settings(const gnnmg_parts_config* config, std::string_view words);

// The settings that the parts of this method depend on, beside the number of parts and the seed.
std::string assignment_text(const PartsSettings& settings);

}  // namespace gnnmg::capi
