// METIS on the whole graph, where the machine has it: a reference, and for graphs that fit into
// memory many times over. The library is opened on first use and nothing links it.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// Why METIS cannot be used here, in one line with the remedy; empty when it can.
const std::string& why_no_metis();

// The part of each row, by METIS_PartGraphKway (Karypis and Kumar, 1998) over the edges in both
// directions, with the three bounds as its constraints. Takes about 60 bytes for each of twice the
// edges. While it works METIS has signal handlers of its own for SIGABRT and SIGTERM and uses the
// process's rand(): the result depends on the seed alone when no other thread calls rand().
// Error(kDependency) without METIS, kInvalidArgument for fewer than 16 nodes a part, kUnsupported
// for more edges than its 32-bit integers count, kNoMemory, kCancelled before and after METIS.
std::vector<uint16_t> partition_by_metis(const CscRows& rows, int32_t num_parts, const Slack& slack,
                                         uint64_t seed, const Work& work);

}  // namespace gnnmg::partition
