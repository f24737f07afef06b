// The degrees of a part's nodes as a column of it.
#pragma once

#include <memory>

#include "feature/store.h"
#include "graph/csc.h"
#include "partition/rows.h"

namespace gnnmg::dist {

// Row r, i64 [2], is the sample::NodeDegree of the node of row r of `csc`. Edges are counted when
// rows are first gathered, in one pass over all of them; then 16 bytes a row are kept.
std::shared_ptr<const feature::FeatureStore> make_degree_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows);

}  // namespace gnnmg::dist
