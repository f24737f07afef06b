// A graph in memory cut into parts, and a peer that answers for parts that a process lacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/parts.h"
#include "graph/graph.h"

namespace gnnmg::test {

// The status of the error that `call` throws, kOk if it throws nothing.
base::Status status_of(const std::function<void()>& call);

inline constexpr uint64_t kStamp = 0x0123456789ABCDEF;

// Part `number` of a graph of one type, whose nodes are those that `part_of` says. Its columns are
// the graph's node columns, and its edge columns, in the order of their names.
std::shared_ptr<const dist::Part> cut_part(const graph::Graph& graph,
                                           std::span<const uint16_t> part_of, int32_t number);

// The graph with two edge columns in place of its own: "edge_attr", f32 [E, 3], and "edge_weight",
// f64 [E], which is the edge's id.
graph::GraphRef with_edge_columns(const graph::Graph& graph);

std::vector<uint16_t> hashed_parts(int64_t num_nodes, int32_t num_parts, uint64_t seed);

// The parts as the process that has those of `own` sees them; it asks servers of the same process
// for the others, through `between` where one is given.
using Between = std::function<std::unique_ptr<dist::Channel>(std::unique_ptr<dist::Channel>)>;
std::shared_ptr<const dist::Parts> parts_of(const graph::Graph& graph,
                                            std::span<const uint16_t> part_of, int32_t num_parts,
                                            const std::vector<int32_t>& own,
                                            const dist::PartsConfig& config = {},
                                            const Between& between = {});

}  // namespace gnnmg::test
