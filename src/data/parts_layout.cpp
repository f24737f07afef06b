#include "data/parts_layout.h"

namespace gnnmg::data::parts {
namespace {

void add_column(const native::Column& column, Lies rows, Lies starts, Lies entries, Layout& out) {
  if (!column.sparse) {
    out[column.dense.file] = {rows, column.dense, {}};
    return;
  }
  out[column.indptr.file] = {starts, column.indptr, {}};
  out[column.indices.file] = {entries, column.indices, column.indptr.file};
  out[column.values.file] = {entries, column.values, column.indptr.file};
}

}  // namespace

Layout layout_of(const native::Metadata& metadata) {
  Layout out;
  for (const native::Column& column : metadata.node_types[0].columns) {
    const bool label = !column.sparse && column.name == metadata.label;
    add_column(column, label ? Lies::kWhole : Lies::kNodeRows, Lies::kNodeStarts,
               Lies::kNodeEntries, out);
  }
  const native::EdgeType& edges = metadata.edge_types[0];
  out[edges.indptr.file] = {Lies::kDegrees, edges.indptr, {}};
  out[edges.indices.file] = {Lies::kEdges, edges.indices, {}};
  if (edges.edge_ids) out[edges.edge_ids->file] = {Lies::kEdges, *edges.edge_ids, {}};
  for (const native::Column& column : edges.columns)
    add_column(column, Lies::kEdgeRows, Lies::kEdgeStarts, Lies::kEdgeEntries, out);
  const auto whole = [&](const native::Array& array) {
    out[array.file] = {Lies::kWhole, array, {}};
  };
  for (const native::SplitGroup& split : metadata.splits) whole(split.codes);
  if (metadata.class_weights) whole(*metadata.class_weights);
  if (metadata.sample_weights) whole(*metadata.sample_weights);
  return out;
}

base::Shape part_shape(const native::Array& array, int64_t rows) {
  base::Shape shape = array.shape;
  shape.dims[0] = rows;
  return shape;
}

}  // namespace gnnmg::data::parts
