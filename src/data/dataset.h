// A data set: a graph, its labels and its splits; the readers that recognize the format of a
// folder, and the own format.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "data/parts.h"
#include "graph/graph.h"

namespace gnnmg::data {

enum class Task : int32_t {
  kNone = 0,        // no labels
  kMulticlass = 1,  // labels i64 [N], -1: none
  kBinary = 2,      // labels f32 [N, T] of 0 and 1, NaN: none; T independent targets
  kRegression = 3,  // labels f32 [N, T], NaN: none
};

enum class SplitPart : int32_t { kTrain = 0, kValidation = 1, kTest = 2 };

// Disjoint lists of ids of nodes, or of graphs in a data set of many, ascending.
struct Split {
  std::string name;                 // "public", "tunedgnn", ...
  int32_t index = 0;                // number among the splits of that name
  std::array<base::Tensor, 3> ids;  // i64; train, validation, test
  std::span<const int64_t> part(SplitPart p) const {
    return ids[static_cast<int>(p)].as<const int64_t>();
  }
};

struct Dataset {
  std::string name;
  std::string source;  // path or generator
  graph::GraphRef graph;
  int32_t node_type = 0;      // the node type that features, labels and splits belong to
  std::string feature = "x";  // node tensor with the features; empty: none
  std::string label = "y";    // node tensor with the labels; empty: none
  Task task = Task::kNone;
  int64_t num_classes = 0;  // classes, or targets for kBinary and kRegression
  std::vector<Split> splits;
  // The weight of each label in a loss, f64; undefined: 1 each. See data/weights.h.
  base::Tensor class_weights;   // [num_classes]: one a class, or a binary target
  base::Tensor sample_weights;  // [num_samples()]
  // Many graphs stand side by side in `graph`: nodes graph_ptr[g] .. graph_ptr[g + 1] - 1 are those
  // of graph g, which may have none, and no edge leaves its graph. i64 [graphs + 1]; undefined: one
  // graph, whose nodes have the labels.
  base::Tensor graph_ptr;
  base::Tensor graph_labels;  // labels of many graphs: i64 [graphs] or f32 [graphs, T], `label`

  // The division into parts, where it was opened from such a folder; else null.
  std::shared_ptr<const Parts> parts;

  std::string title() const;  // "the data set 'NAME'", for errors
  bool of_graphs() const { return graph_ptr.defined(); }
  int64_t num_graphs() const { return of_graphs() ? graph_ptr.rows() - 1 : 1; }
  // The number of items with labels, splits and weights: graphs, or nodes of node_type.
  int64_t num_samples() const { return of_graphs() ? num_graphs() : graph->num_nodes(node_type); }
  const char* sample_name() const { return of_graphs() ? "graph" : "node"; }
  const base::Tensor* labels() const;  // null: none
  int64_t feature_dim() const;         // 0 without features
  // Finds a split by name (empty: the first) and index; Error(kNotFound) lists those that exist.
  const Split& split(std::string_view wanted, int32_t index) const;
};
using DatasetRef = std::shared_ptr<const Dataset>;

struct OpenOptions {
  std::string format;  // empty: recognize; else "gnnmg", "parts", "planetoid", "plain", "shchur",
                       // "heterophilous", "ogb", "edges", "gin", "tu", "packed",
                       // "matrix_market", "metis", "geom_gcn"
  // Foreign formats: 1 adds the reverse of every edge and drops repeated edges, for planetoid and
  // shchur also self-loops, which their published counts leave out; 0 takes the edges as they are
  // listed, -1 is the format's usual meaning: 1 for planetoid, plain, shchur, heterophilous, tu,
  // packed and those OGB sets that list each undirected edge once; 0 otherwise.
  int32_t undirected = -1;
  bool sum_duplicates = false;  // sparse features: add repeated entries up
  bool round_values = false;    // integers as features that are no f32: round them, else refuse
  bool map_files = true;        // own format: map tensors instead of reading them
  bool check_finite = true;     // refuse NaN and infinite features
  int64_t max_bytes = int64_t{1} << 40;
  // Edge lists.
  std::string separator;  // empty: guessed
  int32_t source_column = 0, target_column = 1;
  int32_t header = -1;  // lines to skip; -1: a first line that names columns, or counts, is used
  // Ids of any size and names, numbered in order of appearance; node tensor "original_id" (i64 [N])
  // or "original_name" (u8 [N, W], zeros after each).
  bool relabel = false;
  int64_t num_nodes = -1;  // -1: largest id + 1
  // Sets of many graphs in text: 1: the features are one-hot of a node's degree, -1: of its tag, 0:
  // of its tag unless all tags are equal.
  int32_t degree_features = 0;
  // The meaning of the labels; kNone: inferred from format and values. The own format has its own
  // record of it.
  Task task = Task::kNone;
};

// Arguments of every reader besides its path.
struct ReadContext {
  base::ThreadPool& pool;
  base::Log& log;
  base::CancelToken cancel;
};

// Opens a folder or file in any supported format. Errors name file, array or line, expected and
// found.
DatasetRef open_dataset(const std::string& path, const OpenOptions& options,
                        const ReadContext& context);

// Writes the own format: a folder of .npy files and metadata.json, whole or not at all. `path` must
// not exist.
void save_dataset(const Dataset& dataset, const std::string& path);

// A data set around a graph of one's own; the task follows from the label tensor (integers:
// multiclass; floats: regression; either with `binary`: 0 and 1, NaN or -1 for none). A label
// tensor of another type is replaced by its i64 [N] or f32 [N, T] form; values that do not convert
// exactly are refused. `num_classes` 0: largest label + 1; labels outside [-1, classes) are
// refused. Id lists of `splits` may be in any order.
DatasetRef make_dataset(graph::GraphRef graph, std::string feature, std::string label, bool binary,
                        std::vector<Split> splits, int64_t num_classes = 0, int32_t node_type = 0);

// The same of many graphs that stand side by side in a homogeneous one. `graph_ptr` as Dataset has
// it; `labels` have a row a graph and are called `label`; undefined: none, and `label` is empty.
// Error(kInvalidArgument / kRange) naming the entry of `graph_ptr` that falls, or the edge that
// leaves its graph.
DatasetRef make_dataset_of_graphs(graph::GraphRef graph, base::Tensor graph_ptr,
                                  std::string feature, std::string label, base::Tensor labels,
                                  bool binary, std::vector<Split> splits, int64_t num_classes = 0);

}  // namespace gnnmg::data
