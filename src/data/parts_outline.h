// A data set opened with some parts of a folder: everything but the rows of nodes and edges, which
// are made elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/parts.h"
#include "graph/elsewhere.h"

namespace gnnmg::data {

// A column of nodes or edges whose rows lie in the parts.
struct PartColumn {
  std::string name;
  base::DType dtype = base::DType::kF32;
  int64_t num_cols = 0;  // elements of a row
  bool sparse = false;
};

struct PartsOutline {
  std::shared_ptr<const Parts> parts;  // has the book
  int64_t num_nodes = 0, num_edges = 0;
  std::vector<PartColumn> columns;       // the order of the description, without the labels
  std::vector<PartColumn> edge_columns;  // the same of edges, the sparse ones left out
  bool edge_ids = false;                 // parts can tell those of their edges
  std::string feature;                   // the column with the features; empty: none
  std::string sum;  // SHA-256 of the manifest: that of all that the folder holds
};

// Opens a folder of parts, without the rows of nodes and edges: `rows` makes those of the outline.
// The book, labels, splits and weights are read into memory, with their sums and all checks. Errors
// as of open_dataset() with format "parts", and the errors of `rows`.
using MakeRows = std::function<std::shared_ptr<const graph::Elsewhere>(const PartsOutline&)>;
DatasetRef open_outline(const std::shared_ptr<const parts::Source>& source, const MakeRows& rows,
                        const ReadContext& context);

}  // namespace gnnmg::data
