// Writing the own format: every tensor as a .npy file, metadata.json last, and all of it in a
// folder that takes its name only when it is complete. Its description alone is for the format
// with parts.
#include <algorithm>
#include <set>

#include "base/atomic_folder.h"
#include "base/file.h"
#include "base/mapped_tensor.h"
#include "data/native_arrays.h"
#include "io/npy.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::Tensor;

class Writer {
 public:
  explicit Writer(const native::ArraySink& sink) : sink_(sink) {}

  native::Array array(const Tensor& tensor, std::string_view stem) {
    native::Array array{file_name(stem), tensor.dtype(), tensor.shape()};
    sink_(array, tensor);
    return array;
  }

  std::vector<native::Column> columns(const graph::Columns& columns, const std::string& stem) {
    std::vector<native::Column> written;
    for (const auto& [name, column] : columns) {
      native::Column entry;
      entry.name = name;
      const std::string file = base::text(stem, "-", name);
      if (const auto* matrix = std::get_if<base::CsrMatrix>(&column)) {
        entry.sparse = true;
        entry.num_cols = matrix->num_cols;
        entry.indptr = array(matrix->indptr, file + ".indptr");
        entry.indices = array(matrix->indices, file + ".indices");
        entry.values = array(matrix->values, file + ".values");
      } else {
        entry.dense = array(std::get<Tensor>(column), file);
      }
      written.push_back(std::move(entry));
    }
    return written;
  }

 private:
  // A name of its own for each file, close to `stem` but of harmless characters only.
  std::string file_name(std::string_view stem) {
    constexpr size_t kLongest = 100;
    std::string name(stem.substr(0, kLongest));
    for (char& c : name)
      if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
          c != '-' && c != '.')
        c = '_';
    for (int k = 1;; ++k) {
      std::string candidate = k == 1 ? name + ".npy" : base::text(name, "-", k, ".npy");
      if (used_.insert(candidate).second) return candidate;
    }
  }

  const native::ArraySink& sink_;
  std::set<std::string> used_;
};

// The splits of one name as rows of codes.
native::SplitGroup write_splits(const std::vector<const Split*>& splits, int64_t num_ids,
                                Writer& writer) {
  native::SplitGroup group;
  group.name = splits[0]->name;
  const Tensor codes = Tensor::zeros(DType::kU8, {static_cast<int64_t>(splits.size()), num_ids});
  for (size_t i = 0; i < splits.size(); ++i) {
    group.indices.push_back(splits[i]->index);
    const auto row = codes.as<uint8_t>().subspan(i * num_ids, num_ids);
    for (int part = 0; part < 3; ++part)
      for (int64_t id : splits[i]->ids[part].as<const int64_t>())
        row[id] = static_cast<uint8_t>(part + 1);
  }
  group.codes = writer.array(codes, "split-" + group.name);
  return group;
}

}  // namespace

native::Metadata native::describe(const Dataset& dataset, const ArraySink& sink, WrittenIds ids) {
  const graph::Graph& graph = *dataset.graph;
  const graph::Schema& schema = graph.schema();
  Writer writer(sink);
  native::Metadata metadata;
  metadata.name = dataset.name;
  metadata.source = dataset.source;
  metadata.task = dataset.task;
  metadata.num_classes = dataset.num_classes;
  metadata.node_type = dataset.node_type;
  metadata.feature = dataset.feature;
  metadata.label = dataset.label;
  for (size_t i = 0; i < schema.node_types.size(); ++i) {
    const int32_t type = static_cast<int32_t>(i);
    metadata.node_types.push_back(
        {schema.node_types[i], graph.num_nodes(type),
         writer.columns(graph.node_columns(type), "node-" + schema.node_types[i])});
  }
  for (size_t i = 0; i < schema.edge_types.size(); ++i) {
    const graph::EdgeType& type = schema.edge_types[i];
    const graph::Csc& csc = graph.csc(static_cast<int32_t>(i));
    const std::string stem = schema.edge_types.size() == 1
                                 ? base::text("edge-", type.name)
                                 : base::text("edge-", schema.node_types[type.source], "-",
                                              type.name, "-", schema.node_types[type.target]);
    native::EdgeType entry;
    entry.name = type.name;
    entry.source = type.source;
    entry.target = type.target;
    entry.indptr = writer.array(csc.indptr, stem + ".indptr");
    entry.indices = writer.array(csc.indices, stem + ".indices");
    const graph::Columns& columns = graph.edge_columns(static_cast<int32_t>(i));
    if (csc.edge_ids.defined() && (ids == WrittenIds::kAll || !columns.empty()))
      entry.edge_ids = writer.array(csc.edge_ids, stem + ".edge_ids");
    entry.columns = writer.columns(columns, stem);
    metadata.edge_types.push_back(std::move(entry));
  }
  std::vector<std::vector<const Split*>> groups;
  for (const Split& split : dataset.splits) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group[0]->name == split.name; });
    if (same == groups.end())
      groups.push_back({&split});
    else
      same->push_back(&split);
  }
  for (const auto& group : groups)
    metadata.splits.push_back(write_splits(group, dataset.num_samples(), writer));

  if (dataset.class_weights.defined())
    metadata.class_weights = writer.array(dataset.class_weights, "class_weights");
  if (dataset.sample_weights.defined())
    metadata.sample_weights = writer.array(dataset.sample_weights, "sample_weights");

  if (dataset.of_graphs()) metadata.graph_ptr = writer.array(dataset.graph_ptr, "graph_ptr");
  if (dataset.graph_labels.defined())
    metadata.graph_labels = writer.array(dataset.graph_labels, "graph_labels");
  return metadata;
}

void save_dataset(const Dataset& dataset, const std::string& path) {
  base::AtomicFolder folder(path);
  const auto write = [&](const native::Array& array, const Tensor& tensor) {
    io::write_npy(base::join_path(folder.temporary(), array.file), base::in_memory(tensor).view());
  };
  const native::Metadata metadata =
      native::describe(dataset, write, native::WrittenIds::kOfTensors);
  base::AtomicFile file(base::join_path(folder.temporary(), native::kMetadataFile));
  file.write(native::metadata_text(metadata));
  file.commit();
  folder.commit();
}

}  // namespace gnnmg::data
