// Reading the own format. Dense tensors other than labels are mapped; arrays that later code
// follows without a check (topology, sparse rows, labels, splits) are read into memory, where a
// file that is cut short afterwards cannot hurt.
#include <algorithm>
#include <atomic>
#include <limits>

#include "base/file.h"
#include "data/assemble.h"
#include "data/edge_tensors.h"
#include "data/native_arrays.h"
#include "data/readers.h"
#include "data/split.h"
#include "data/weights.h"
#include "io/npy.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using native::Array;

constexpr int64_t kScanBytes = int64_t{1} << 20;  // stay in the cache

struct Stored {
  io::NpyKind kind;
  int32_t item_size;
};

Stored stored_as(DType dtype) {
  const auto size = static_cast<int32_t>(base::dtype_size(dtype));
  switch (dtype) {
    case DType::kBF16:  // NumPy has no such type; its bits are kept as integers
    case DType::kU8:
      return {io::NpyKind::kUnsigned, size};
    case DType::kI64:
    case DType::kI32:
      return {io::NpyKind::kSigned, size};
    case DType::kBool:
      return {io::NpyKind::kBool, size};
    default:
      return {io::NpyKind::kFloat, size};
  }
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += base::text(i ? ", " : "", shape[i]);
  return out + "]";
}

}  // namespace

io::NpyHeader native::check_header(const base::File& file, const Array& array) {
  std::vector<uint8_t> start(std::min(file.size(), io::kNpyStart));
  file.read_at(0, start);
  return check_header(start, file.size(), file.path(), array);
}

io::NpyHeader native::check_header(std::span<const uint8_t> start, int64_t file_bytes,
                                   const std::string& path, const Array& array) {
  io::NpyHeader header = io::parse_npy_header(start, file_bytes, path);
  const Stored expected = stored_as(array.dtype);
  if (header.kind != expected.kind || header.item_size != expected.item_size)
    fail(Status::kFormat, path, ": holds elements of another type than ",
         base::dtype_name(array.dtype), ", which ", native::kMetadataFile, " says");
  if (static_cast<int>(header.shape.size()) != array.shape.num_dims ||
      !std::equal(header.shape.begin(), header.shape.end(), array.shape.dims.begin()))
    fail(Status::kFormat, path, ": shape ", shape_text(header.shape), ", expected ",
         array.shape.to_string(), ", which ", native::kMetadataFile, " says");
  return header;
}

namespace {

// The arrays of a folder of the own format, each in a file.
class FolderArrays : public native::ArraySource {
 public:
  FolderArrays(std::string folder, Reading& reading)
      : folder_(std::move(folder)), reading_(reading) {}

  Tensor read(const Array& array) override {
    const std::string file = path(array);
    reading_.budget.take_file(file);
    native::check_header(base::File(file), array);
    return io::read_npy(file, u2(array));
  }
  Tensor map(const Array& array) override {
    const std::string file = path(array);
    native::check_header(base::File(file), array);
    return io::map_npy(file, u2(array));
  }
  std::string path(const Array& array) const override {
    return base::join_path(folder_, array.file);
  }

 private:
  static io::U2 u2(const Array& array) {
    return array.dtype == DType::kBF16 ? io::U2::kBFloat16 : io::U2::kInteger;
  }

  std::string folder_;
  Reading& reading_;
};

class Loader {
 public:
  Loader(native::ArraySource& source, Reading& reading) : source_(source), reading_(reading) {}

  Tensor read(const Array& array) { return source_.read(array); }

  graph::Column column(const native::Column& column, bool may_map) {
    if (!column.sparse)
      return may_map && reading_.options.map_files ? source_.map(column.dense) : read(column.dense);
    base::CsrMatrix matrix;
    matrix.num_rows = column.indptr.shape[0] - 1;
    matrix.num_cols = column.num_cols;
    matrix.indptr = read(column.indptr);
    matrix.indices = read(column.indices);
    matrix.values = read(column.values);
    return matrix;
  }

  // Looks for values that are not finite in the result of column(); a mapped file is read beside
  // its mapping.
  void check_features(const native::Column& column, const graph::Column& loaded) {
    const auto* dense = std::get_if<Tensor>(&loaded);
    if (dense && base::MappedFile::of(dense->owner())) return check_finite_file(column.dense);
    check_finite(loaded, path(column.sparse ? column.values : column.dense), reading_.context.pool);
  }

  std::string path(const Array& array) const { return source_.path(array); }

