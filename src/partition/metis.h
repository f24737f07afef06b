// METIS on the whole graph, if the machine has it: a reference, for graphs that fit into memory
// many times over. The library is opened on first use; nothing links it.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// Returns the reason why METIS cannot be used here, in one line with the remedy; empty if it can.
const std::string& why_no_metis();

// Returns the part of each row, by METIS_PartGraphKway (Karypis and Kumar, 1998) over the edges in
// both directions, with the three bounds as its constraints. Takes about 60 bytes for each of twice
// the edges. METIS sets signal handlers for SIGABRT and SIGTERM while it runs and uses the
// process's rand(): the result depends only on the seed if no other thread calls rand().
// Error(kDependency) without METIS, kInvalidArgument for fewer than 16 nodes per part, kUnsupported
// for more edges than its 32-bit integers can count, kNoMemory, kCancelled before and after METIS.
std::vector<uint16_t> partition_by_metis(const CscRows& rows, int32_t num_parts, const Slack& slack,
                                         uint64_t seed, const Work& work);

}  // namespace gnnmg::partition
