// Whether the first edge of a list may be none, by the ends of all: the reader takes it, and says
// what made it doubt.
#pragma once

#include "data/numbers.h"

namespace gnnmg::data {

// Of ids: whether the first line looks like the numbers of nodes and edges, whatever these count.
// It has an id above those of all other lines, or else the largest one where ids count from 1 and
// beside it about the number of the other lines.
bool may_count(const IdColumn& sources, const IdColumn& targets);

// Of nodes in order of appearance: whether the two ends of the first line stand in no other, as
// the names of columns do.
bool may_name_columns(const IdColumn& sources, const IdColumn& targets);

// Whether the edge of the first line stands in another one too, as it may where 0 and 1 are what
// pandas calls columns without names.
bool repeats_first(const IdColumn& sources, const IdColumn& targets);

}  // namespace gnnmg::data