 private:
  void check_finite_file(const Array& array) {
    if (!base::is_floating(array.dtype)) return;
    const base::File file(path(array));
    const io::NpyHeader header = native::check_header(file, array);
    const int64_t size = header.item_size;
    std::atomic<int64_t> first{std::numeric_limits<int64_t>::max()};
    reading_.context.pool.parallel_for(
        array.shape.num_elements(), kScanBytes / size, [&](int64_t begin, int64_t end) {
          reading_.context.cancel.check("opening a data set");
          std::vector<uint8_t> bytes((end - begin) * size);
          file.read_at(header.data_offset + begin * size, bytes);
          const int64_t found = find_not_finite(bytes.data(), array.dtype, end - begin);
          if (found < 0) return;
          int64_t seen = first.load();
          while (begin + found < seen && !first.compare_exchange_weak(seen, begin + found)) {
          }
        });
    const int64_t bad = first.load();
    if (bad == std::numeric_limits<int64_t>::max()) return;
    const int64_t width = array.shape.row_elements();
    uint8_t value[8];
    file.read_at(header.data_offset + bad * size, std::span(value).first(size));
    fail_not_finite(file.path(), bad / width, bad % width, value, array.dtype);
  }

  native::ArraySource& source_;
  Reading& reading_;
};

// Errors of other rooms name arrays; this puts the file before them, which `file_of` makes of the
// text.
template <typename F, typename FileOf>
auto naming(const FileOf& file_of, F&& body) {
  try {
    return body();
  } catch (const base::Error& error) {
    throw base::Error(error.status() == Status::kInvalidArgument ? Status::kFormat : error.status(),
                      base::text(file_of(error.what()), ": ", error.what()), -1,
                      error.system_error());
  }
}

std::vector<Split> read_splits(const std::vector<native::SplitGroup>& groups, Loader& loader) {
  std::vector<Split> splits;
  for (const native::SplitGroup& group : groups) {
    const Tensor codes = loader.read(group.codes);
    const int64_t num_ids = codes.shape()[1];
    for (size_t i = 0; i < group.indices.size(); ++i)
      splits.push_back(split_from_codes(codes.as<const uint8_t>().subspan(i * num_ids, num_ids),
                                        group.name, group.indices[i],
                                        base::text(loader.path(group.codes), ", row ", i)));
  }
  return splits;
}

// Reads the files of a graph, column by column and edge type by edge type. Moves names out of
// `metadata`.
graph::GraphParts read_graph(native::Metadata& metadata, Loader& loader, const Reading& reading) {
  graph::GraphParts parts;
  parts.schema = {};
  for (size_t i = 0; i < metadata.node_types.size(); ++i) {
    native::NodeType& type = metadata.node_types[i];
    const bool main_type = static_cast<int32_t>(i) == metadata.node_type;
    graph::Columns columns;
    for (const native::Column& column : type.columns) {
      const bool is_label = main_type && !metadata.graph_ptr && column.name == metadata.label;
      const bool is_feature = main_type && column.name == metadata.feature;
      // Integers are converted, which a mapping would not allow.
      const bool converts = is_feature && !column.sparse && !base::is_floating(column.dense.dtype);
      graph::Column loaded = loader.column(column, !is_label && !converts);
      if (converts)
        loaded = float_features(std::get<Tensor>(loaded), reading.options.round_values,
                                loader.path(column.dense), reading.context.pool);
      if (is_feature && reading.options.check_finite) loader.check_features(column, loaded);
      columns.emplace(column.name, std::move(loaded));
    }
    parts.num_nodes.push_back(type.num_nodes);
    parts.node_columns.push_back(std::move(columns));
    parts.schema.node_types.push_back(std::move(type.name));
  }
  for (const native::EdgeType& type : metadata.edge_types) {
    reading.context.cancel.check("opening a data set");
    Tensor indptr = loader.read(type.indptr);
    Tensor indices = loader.read(type.indices);
    Tensor edge_ids = type.edge_ids ? loader.read(*type.edge_ids) : Tensor();
    const auto file_of = [&](std::string_view text) {
      const bool ids = text.starts_with("edge_ids") && type.edge_ids;
      return loader.path(text.starts_with("indices") ? type.indices
                         : ids                       ? *type.edge_ids
                                                     : type.indptr);
    };
    parts.topology.push_back(naming(file_of, [&] {
      return graph::csc_from_arrays(std::move(indptr), std::move(indices), std::move(edge_ids),
                                    parts.num_nodes[type.source], reading.context.pool);
    }));
    graph::Columns columns;
    for (const native::Column& column : type.columns) {
      graph::Column loaded = loader.column(column, true);
      if (is_edge_input(column.name) && reading.options.check_finite)
        loader.check_features(column, loaded);
      columns.emplace(column.name, std::move(loaded));
    }
    parts.edge_columns.push_back(std::move(columns));
    parts.schema.edge_types.push_back({type.source, type.target, type.name});
  }
  return parts;
}

// Reads a graph whose rows are elsewhere: the labels of its nodes alone.
graph::GraphParts read_labels(native::Metadata& metadata, Loader& loader,
                              std::shared_ptr<const graph::Elsewhere> rows) {
  native::NodeType& nodes = metadata.node_types[0];
  const native::EdgeType& edges = metadata.edge_types[0];
  graph::GraphParts parts;
  parts.schema.node_types = {std::move(nodes.name)};
  parts.schema.edge_types = {{edges.source, edges.target, edges.name}};
  parts.num_nodes = {nodes.num_nodes};
  parts.node_columns.emplace_back();
  for (const native::Column& column : nodes.columns)
    if (!column.sparse && column.name == metadata.label)
      parts.node_columns[0].emplace(column.name, loader.column(column, false));
  parts.elsewhere = std::move(rows);
  return parts;
}

void check_task(const native::Metadata& metadata, const std::string& where,
                const Reading& reading) {
  if (reading.options.task != Task::kNone && reading.options.task != metadata.task)
    fail(Status::kInvalidArgument, where,
         ": its labels are for task=", native::task_name(metadata.task),
         ", not task=", native::task_name(reading.options.task), "; leave the setting out");
}

// The data set around a graph, with labels, splits and weights.
DatasetRef finish(native::Metadata metadata, const std::string& where, Loader& loader,
                  graph::GraphParts parts) {
  std::vector<Split> splits = read_splits(metadata.splits, loader);
  GraphSet graphs;
  if (metadata.graph_ptr) graphs.ptr = loader.read(*metadata.graph_ptr);
  if (metadata.graph_labels) graphs.labels = loader.read(*metadata.graph_labels);
  // The file of the array that a text is about.
  const auto file_of = [&](std::string_view text) {
    if (metadata.graph_ptr && text.starts_with("graph_ptr"))
      return loader.path(*metadata.graph_ptr);
    if (metadata.graph_labels && text.starts_with("label"))
      return loader.path(*metadata.graph_labels);
    for (const native::NodeType& type : metadata.node_types)
      for (const native::Column& column : type.columns) {
        const bool main_type = &type == &metadata.node_types[metadata.node_type];
        if (!column.sparse && main_type && column.name == metadata.label &&
            text.starts_with("label"))
          return loader.path(column.dense);
        if (!column.sparse) continue;
        const std::pair<const char*, const Array*> arrays[] = {{".indptr", &column.indptr},
                                                               {".indices", &column.indices},
                                                               {".values", &column.values}};
        for (const auto& [part, array] : arrays)
          if (text.find(base::text("tensor '", column.name, "'", part)) != text.npos)
            return loader.path(*array);
      }
    return where;
  };
  Dataset dataset = naming(file_of, [&] {
    return build_dataset(graph::Graph::create(std::move(parts)), metadata.feature, metadata.label,
                         metadata.task == Task::kBinary, std::move(splits), metadata.num_classes,
                         metadata.node_type, metadata.graph_ptr ? &graphs : nullptr);
  });
  if (dataset.task != metadata.task || dataset.num_classes != metadata.num_classes)
    fail(Status::kFormat, where, ": the labels are of another task than it says");
  const auto weights = [&](const std::optional<Array>& array, const auto& make) {
    if (!array) return Tensor();
    const Tensor read = loader.read(*array);
    return naming([&](std::string_view) { return loader.path(*array); },
                  [&] { return make(read); });
  };
  dataset.class_weights = weights(metadata.class_weights, [&](const Tensor& read) {
    return make_class_weights(dataset, read.as<const double>());
  });
  dataset.sample_weights = weights(metadata.sample_weights, [&](const Tensor& read) {
    return make_sample_weights(dataset, read.view());
  });
  dataset.name = std::move(metadata.name);
  dataset.source = std::move(metadata.source);
  return std::make_shared<const Dataset>(std::move(dataset));
}

}  // namespace

