// metadata.json of the own format as plain structs: parsing with every check that needs no other
// file, and writing. Apart from reading and saving so that it can be fuzzed alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "data/dataset.h"

namespace gnnmg::data::native {

inline constexpr const char* kMetadataFile = "metadata.json";
inline constexpr const char* kFormatName = "gnnmg-dataset";
inline constexpr int64_t kVersion = 2;  // docs/formats.md describes each version

// One .npy file of the folder.
struct Array {
  std::string file;
  base::DType dtype = base::DType::kF32;
  base::Shape shape;
};

// Dense: `dense`; sparse rows: the other three and the number of columns.
struct Column {
  std::string name;
  bool sparse = false;
  Array dense;
  int64_t num_cols = 0;
  Array indptr, indices, values;
};

struct NodeType {
  std::string name;
  int64_t num_nodes = 0;
  std::vector<Column> columns;
};

struct EdgeType {
  std::string name;
  int32_t source = 0, target = 0;  // indices of node types
  Array indptr, indices;
  std::optional<Array> edge_ids;
  std::vector<Column> columns;
  int64_t num_edges() const { return indices.shape[0]; }
};

// All splits of one name: a u8 array [number of splits, nodes or graphs] of the codes of split.h.
struct SplitGroup {
  std::string name;
  std::vector<int32_t> indices;
  Array codes;
};

struct Metadata {
  std::string name, source;
  Task task = Task::kNone;
  int64_t num_classes = 0;
  int32_t node_type = 0;
  std::string feature, label;
  std::vector<NodeType> node_types;
  std::vector<EdgeType> edge_types;
  std::vector<SplitGroup> splits;
  std::optional<Array> class_weights, sample_weights;  // f64
  // Bounds of many graphs, from version 2 on: i64 [graphs + 1], and their labels.
  std::optional<Array> graph_ptr, graph_labels;
  // The number of items with splits and sample weights.
  int64_t num_samples() const {
    return graph_ptr ? graph_ptr->shape[0] - 1 : node_types[node_type].num_nodes;
  }
  int64_t version() const { return graph_ptr ? 2 : 1; }  // the first that has all of it
};

// Error(kFormat) naming `where`, the place in the document, expected and found; kVersion for a
// newer format. Shapes agree with each other and file names stay in the folder when this returns.
Metadata parse_metadata(std::span<const uint8_t> text, std::string_view where);
// kInvalidArgument when a name is not valid UTF-8.
std::string metadata_text(const Metadata& metadata);

// "multiclass" and the like.
const char* task_name(Task task);

// Returns whether bytes that begin a metadata.json look like this format's (it names itself in its
// first lines).
bool looks_native(std::string_view start);

}  // namespace gnnmg::data::native
