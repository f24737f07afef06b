// Edges of a knowledge graph: rows of subject, relation and object.
#pragma once

#include <string>

#include "base/tensor.h"

namespace gnnmg::data {

struct Triples {
  base::Tensor sources, targets;  // [E], integers as the rows have them
  base::Tensor relations;         // i64 [E]
};

// Each of the rows, integers [E, 3], leads from its subject to its object. With `reversed` each
// appears a second time, after all others, from its object to its subject, as a relation of its
// own: `num_relations` is added to its number. That is below 0 where it is the largest number and
// one more. Error(kFormat / kRange) naming `where` and the row.
Triples split_triples(const base::Tensor& rows, int64_t num_nodes, int64_t num_relations,
                      bool reversed, const std::string& where);

}  // namespace gnnmg::data
