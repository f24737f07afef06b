#include "data/native_metadata.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>

#include "base/file.h"
#include "data/json_node.h"
#include "data/split.h"
#include "io/bytes.h"
#include "io/json_writer.h"

namespace gnnmg::data::native {
namespace {

using base::DType;
using base::fail;
using base::Shape;
using base::Status;

constexpr DType kDTypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                             DType::kI64, DType::kI32, DType::kU8,  DType::kBool};
constexpr std::pair<Task, const char*> kTasks[] = {{Task::kNone, "none"},
                                                   {Task::kMulticlass, "multiclass"},
                                                   {Task::kBinary, "binary"},
                                                   {Task::kRegression, "regression"}};

Array read_array(const Node& node) {
  node.expect_keys({"file", "dtype", "shape"});
  Array array;
  array.file = node.at("file").string();
  base::check_relative_name(array.file, node.path());
  if (array.file.find('/') != std::string::npos || array.file.front() == '.')
    node.refuse("the file name \"", io::printable(array.file),
                "\", expected a plain name in the same folder");
  const std::string dtype = node.at("dtype").string();
  bool known = false;
  for (DType candidate : kDTypes) {
    if (dtype != base::dtype_name(candidate)) continue;
    array.dtype = candidate;
    known = true;
  }
  if (!known)
    node.refuse("unknown element type \"", io::printable(dtype),
                "\", expected f32, f64, f16, bf16, i64, i32, u8 or bool");
  std::vector<int64_t> dims;
  for (const Node& dim : node.at("shape").items()) dims.push_back(dim.size());
  if (dims.empty() || dims.size() > static_cast<size_t>(base::kMaxDims))
    node.refuse(dims.size(), " dimensions, expected 1 to ", base::kMaxDims);
  int64_t bytes = base::dtype_size(array.dtype);  // counts beside a 0 too, for Shape's limit
  for (const int64_t dim : dims)
    bytes = base::checked_mul(bytes, std::max<int64_t>(dim, 1), node.at("shape").path());
  array.shape = Shape(dims);
  return array;
}

void expect_array(const Node& node, const Array& array, std::initializer_list<DType> dtypes,
                  const Shape& shape) {
  std::string names;
  bool right = false;
  for (DType dtype : dtypes) {
    names += base::text(names.empty() ? "" : " or ", base::dtype_name(dtype));
    right |= dtype == array.dtype;
  }
  if (!right || array.shape != shape)
    node.refuse(base::dtype_name(array.dtype), " ", array.shape.to_string(), ", expected ", names,
                " ", shape.to_string());
}

Column read_column(const Node& node, int64_t rows) {
  Column column;
  const std::string layout = node.at("layout").string();
  if (layout == "dense") {
    node.expect_keys({"name", "layout", "array"});
    column.dense = read_array(node.at("array"));
    if (column.dense.shape[0] != rows)
      node.at("array").refuse(column.dense.shape[0], " rows, expected ", rows);
  } else if (layout == "csr") {
    node.expect_keys({"name", "layout", "num_cols", "indptr", "indices", "values"});
    column.sparse = true;
    column.num_cols = node.at("num_cols").integer(0, std::numeric_limits<int32_t>::max());
    column.indptr = read_array(node.at("indptr"));
    column.indices = read_array(node.at("indices"));
    column.values = read_array(node.at("values"));
    expect_array(node.at("indptr"), column.indptr, {DType::kI64},
                 {base::checked_add(rows, 1, node.path())});
    expect_array(node.at("indices"), column.indices, {DType::kI32}, {column.indices.shape[0]});
    expect_array(node.at("values"), column.values, {DType::kF32}, {column.indices.shape[0]});
  } else {
    node.at("layout").refuse("\"", io::printable(layout), "\", expected \"dense\" or \"csr\"");
  }
  column.name = node.at("name").string();
  if (column.name.empty()) node.at("name").refuse("empty, expected a name");
  return column;
}

std::vector<Column> read_columns(const Node& node, int64_t rows) {
  std::vector<Column> columns;
  std::set<std::string> names;
  for (const Node& item : node.items()) {
    columns.push_back(read_column(item, rows));
    if (!names.insert(columns.back().name).second)
      item.refuse("the name \"", io::printable(columns.back().name), "\" occurs twice");
  }
  return columns;
}

EdgeType read_edge_type(const Node& node, const std::vector<NodeType>& node_types) {
  node.expect_keys({"name", "source", "target", "indptr", "indices", "?edge_ids", "tensors"});
  const auto type_named = [&](const Node& end) {
    const std::string name = end.string();
    for (size_t i = 0; i < node_types.size(); ++i)
      if (node_types[i].name == name) return static_cast<int32_t>(i);
    end.refuse("there is no node type \"", io::printable(name), "\"");
  };
  EdgeType type;
  type.name = node.at("name").string();
  type.source = type_named(node.at("source"));
  type.target = type_named(node.at("target"));
  type.indptr = read_array(node.at("indptr"));
  type.indices = read_array(node.at("indices"));
  const int64_t num_targets = node_types[type.target].num_nodes;
  expect_array(node.at("indptr"), type.indptr, {DType::kI64},
               {base::checked_add(num_targets, 1, node.path())});
  expect_array(node.at("indices"), type.indices, {DType::kI32, DType::kI64},
               {type.indices.shape[0]});
  if (node.has("edge_ids")) {
    type.edge_ids = read_array(node.at("edge_ids"));
    expect_array(node.at("edge_ids"), *type.edge_ids, {DType::kI32, DType::kI64},
                 {type.num_edges()});
  }
  type.columns = read_columns(node.at("tensors"), type.num_edges());
  return type;
}

SplitGroup read_split(const Node& node, int64_t num_ids) {
  node.expect_keys({"name", "indices", "codes"});
  SplitGroup split;
  split.name = node.at("name").string();
  for (const Node& index : node.at("indices").items())
    split.indices.push_back(
        static_cast<int32_t>(index.integer(0, std::numeric_limits<int32_t>::max())));
  check_split_count(0, static_cast<int64_t>(split.indices.size()), node.path());
  split.codes = read_array(node.at("codes"));
  expect_array(node.at("codes"), split.codes, {DType::kU8},
               {static_cast<int64_t>(split.indices.size()), num_ids});
  return split;
}

const Column* find(const std::vector<Column>& columns, std::string_view name) {
  for (const Column& column : columns)
    if (column.name == name) return &column;
  return nullptr;
}

// Many graphs in the one, and whether it may be many.
void read_graphs(const Node& root, Metadata& metadata) {
  if (!root.has("graph_ptr")) {
    if (root.has("graph_labels")) root.at("graph_labels").refuse("there is no graph_ptr");
    return;
  }
  const Node ptr = root.at("graph_ptr");
  if (metadata.node_types.size() != 1 || metadata.edge_types.size() != 1)
    ptr.refuse("many graphs with several node or edge types");
  metadata.graph_ptr = read_array(ptr);
  const int64_t entries = metadata.graph_ptr->shape[0];
  expect_array(ptr, *metadata.graph_ptr, {DType::kI64}, {entries});
  if (entries < 2)
    ptr.refuse(entries, " entries, expected one more than there are graphs, at least 2");
  if (root.has("graph_labels") == metadata.label.empty())
    root.at("label").refuse("\"", io::printable(metadata.label),
                            "\", expected a name with graph_labels and \"\" without");
  if (root.has("graph_labels")) metadata.graph_labels = read_array(root.at("graph_labels"));
}

// Labels have the form that their task says.
void check_roles(const Node& root, const Metadata& metadata) {
  const NodeType& type = metadata.node_types[metadata.node_type];
  const Column* feature = find(type.columns, metadata.feature);
  if (!metadata.feature.empty() && !feature)
    root.at("feature").refuse("there is no tensor \"", io::printable(metadata.feature),
                              "\" on node type \"", io::printable(type.name), "\"");
  if ((metadata.task == Task::kNone) != metadata.label.empty())
    root.at("label").refuse("\"", io::printable(metadata.label),
                            "\", expected a tensor's name with a task and \"\" without one");
  if (metadata.label.empty()) {
    if (metadata.num_classes != 0)
      root.at("num_classes").refuse(metadata.num_classes, ", expected 0 without labels");
    return;
  }
  const Column* column = metadata.graph_ptr ? nullptr : find(type.columns, metadata.label);
  const Array* label = metadata.graph_ptr          ? &*metadata.graph_labels
                       : column && !column->sparse ? &column->dense
                                                   : nullptr;
  if (!label)
    root.at("label").refuse("there is no dense tensor \"", io::printable(metadata.label),
                            "\" on node type \"", io::printable(type.name), "\"");
  const bool classes = metadata.task == Task::kMulticlass;
  const int64_t rows = metadata.num_samples();
  const Shape shape = classes ? Shape{rows} : Shape{rows, metadata.num_classes};
  if (label->dtype != (classes ? DType::kI64 : DType::kF32) || label->shape != shape)
    root.at("label").refuse("the tensor is ", base::dtype_name(label->dtype), " ",
                            label->shape.to_string(), ", expected ", classes ? "i64 " : "f32 ",
                            shape.to_string());
}

void write_array(io::JsonWriter& out, const char* key, const Array& array) {
  out.key(key).begin_object().member("file", array.file);
  out.member("dtype", base::dtype_name(array.dtype)).key("shape").begin_list();
  for (int i = 0; i < array.shape.num_dims; ++i) out.value(array.shape[i]);
  out.end_list().end_object();
}

void write_columns(io::JsonWriter& out, const std::vector<Column>& columns) {
  out.key("tensors").begin_list();
  for (const Column& column : columns) {
    out.begin_object().member("name", column.name);
    out.member("layout", column.sparse ? "csr" : "dense");
    if (column.sparse) {
      out.member("num_cols", column.num_cols);
      write_array(out, "indptr", column.indptr);
      write_array(out, "indices", column.indices);
      write_array(out, "values", column.values);
    } else {
      write_array(out, "array", column.dense);
    }
    out.end_object();
  }
  out.end_list();
}

}  // namespace

