// The last steps on the whole graph: rows that lie better in another part, and parts that hold too
// much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// What each part holds.
std::vector<Load> loads_of(const CscRows& rows, std::span<const uint16_t> parts, int32_t num_parts);

// Up to `passes` passes over all rows in their order. Each row moves to the part that most of its
// edges lead from, where that has room below `goal`; out of a part beyond `goal` also to one of
// fewer edges. Ends early when a pass moves next to nothing.
void refine(const CscRows& rows, const Load& goal, int32_t passes, const Work& work,
            std::span<uint16_t> parts, std::vector<Load>& loads);

// Moves rows out of parts beyond `goal`, in their order, each to the emptiest part that has room,
// whatever edges that cuts.
void relieve(const CscRows& rows, const Load& goal, const Work& work, std::span<uint16_t> parts,
             std::vector<Load>& loads);

// Parts that are as even as can be, whatever edges they cut: training ids first and then the
// others, each by falling degree, are dealt out in rounds, in each of which every part gets one row
// and the part with the fewest edges the row with the most. So parts differ by at most one node and
// one training id, and, since the difference of two parts after a round is at most the larger of
// that before it and that of two rows, by at most the edges of one row.
std::vector<uint16_t> dealt(const CscRows& rows, int32_t num_parts, const Work& work);

}  // namespace gnnmg::partition
