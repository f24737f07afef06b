// The settings of a call that divides a data set, as one struct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gnnmg.h"
#include "partition/assign.h"

namespace gnnmg::capi {

struct PartsSettings {
  partition::Config assign;
  bool edge_ids = false;
  std::vector<int64_t> fanouts = {10, 10};  // empty: no hotness
  bool default_fanouts = true;
  int64_t batch_size = 1024;
  bool given = false;  // the caller has assigned the nodes

  bool assigns(partition::Method method) const { return !given && assign.method == method; }
};

// Reads the config and the text, which may both be NULL. `given`: the caller has assigned the
// nodes. Error(kInvalidArgument) naming the field, or the word and the names that exist.
PartsSettings read_parts_settings(const gnnmg_parts_config* config, const char* text, bool given);

// The settings that the parts of this method depend on, beside the number of parts and the seed.
std::string assignment_text(const PartsSettings& settings);

}  // namespace gnnmg::capi
