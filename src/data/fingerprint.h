// What tells whether two processes, or a process and a checkpoint, work on the same data.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace gnnmg::data {

// Named facts, as text, in a fixed order: sizes, shape and type of features, classes, and SHA-256
// of the topology, the labels, their weights and each part of the split. Feature values are not
// read. Takes as long as reading the topology once.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;
Fingerprint fingerprint(const Dataset& dataset, const Split& split);

}  // namespace gnnmg::data
