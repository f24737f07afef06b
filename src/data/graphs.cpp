#include "data/graphs.h"
#include "graph/homogeneous.h"

#include <algorithm>
#include <array>

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

Codes CategoryColumn::codes(Coding coding) const {
  const std::vector<int64_t> sorted = values();
  Codes codes{Tensor::empty(DType::kI64, {size()}), num_categories()};
  const bool range = coding == Coding::kRange && !sorted.empty() &&
                     static_cast<uint64_t>(sorted.back()) - static_cast<uint64_t>(sorted[0]) <
                         static_cast<uint64_t>(kMaxCategories);
  if (range) codes.count = sorted.back() - sorted[0] + 1;
  std::vector<int64_t> code(num_categories());
  for (int64_t i = 0; i < num_categories(); ++i)
    code[i] = range ? values_.id(i) - sorted[0]
                    : std::ranges::lower_bound(sorted, values_.id(i)) - sorted.begin();
  const auto to = codes.values.as<int64_t>();
  for (int64_t i = 0; i < size(); ++i) to[i] = code[codes_[i]];
  return codes;
}

std::vector<Codes> codes_of(std::span<const CategoryColumn> columns, Coding coding) {
  std::vector<Codes> lists;
  for (const CategoryColumn& column : columns) lists.push_back(column.codes(coding));
  return lists;
}

int64_t width_of(std::span<const Codes> lists) {
  int64_t width = 0;
  for (const Codes& list : lists) width += list.count;
  return width;
}

Tensor beside(std::span<const Codes> lists) {
  if (lists.size() == 1) return lists[0].values;
  const auto count = static_cast<int64_t>(lists.size());
  Tensor rows = Tensor::empty(DType::kI64, {lists[0].values.rows(), count});
  const auto to = rows.as<int64_t>();
  for (int64_t k = 0; k < count; ++k) {
    const auto from = lists[k].values.as<const int64_t>();
    for (size_t i = 0; i < from.size(); ++i) to[static_cast<int64_t>(i) * count + k] = from[i];
  }
  return rows;
}

Tensor values_of(std::span<const CategoryColumn> columns) {
  std::vector<Codes> lists = codes_of(columns, Coding::kOccurring);
  for (size_t k = 0; k < lists.size(); ++k) {
    const std::vector<int64_t> values = columns[k].values();
    for (int64_t& value : lists[k].values.as<int64_t>()) value = values[value];
  }
  return beside(lists);
}

base::CsrMatrix one_hot(std::span<const Codes> lists) {
  const int64_t rows = lists[0].values.rows(), each = static_cast<int64_t>(lists.size());
  base::CsrMatrix matrix;
  matrix.num_rows = rows;
  matrix.num_cols = width_of(lists);
  matrix.indptr = Tensor::empty(DType::kI64, {rows + 1});
  matrix.indices = Tensor::empty(DType::kI32, {rows * each});
  matrix.values = Tensor::empty(DType::kF32, {rows * each});
  std::ranges::fill(matrix.values.as<float>(), 1.0f);
  const auto indptr = matrix.indptr.as<int64_t>();
  for (int64_t i = 0; i <= rows; ++i) indptr[i] = i * each;
  const auto to = matrix.indices.as<int32_t>();
  int64_t first = 0;
  for (int64_t k = 0; k < each; first += lists[k++].count) {
    const auto from = lists[k].values.as<const int64_t>();
    for (int64_t i = 0; i < rows; ++i) to[i * each + k] = static_cast<int32_t>(first + from[i]);
  }
  return matrix;
}

void set_one_hot(std::span<const Codes> lists, Tensor& out, int64_t first_column) {
  const auto to = out.as<float>();
  const int64_t columns = out.shape().row_elements(), width = width_of(lists);
  for (int64_t i = 0; i < out.rows(); ++i) {
    float* const row = to.data() + i * columns;
    std::fill_n(row + first_column, width, 0.0f);
    int64_t first = first_column;
    for (const Codes& list : lists) {
      row[first + list.values.as<const int64_t>()[i]] = 1;
      first += list.count;
    }
  }
}

graph::GraphRef with_degree_features(const graph::Graph& graph) {
  const graph::Csc& csc = graph.csc();
  CategoryColumn degrees;
  for (int64_t node = 0; node < csc.num_targets; ++node)
    degrees.push(csc.in_degree(node), [] { return "degrees of nodes"; });
  graph::GraphParts parts = graph.parts();
  parts.node_columns[0].insert_or_assign("x", one_hot(std::array{degrees.codes()}));
  return graph::Graph::create(std::move(parts));
}

void set_tag_features(std::span<const CategoryColumn> tags, Coding coding, const std::string& where,
                      const OpenOptions& options, Found& found) {
  found.features_from = where;
  const bool differ =
      std::ranges::any_of(tags, [](const auto& column) { return column.num_categories() > 1; });
  if (differ) add_column(found.node_columns, "tag", values_of(tags), where);
  found.degree_features = options.degree_features > 0 || (options.degree_features == 0 && !differ);
  if (!found.degree_features) found.features = one_hot(codes_of(tags, coding));
}

void set_graph_classes(const CategoryColumn& labels, const std::string& where, base::Log& log,
                       Found& found) {
  found.labels = labels.codes().values;
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
  graph::expect_homogeneous(graph, "sets of many graphs");
  const int64_t num_nodes = graph.num_nodes();
  if (!ptr.defined() || ptr.dtype() != DType::kI64 || ptr.shape().num_dims != 1 || ptr.rows() < 2)
    fail(Status::kInvalidArgument, "graph_ptr: expected i64 [graphs + 1] for at least one graph");
  const auto starts = ptr.as<const int64_t>();
  const int64_t num_graphs = ptr.rows() - 1;
  if (starts[0] != 0) fail(Status::kInvalidArgument, "graph_ptr[0] is ", starts[0], ", expected 0");
  for (int64_t g = 0; g < num_graphs; ++g)
    if (starts[g + 1] < starts[g])
      fail(Status::kInvalidArgument, "graph_ptr[", g + 1, "] is ", starts[g + 1], ", expected ",
           starts[g], " or more");
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