Metadata parse_metadata(std::span<const uint8_t> text, std::string_view where) {
  const io::JsonValue document = io::parse_json(text, where);
  const Node root(document, std::string(where));
  // The version first: the form of a newer one is unknown.
  if (!root.has("format") || root.at("format").string() != kFormatName)
    root.refuse("expected \"format\": \"", kFormatName, "\"");
  const int64_t version = root.at("version").size();
  if (version > kVersion)
    fail(Status::kVersion, where, ": format version ", version, ", this library reads up to ",
         kVersion);
  if (version < 1) root.at("version").refuse(version, ", expected 1 to ", kVersion);
  root.expect_keys({"format", "version", "name", "source", "task", "num_classes", "node_type",
                    "feature", "label", "node_types", "edge_types", "splits", "?class_weights",
                    "?sample_weights", "?graph_ptr", "?graph_labels"});
  if (version < 2 && (root.has("graph_ptr") || root.has("graph_labels")))
    root.refuse("graphs are known from version 2 on, found version ", version);
  Metadata metadata;
  metadata.name = root.at("name").string();
  metadata.source = root.at("source").string();
  const std::string task = root.at("task").string();
  bool known = false;
  for (const auto& [value, name] : kTasks) {
    if (task != name) continue;
    metadata.task = value;
    known = true;
  }
  if (!known)
    root.at("task").refuse("\"", io::printable(task),
                           "\", expected none, multiclass, binary or regression");
  metadata.num_classes = root.at("num_classes").size();
  metadata.feature = root.at("feature").string();
  metadata.label = root.at("label").string();
  for (const Node& node : root.at("node_types").items()) {
    node.expect_keys({"name", "num_nodes", "tensors"});
    NodeType type;
    type.name = node.at("name").string();
    type.num_nodes = node.at("num_nodes").size();
    type.columns = read_columns(node.at("tensors"), type.num_nodes);
    metadata.node_types.push_back(std::move(type));
  }
  if (metadata.node_types.empty()) root.at("node_types").refuse("empty, expected a node type");
  for (const Node& node : root.at("edge_types").items())
    metadata.edge_types.push_back(read_edge_type(node, metadata.node_types));
  metadata.node_type = static_cast<int32_t>(
      root.at("node_type").integer(0, static_cast<int64_t>(metadata.node_types.size()) - 1));
  read_graphs(root, metadata);
  std::set<std::pair<std::string, int32_t>> seen;
  for (const Node& node : root.at("splits").items()) {
    metadata.splits.push_back(read_split(node, metadata.num_samples()));
    const SplitGroup& group = metadata.splits.back();
    for (int32_t index : group.indices)
      if (!seen.emplace(group.name, index).second)
        node.refuse("split \"", io::printable(group.name), "\" ", index, " occurs twice");
  }
  check_roles(root, metadata);
  const auto read_weights = [&](const char* key, int64_t count) -> std::optional<Array> {
    if (!root.has(key)) return std::nullopt;
    if (metadata.task == Task::kNone) root.at(key).refuse("there are no labels to weigh");
    Array weights = read_array(root.at(key));
    expect_array(root.at(key), weights, {DType::kF64}, {count});
    return weights;
  };
  metadata.class_weights = read_weights("class_weights", metadata.num_classes);
  metadata.sample_weights = read_weights("sample_weights", metadata.num_samples());
  return metadata;
}

