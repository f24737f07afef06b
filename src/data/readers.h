// The readers, one for each format that open_dataset recognizes. Each takes a path that has been
// recognized as its own.
#pragma once

#include <string>

#include "data/arrays.h"
#include "data/dataset.h"
#include "data/recognize.h"
#include "io/npy.h"

namespace gnnmg::data {

// Arguments of a reader besides its path: options, context, and the bytes that may still be read.
struct Reading {
  const OpenOptions& options;
  const ReadContext& context;
  ByteBudget budget;
};

inline io::SparseOptions sparse_options(const OpenOptions& options) {
  return {.round_values = options.round_values, .sum_duplicates = options.sum_duplicates};
}

// Error(kInvalidArgument) for an option that is not the default and that the format's reader does
// not read.
void check_options(const OpenOptions& options, Format format, const std::string& path);

// The own format: a folder with metadata.json.
DatasetRef read_native(const std::string& folder, Reading& reading);
// A folder with edges.npy or triples.npy, labels.npy, feat* and split_*.npy.
DatasetRef read_plain(const std::string& path, Reading& reading);
// The eight files PREFIX.x, PREFIX.graph, ... ("DIR/ind.cora").
DatasetRef read_planetoid(const std::string& prefix, Reading& reading);
// A folder with out1_node_feature_label.txt and out1_graph_edges.txt, as Geom-GCN's sets have them.
DatasetRef read_geom_gcn(const std::string& folder, Reading& reading);
// An .npz with adj_* and attr_*.
DatasetRef read_shchur(const std::string& path, Reading& reading);
// An .npz with node_features, node_labels, edges and masks.
DatasetRef read_heterophilous(const std::string& path, Reading& reading);
// A text file with an edge a line, plain or compressed by gzip.
DatasetRef read_edges(const std::string& path, Reading& reading);
// The same, or a METIS graph or a text with counts in its first line, whichever its lines fit.
DatasetRef read_text_graph(const std::string& path, Reading& reading);
// A text that begins with %%MatrixMarket, plain or compressed by gzip.
DatasetRef read_matrix_market(const std::string& path, Reading& reading);
// A METIS graph in text, plain or compressed by gzip.
DatasetRef read_metis(const std::string& path, Reading& reading);
// A folder with raw/ and split/ as the Open Graph Benchmark lays them out.
DatasetRef read_ogb(const std::string& path, Reading& reading);
// A text with many graphs, as GIN and DGCNN take it; published folds beside it become splits.
DatasetRef read_gin(const std::string& path, Reading& reading);
// The files PREFIX_A.txt, PREFIX_graph_indicator.txt, ... of TU Dortmund.
DatasetRef read_tu(const std::string& prefix, Reading& reading);
// A folder with manifest.json, as save_parts() writes it: all parts become one data set.
DatasetRef read_parts(const std::string& folder, Reading& reading);
// An .npz of many graphs with node_ptr, edge_ptr and edges.
DatasetRef read_packed(const std::string& path, Reading& reading);

}  // namespace gnnmg::data
