// Columns of a part that follow from its edges: the degrees of its nodes, and the sums of the
// weights of the edges into them.
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

// Row r, f64 [3], is the graph::WeightSums of the node of row r of `csc`. `weights` has one number
// for each entry of `csc`. Sums are made when rows are first gathered, in one pass over all edges;
// then 24 bytes a row are kept.
std::shared_ptr<const feature::FeatureStore> make_weight_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows,
    std::shared_ptr<const feature::FeatureStore> weights);

}  // namespace gnnmg::dist
