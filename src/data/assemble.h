// Makes a checked data set of the arrays that a reader has found: the last step of every reader of
// a foreign format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace gnnmg::data {

// Many graphs in one, beside it.
struct GraphSet {
  base::Tensor ptr;     // form of Dataset::graph_ptr
  base::Tensor labels;  // argument of make_labels, a row a graph; undefined: none
};

// A homogeneous graph in pieces. The `_from` texts say in errors where a piece came from ("DIR/
// edges.npy").
struct Found {
  std::string format;  // name of OpenOptions
  std::string name, source;
  int64_t num_nodes = 0;
  base::Tensor sources, targets;  // i32 or i64 [E]
  std::string edges_from;
  bool undirected = true;     // meaning of OpenOptions::undirected = -1
  bool drop_loops = false;    // making the graph undirected drops self-loops too
  bool drop_repeats = false;  // a directed graph has each edge once, unless `undirected` is said
  base::Tensor graph_ptr;     // bounds of many graphs, which the labels belong to; undefined: one
  std::optional<graph::Column> features;
  bool degree_features = false;  // one-hot of the degrees in the finished graph
  std::string features_from;
  std::string feature_values_from;  // name of the values' array if it is another one; else empty
  base::Tensor labels;              // argument of make_labels; undefined: none
  std::string labels_from;
  bool binary = false;      // labels are independent targets of 0 and 1
  bool regression = false;  // labels are numbers, of whatever type
  int64_t num_classes = 0;  // 0: largest label + 1
  graph::Columns node_columns, edge_columns;
  std::vector<Split> splits;
};

// Adds a tensor whose name comes from a file. Error(kFormat) naming `where` for an empty name and
// for one that is taken.
void add_column(graph::Columns& columns, std::string_view name, graph::Column column,
                std::string_view where);

// Checks ids, rows and values, builds the graph, adds reverse edges if asked, and makes the data
// set with features "x" and labels "y". The log lists the files.
DatasetRef assemble(Found found, const OpenOptions& options, const ReadContext& context);

// make_dataset, for callers that fill in the name; with `graphs`, make_dataset_of_graphs.
Dataset build_dataset(graph::GraphRef graph, std::string feature, std::string label, bool binary,
                      std::vector<Split> splits, int64_t num_classes, int32_t node_type,
                      const GraphSet* graphs = nullptr);

}  // namespace gnnmg::data