DatasetRef native::read_described(Metadata metadata, const std::string& where, ArraySource& source,
                                  Reading& reading) {
  check_task(metadata, where, reading);
  Loader loader(source, reading);
  graph::GraphParts parts = read_graph(metadata, loader, reading);
  return finish(std::move(metadata), where, loader, std::move(parts));
}

DatasetRef native::read_around(Metadata metadata, const std::string& where, ArraySource& source,
                               Reading& reading, std::shared_ptr<const graph::Elsewhere> rows) {
  check_task(metadata, where, reading);
  Loader loader(source, reading);
  graph::GraphParts parts = read_labels(metadata, loader, std::move(rows));
  return finish(std::move(metadata), where, loader, std::move(parts));
}

DatasetRef read_native(const std::string& folder, Reading& reading) {
  const std::string where = base::join_path(folder, native::kMetadataFile);
  native::Metadata metadata =
      native::parse_metadata(base::read_file(where, native::kMaxMetadata), where);
  const int64_t version = metadata.version();
  FolderArrays source(folder, reading);
  DatasetRef dataset = native::read_described(std::move(metadata), where, source, reading);
  reading.context.log.add(base::LogLevel::kInfo,
                          base::text("opened ", folder, " as gnnmg, version ", version));
  return dataset;
}

}  // namespace gnnmg::data
