// The sums of the weights of the edges into a part's nodes as a column of it.
#pragma once

#include <memory>

#include "feature/store.h"
#include "graph/csc.h"
#include "partition/rows.h"

namespace gnnmg::dist {

// Row r, f64 [3], is the graph::WeightSums of the node of row r of `csc`. `weights` has one number
// for each entry of `csc`. Sums are made when rows are first gathered, in one pass over all edges;
// then 24 bytes a row are kept.
std::shared_ptr<const feature::FeatureStore> make_weight_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows,
    std::shared_ptr<const feature::FeatureStore> weights);

}  // namespace gnnmg::dist
