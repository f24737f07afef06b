// A data set: a graph, its labels and its splits; the readers that recognise what lies in a folder,
// and the own format.
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
#include "graph/graph.h"

namespace gnnmg::data {

enum class Task : int32_t {
  kNone = 0,        // no labels
  kMulticlass = 1,  // labels i64 [N], -1: none
  kBinary = 2,      // labels f32 [N, T] of 0 and 1, NaN: none; T independent targets
  kRegression = 3,  // labels f32 [N, T], NaN: none
};

enum class SplitPart : int32_t { kTrain = 1, kValidation = 2, kTest = 3 };

// Disjoint lists of node ids, ascending.
struct Split {
  std::string name;                 // "public", "tunedgnn", ...
  int32_t index = 0;                // among the splits of that name
  std::array<base::Tensor, 3> ids;  // i64; train, validation, test
  std::span<const int64_t> part(SplitPart p) const {
    return ids[static_cast<int>(p) - 1].as<const int64_t>();
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
  // How much each label counts in a loss, f64; undefined: 1 each. See data/weights.h.
  base::Tensor class_weights;   // [num_classes]: one a class, or a binary target
  base::Tensor sample_weights;  // [nodes of node_type]
  int64_t feature_dim() const;  // 0 without features
  // By name (empty: the first) and index; Error(kNotFound) listing what there is.
  const Split& split(std::string_view name, int32_t index) const;
};
using DatasetRef = std::shared_ptr<const Dataset>;

struct OpenOptions {
  std::string format;  // empty: recognise; else "gnnmg", "planetoid", "plain", "shchur",
                       // "heterophilous", "ogb", "edges"
  // Foreign formats: 1 adds the reverse of every edge and drops repeated edges, for planetoid and
  // shchur also self-loops, which their published counts leave out; 0 takes the edges as they are
  // listed, -1 does what the format means: 1 for planetoid, plain, shchur, heterophilous and those
  // OGB sets that list each undirected edge once; 0 otherwise.
  int32_t undirected = -1;
  bool sum_duplicates = false;  // sparse features: add repeated entries up
  bool round_values = false;    // sparse features: round what is no f32, else refuse it
  bool map_files = true;        // own format: map tensors instead of reading them
  bool check_finite = true;     // refuse NaN and infinite features
  int64_t max_bytes = int64_t{1} << 40;
  // Edge lists.
  std::string separator;  // empty: guessed
  int32_t source_column = 0, target_column = 1;
  int32_t header = -1;  // lines to skip; -1: a first line that holds no numbers
  bool relabel =
      false;  // ids of any size, numbered in order of appearance; node tensor "original_id"
  int64_t num_nodes = -1;  // -1: largest id + 1
};

// What every reader gets besides its path.
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

}  // namespace gnnmg::data
