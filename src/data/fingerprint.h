// The fingerprint by which two processes, or a process and a checkpoint, find that their data
// differ.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace gnnmg::data {

// Named facts, as text, in a fixed order: sizes, shape and type of features, classes, and SHA-256
// of the topology, the features and edge tensors (of more than 64 MiB, 64 MiB spread evenly over
// each), the labels, their weights and each part of the split. Takes as long as reading that once.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;
Fingerprint fingerprint(const Dataset& dataset, const Split& split);

}  // namespace gnnmg::data