const char* task_name(Task task) {
  for (const auto& [value, name] : kTasks)
    if (value == task) return name;
  return "?";
}

std::string metadata_text(const Metadata& metadata) {
  const char* const task = task_name(metadata.task);
  try {
    io::JsonWriter out(1);
    out.begin_object().member("format", kFormatName).member("version", metadata.version());
    out.member("name", metadata.name).member("source", metadata.source).member("task", task);
    out.member("num_classes", metadata.num_classes);
    out.member("node_type", int64_t{metadata.node_type});
    out.member("feature", metadata.feature).member("label", metadata.label);
    out.key("node_types").begin_list();
    for (const NodeType& type : metadata.node_types) {
      out.begin_object().member("name", type.name).member("num_nodes", type.num_nodes);
      write_columns(out, type.columns);
      out.end_object();
    }
    out.end_list().key("edge_types").begin_list();
    for (const EdgeType& type : metadata.edge_types) {
      out.begin_object().member("name", type.name);
      out.member("source", metadata.node_types[type.source].name);
      out.member("target", metadata.node_types[type.target].name);
      write_array(out, "indptr", type.indptr);
      write_array(out, "indices", type.indices);
      if (type.edge_ids) write_array(out, "edge_ids", *type.edge_ids);
      write_columns(out, type.columns);
      out.end_object();
    }
    out.end_list().key("splits").begin_list();
    for (const SplitGroup& split : metadata.splits) {
      out.begin_object().member("name", split.name).key("indices").begin_list();
      for (const int32_t index : split.indices) out.value(int64_t{index});
      out.end_list();
      write_array(out, "codes", split.codes);
      out.end_object();
    }
    out.end_list();
    if (metadata.class_weights) write_array(out, "class_weights", *metadata.class_weights);
    if (metadata.sample_weights) write_array(out, "sample_weights", *metadata.sample_weights);
    if (metadata.graph_ptr) write_array(out, "graph_ptr", *metadata.graph_ptr);
    if (metadata.graph_labels) write_array(out, "graph_labels", *metadata.graph_labels);
    return out.end_object().finish() + "\n";
  } catch (const base::Error& error) {
    fail(error.status(), "data set \"", io::printable(metadata.name), "\": the name ",
         error.what());
  }
}

bool looks_native(std::string_view start) { return start.find(kFormatName) != start.npos; }

}  // namespace gnnmg::data::native
