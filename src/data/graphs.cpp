#include "data/graphs.h"

#include <algorithm>
#include <numeric>

namespace gnnmg::data {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

std::vector<int64_t> CategoryColumn::values() const {
  std::vector<int64_t> values(num_categories());
  for (int64_t i = 0; i < num_categories(); ++i) values[i] = values_.id(i);
  std::sort(values.begin(), values.end());
  return values;
}

Tensor CategoryColumn::codes() const {
  std::vector<int64_t> order(num_categories()), rank(num_categories());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return values_.id(a) < values_.id(b); });
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int64_t>(i);
  Tensor codes = Tensor::empty(DType::kI64, {size()});
  const auto to = codes.as<int64_t>();
  for (int64_t i = 0; i < size(); ++i) to[i] = rank[codes_[i]];
  return codes;
}

base::CsrMatrix one_hot(const Tensor& codes, int64_t num_columns) {
  base::CsrMatrix matrix;
  matrix.num_rows = codes.rows();
  matrix.num_cols = num_columns;
  matrix.indptr = Tensor::empty(DType::kI64, {matrix.num_rows + 1});
  matrix.indices = Tensor::empty(DType::kI32, {matrix.num_rows});
  matrix.values = Tensor::empty(DType::kF32, {matrix.num_rows});
  const auto indptr = matrix.indptr.as<int64_t>();
  std::iota(indptr.begin(), indptr.end(), 0);
  std::ranges::fill(matrix.values.as<float>(), 1.0f);
  const auto from = codes.as<const int64_t>();
  const auto to = matrix.indices.as<int32_t>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<int32_t>(from[i]);
  return matrix;
}

graph::GraphRef with_degree_features(const graph::Graph& graph) {
  const graph::Csc& csc = graph.csc();
  CategoryColumn degrees;
  for (int64_t node = 0; node < csc.num_targets; ++node)
    degrees.push(csc.in_degree(node), [] { return "degrees of nodes"; });
  graph::GraphParts parts = graph.parts();
  parts.node_columns[0].insert_or_assign("x", one_hot(degrees.codes(), degrees.num_categories()));
  return graph::Graph::create(std::move(parts));
}

void set_tag_features(const CategoryColumn& tags, const std::string& where,
                      const OpenOptions& options, Found& found) {
  found.features_from = where;
  const bool differ = tags.num_categories() > 1;
  const Tensor codes = tags.codes();
  if (differ) {
    const std::vector<int64_t> values = tags.values();
    Tensor column = Tensor::empty(DType::kI64, {tags.size()});
    const auto from = codes.as<const int64_t>();
    const auto to = column.as<int64_t>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = values[from[i]];
    add_column(found.node_columns, "tag", std::move(column), where);
  }
  found.degree_features = options.degree_features > 0 || (options.degree_features == 0 && !differ);
  if (!found.degree_features) found.features = one_hot(codes, tags.num_categories());
}

void set_graph_classes(const CategoryColumn& labels, const std::string& where, base::Log& log,
                       Found& found) {
  found.labels = labels.codes();
  found.labels_from = where;
  found.num_classes = labels.num_categories();
  constexpr size_t kMost = 8;
  const std::vector<int64_t> values = labels.values();
  std::string note;
  for (size_t i = 0; i < std::min(values.size(), kMost); ++i)
    if (values[i] != static_cast<int64_t>(i))
      note += base::text(note.empty() ? "" : ", ", values[i], " is class ", i);
  if (!note.empty())
    log.add(base::LogLevel::kInfo,
            base::text(where, ": label ", note, values.size() > kMost ? ", and so on" : ""));
}

Tensor graph_ptr_of(Pieces<int32_t>& node_counts) {
  Tensor ptr = Tensor::empty(DType::kI64, {node_counts.size() + 1});
  int64_t* to = ptr.as<int64_t>().data();
  *to = 0;
  node_counts.drain([&to](int32_t count) {
    to[1] = to[0] + count;
    ++to;
  });
  return ptr;
}

void shift_edges(std::span<const int64_t> node_ptr, std::span<const int64_t> edge_ptr,
                 Found& found) {
  const auto shifted = [&](const Tensor& local) {
    Tensor ids = Tensor::empty(DType::kI32, local.shape());
    const auto to = ids.as<int32_t>();
    const auto shift = [&](auto from) {
      for (size_t g = 0; g + 1 < node_ptr.size(); ++g) {
        const int64_t count = node_ptr[g + 1] - node_ptr[g];
        for (int64_t e = edge_ptr[g]; e < edge_ptr[g + 1]; ++e) {
          if (from[e] < 0 || from[e] >= count)
            fail(Status::kRange, found.edges_from, ", row ", e, ": node ", from[e],
                 ", expected 0 to ", count - 1, " in graph ", g);
          to[e] = static_cast<int32_t>(node_ptr[g] + from[e]);
        }
      }
    };
    if (local.dtype() == DType::kI32)
      shift(local.as<const int32_t>());
    else
      shift(local.as<const int64_t>());
    return ids;
  };
  found.sources = shifted(found.sources);
  found.targets = shifted(found.targets);
}

void check_graph_ptr(const graph::Graph& graph, const Tensor& ptr) {
  if (!graph.homogeneous())
    fail(Status::kUnsupported, "graph_ptr: many graphs with several node or edge types");
  const int64_t num_nodes = graph.num_nodes();
  if (!ptr.defined() || ptr.dtype() != DType::kI64 || ptr.shape().num_dims != 1 || ptr.rows() < 2)
    fail(Status::kInvalidArgument, "graph_ptr: expected i64 [graphs + 1] for at least one graph");
  const auto starts = ptr.as<const int64_t>();
  const int64_t num_graphs = ptr.rows() - 1;
  if (starts[0] != 0) fail(Status::kInvalidArgument, "graph_ptr[0] is ", starts[0], ", expected 0");
  for (int64_t g = 0; g < num_graphs; ++g)
    if (starts[g + 1] <= starts[g])
      fail(Status::kInvalidArgument, "graph_ptr[", g + 1, "] is ", starts[g + 1],
           ", expected more than ", starts[g], ": graph ", g, " needs at least one node");
  if (starts[num_graphs] != num_nodes)
    fail(Status::kInvalidArgument, "graph_ptr[", num_graphs, "] is ", starts[num_graphs],
         ", expected ", num_nodes, ", the number of nodes");
  const graph::Csc& csc = graph.csc();
  const auto indptr = csc.indptr.as<const int64_t>();
  graph::visit_indices(csc, [&](auto sources) {
    for (int64_t g = 0; g < num_graphs; ++g)
      for (int64_t e = indptr[starts[g]]; e < indptr[starts[g + 1]]; ++e)
        if (sources[e] < starts[g] || sources[e] >= starts[g + 1])
          fail(Status::kRange, "edge ", csc.edge_id(e), " comes into graph ", g, " from node ",
               sources[e], ", expected ", starts[g], " to ", starts[g + 1] - 1);
  });
}

}  // namespace gnnmg::data
