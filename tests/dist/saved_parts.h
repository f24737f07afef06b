// Folders of parts, made of a graph in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "graph/graph.h"

namespace gnnmg::test {

// A data set around the graph, without labels or with the tensor `label` of its nodes.
data::DatasetRef dataset_of(graph::GraphRef graph, std::string label = "");

// Saves `dataset` as `num_parts` parts, as `part_of` says.
void save_parts(const data::Dataset& dataset, std::span<const uint16_t> part_of, int32_t num_parts,
                const std::string& folder, bool edge_ids = true);

}  // namespace gnnmg::test
