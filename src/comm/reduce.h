// The arithmetic of an all-reduce in memory.
#pragma once

#include <cstdint>
#include <span>

#include "comm/collectives.h"

namespace gnnmg::comm {

// Reduces parts[r], `count` elements of rank r, into parts[0]: rank 1 is added to rank 0, then rank
// 2 to their sum, and so on, so that the bits do not depend on timing. Types of 16 bits are rounded
// after each rank.
void reduce_in_order(base::DType dtype, ReduceOp op, std::span<void* const> parts, int64_t count);

}  // namespace gnnmg::comm
