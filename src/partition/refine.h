// The last steps on the whole graph: moves of rows that fit better in another part, and of rows out
// of overfull parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// Returns the load of each part.
std::vector<Load> loads_of(const CscRows& rows, std::span<const uint16_t> parts, int32_t num_parts);

// Makes up to `passes` passes over all rows in order. Each row moves to the part that most of its
// incoming edges come from, if that has room below `goal`; out of a part that exceeds `goal` also
// to a part with fewer of its edges. Ends early if a pass moves almost nothing.
void refine(const CscRows& rows, const Load& goal, int32_t passes, const Work& work,
            std::span<uint16_t> parts, std::vector<Load>& loads);

// Moves rows out of parts that exceed `goal`, in order, each to the emptiest part with room,
// whatever edges that cuts.
void relieve(const CscRows& rows, const Load& goal, const Work& work, std::span<uint16_t> parts,
             std::vector<Load>& loads);

// Parts that are as even as possible, whatever edges they cut. Training ids come first, then the
// others, each by falling degree. In every round each part gets one row, and the part with the
// fewest edges gets the row with the most. So parts differ by at most one node and one training id.
// Their difference in edges is at most the edges of one row, since the difference of two parts
// after a round is at most the larger of the difference before it and the difference of two rows.
std::vector<uint16_t> dealt(const CscRows& rows, int32_t num_parts, const Work& work);

}  // namespace gnnmg::partition
