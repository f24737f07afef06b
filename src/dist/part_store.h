// A feature store over parts: rows that are here, rows of others that are kept here, and rows that
// are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dist/parts.h"
#include "feature/store.h"

namespace gnnmg::dist {

// The rows of column `column` of all nodes, as one store over the whole graph would give them, to
// the bit. The rows of `kept` that are not here are asked for at once and kept, so that nobody is
// asked for them again: the hottest (feature/hotness.h). They are distinct, in any order, dense
// columns' only. Error(kRange) for a column or a node that does not exist, kInvalidArgument for
// nodes listed twice or kept rows of a sparse column, and the errors of asking, kCancelled once
// `cancel` says so. gather() and gather_sparse() throw the channel's errors, naming the part.
std::unique_ptr<feature::FeatureStore> make_part_store(std::shared_ptr<const Parts> parts,
                                                       int32_t column,
                                                       std::span<const int64_t> kept,
                                                       const base::CancelToken& cancel);

}  // namespace gnnmg::dist
