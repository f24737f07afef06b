#include "graph/graph.h"

#include <limits>

namespace gnnmg::graph {
namespace {

using base::CsrMatrix;
using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

std::string edge_type_name(const Schema& schema, size_t i) {
  const EdgeType& type = schema.edge_types[i];
  return base::text("'", schema.node_types[type.source], " -", type.name, "-> ",
                    schema.node_types[type.target], "'");
}

// `where` names the tensor in every error.
void check_vector(const Tensor& tensor, DType dtype, int64_t length, const std::string& where) {
  if (!tensor.defined()) fail(Status::kInvalidArgument, where, " is missing");
  if (tensor.dtype() != dtype || tensor.shape() != base::Shape{length})
    fail(Status::kInvalidArgument, where, " is ", base::dtype_name(tensor.dtype()), " ",
         tensor.shape().to_string(), ", expected ", base::dtype_name(dtype), " [", length, "]");
}

void check_topology(const Csc& csc, int64_t num_sources, int64_t num_targets,
                    const std::string& where) {
  if (csc.num_sources != num_sources)
    fail(Status::kInvalidArgument, where, ": topology has ", csc.num_sources, " sources, expected ",
         num_sources, ", the nodes of the source type");
  if (csc.num_targets != num_targets)
    fail(Status::kInvalidArgument, where, ": topology has ", csc.num_targets, " targets, expected ",
         num_targets, ", the nodes of the target type");
  check_vector(csc.indptr, DType::kI64, num_targets + 1, where + ": indptr");
  const int64_t num_edges = csc.indptr.as<int64_t>()[num_targets];
  const auto id_type = [](int64_t bound) {
    return bound <= std::numeric_limits<int32_t>::max() ? DType::kI32 : DType::kI64;
  };
  check_vector(csc.indices, id_type(num_sources), num_edges, where + ": indices");
  if (csc.edge_ids.defined())
    check_vector(csc.edge_ids, id_type(num_edges), num_edges, where + ": edge_ids");
}

void check_csr(const CsrMatrix& matrix, const std::string& where) {
  if (matrix.num_rows < 0 || matrix.num_cols < 0 ||
      matrix.num_cols > std::numeric_limits<int32_t>::max())
    fail(Status::kInvalidArgument, where, " is sparse with shape [", matrix.num_rows, ", ",
         matrix.num_cols, "], expected sizes of 0 or more and columns below 2^31");
  check_vector(matrix.indptr, DType::kI64, matrix.num_rows + 1, where + ".indptr");
  const std::span<const int64_t> indptr = matrix.indptr.as<const int64_t>();
  if (indptr[0] != 0)
    fail(Status::kInvalidArgument, where, ".indptr[0] is ", indptr[0], ", expected 0");
  for (int64_t r = 0; r < matrix.num_rows; ++r)
    if (indptr[r + 1] < indptr[r])
      fail(Status::kInvalidArgument, where, ".indptr[", r + 1, "] is ", indptr[r + 1],
           ", expected at least ", indptr[r], ", the pointer before it");
  check_vector(matrix.indices, DType::kI32, indptr[matrix.num_rows], where + ".indices");
  check_vector(matrix.values, DType::kF32, indptr[matrix.num_rows], where + ".values");
  const std::span<const int32_t> columns = matrix.indices.as<const int32_t>();
  for (size_t e = 0; e < columns.size(); ++e)
    if (columns[e] < 0 || columns[e] >= matrix.num_cols)
      fail(Status::kRange, where, ".indices[", e, "] is ", columns[e],
           ", expected a column in [0, ", matrix.num_cols, ")");
}

void check_columns(const Columns& columns, int64_t rows, const char* items,
                   const std::string& where) {
  for (const auto& [name, column] : columns) {
    if (name.empty()) fail(Status::kInvalidArgument, where, ": a tensor has an empty name");
    const std::string what = base::text(where, ": tensor '", name, "'");
    if (const auto* tensor = std::get_if<Tensor>(&column)) {
      if (!tensor->defined()) fail(Status::kInvalidArgument, what, " is missing");
      if (tensor->shape().num_dims == 0)
        fail(Status::kInvalidArgument, what, " has shape [], expected a row for each of ", rows,
             " ", items);
    } else {
      check_csr(std::get<CsrMatrix>(column), what);
    }
    if (column_rows(column) != rows)
      fail(Status::kInvalidArgument, what, " has ", column_rows(column), " rows, expected ", rows,
           ", the number of ", items);
  }
}

void check_length(size_t found, size_t expected, bool may_be_shorter, const char* what,
                  const char* of) {
  if (found > expected || (found < expected && !may_be_shorter))
    fail(Status::kInvalidArgument, "graph has ", what, " for ", found, " ", of, ", the schema has ",
         expected);
}

const Column* find(const Columns& columns, std::string_view name) {
  const auto it = columns.find(name);
  return it == columns.end() ? nullptr : &it->second;
}

}  // namespace

int64_t column_rows(const Column& column) {
  if (const auto* tensor = std::get_if<Tensor>(&column)) return tensor->rows();
  return std::get<CsrMatrix>(column).num_rows;
}

void expect_whole(const GraphParts& parts, std::string_view who) {
  if (parts.elsewhere)
    fail(Status::kUnsupported, "the graph lies in parts, and this process has ",
         parts.elsewhere->describe(), "; ", who,
         " needs all of it: gnnmg_dataset_open() opens all parts as one graph, if memory suffices");
}

std::shared_ptr<const Graph> Graph::create(GraphParts parts) {
  const Schema& schema = parts.schema;
  schema.check();
  check_length(parts.num_nodes.size(), schema.node_types.size(), false, "node counts",
               "node types");
  if (parts.elsewhere && !schema.is_homogeneous())
    fail(Status::kUnsupported, "a graph of several types lies in parts, expected one of each");
  check_length(parts.topology.size(), parts.elsewhere ? 0 : schema.edge_types.size(), false,
               "topology", "edge types");
  check_length(parts.node_columns.size(), schema.node_types.size(), true, "tensors", "node types");
  check_length(parts.edge_columns.size(), schema.edge_types.size(), true, "tensors", "edge types");
  parts.node_columns.resize(schema.node_types.size());
  parts.edge_columns.resize(schema.edge_types.size());

  for (size_t i = 0; i < schema.node_types.size(); ++i) {
    const std::string where = base::text("node type '", schema.node_types[i], "'");
    if (parts.num_nodes[i] < 0)
      fail(Status::kInvalidArgument, where, " has ", parts.num_nodes[i],
           " nodes, expected 0 or more");
    check_columns(parts.node_columns[i], parts.num_nodes[i], "nodes", where);
  }
  for (size_t i = 0; i < parts.topology.size(); ++i) {
    const EdgeType& type = schema.edge_types[i];
    const std::string where = "edge type " + edge_type_name(schema, i);
    check_topology(parts.topology[i], parts.num_nodes[type.source], parts.num_nodes[type.target],
                   where);
    check_columns(parts.edge_columns[i], parts.topology[i].num_edges(), "edges", where);
  }
  return std::shared_ptr<const Graph>(new Graph(std::move(parts)));
}

const Column* Graph::node_column(std::string_view name, int32_t node_type) const {
  return find(parts_.node_columns[node_type], name);
}

const Column* Graph::edge_column(std::string_view name, int32_t edge_type) const {
  return find(parts_.edge_columns[edge_type], name);
}

}  // namespace gnnmg::graph
