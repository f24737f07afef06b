// Data sets saved in parts, and opened by a process that has some of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "data/dataset.h"
#include "dist/part_dataset.h"

namespace gnnmg::test {

// Saves `dataset` with its first split, and the hotness of mini-batches of 32 with these fan-outs
// (empty: none is kept).
void save_in_parts(const data::Dataset& dataset, std::span<const uint16_t> part_of,
                   int32_t num_parts, const std::string& folder,
                   const std::vector<int64_t>& fanouts = {});

// The folder as a process sees it that has the parts `own`, of whose others servers in this process
// have the rest. `between` as of parts_of().
struct OpenInParts {
  std::vector<int32_t> own;
  dist::CacheConfig cache = {};
  dist::PartsConfig asking = {};
  std::function<std::unique_ptr<dist::Channel>(std::unique_ptr<dist::Channel>)> between = {};
};
data::DatasetRef open_in_parts(const std::string& folder, const OpenInParts& config,
                               base::Log* log = nullptr);

}  // namespace gnnmg::test
