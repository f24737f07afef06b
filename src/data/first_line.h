// Doubts about the first edge of a list, or all edges, by the ends of all.
#pragma once

#include "data/numbers.h"

namespace gnnmg::data {

// True if the first line looks like the numbers of nodes and edges, whatever these count: it has an
// id above those of all other lines, or else the largest one where ids count from 1 and
// beside it about the number of the other lines.
bool may_count(const IdColumn& sources, const IdColumn& targets);

// True if the two ends of the first line stand in no other, as the names of columns do. The ids are
// those of nodes in order of appearance.
bool may_name_columns(const IdColumn& sources, const IdColumn& targets);

// True if the edge of the first line stands in another one too, so that 0 and 1 need not be pandas'
// names of columns without names.
bool repeats_first(const IdColumn& sources, const IdColumn& targets);

// True if the first line looks like "rows columns entries" above the entries of a matrix, whose ids
// count from 1. `third` is its third number.
bool may_count_entries(const IdColumn& sources, const IdColumn& targets, int64_t third);

// True if the sources number the lines from 0 or 1, as an index does, or the number of a node
// beside its label; not along a path, whose edges join neighbors.
bool may_number_lines(const IdColumn& sources, const IdColumn& targets);

}  // namespace gnnmg::data
