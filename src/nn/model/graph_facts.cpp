#include "nn/model/graph_facts.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

#include "base/error.h"
#include "data/edge_tensors.h"
#include "graph/homogeneous.h"
#include "nn/conv/layers.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kFactRows = 1 << 16;  // rows checked at a time

std::string listed(std::span<const char* const> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += base::text(i == 0 ? "'" : i + 1 < names.size() ? ", '" : " or '", names[i], "'");
  return text;
}

using Names = std::span<const char* const>;

std::string tensors_of(const auto& names) {
  std::string text;
  for (const std::string& name : names)
    text += base::text(text.empty() ? "has '" : ", '", name, "'");
  return text.empty() ? "has none" : text;
}

[[noreturn]] void fail_missing(Names names, const char* what, const std::string& tensors) {
  fail(Status::kNotFound, "the model reads ", what, " of edges, from an edge tensor ",
       listed(names), "; the graph ", tensors);
}

void check_width(int64_t found, int64_t expected, const char* what) {
  if (found != expected)
    fail(Status::kInvalidArgument, "the ", what, " of edges have ", found,
         " columns, the model expects ", expected);
}

void check_integers(base::DType dtype) {
  if (base::is_floating(dtype))
    fail(Status::kInvalidArgument, "the types of edges are ", base::dtype_name(dtype),
         ", expected integers");
}

// Opens the edge tensor of one of these names, with `columns` numbers per edge; 0: any.
std::unique_ptr<const feature::FeatureStore> open(const graph::Graph& graph, Names names,
                                                  const char* what, int64_t columns) {
  const graph::Column* column = edge_column(graph, names);
  if (!column) fail_missing(names, what, tensors_of(std::views::keys(graph.edge_columns())));
  const auto* dense = std::get_if<base::Tensor>(column);
  if (!dense)
    fail(Status::kInvalidArgument, "the ", what,
         " of edges are a sparse matrix, expected a tensor");
  check_width(dense->shape().row_elements(), columns, what);
  return feature::make_store(*column);
}

// Returns the number of the column of one of these names, for a graph in parts.
int64_t find_told(std::span<const graph::EdgeColumn> columns, Names names, const char* what,
                  int64_t width) {
  for (const char* name : names)
    for (size_t number = 0; number < columns.size(); ++number) {
      if (columns[number].name != name) continue;
      check_width(columns[number].num_cols, width, what);
      return static_cast<int64_t>(number);
    }
  fail_missing(names, what, tensors_of(std::views::transform(columns, &graph::EdgeColumn::name)));
}

// The numbers of the columns for the needs; negative if not needed.
struct ColumnsRead {
  int64_t weights = -1, features = -1, types = -1;
  ColumnsRead(const EdgeNeeds& needs, std::span<const graph::EdgeColumn> columns) {
    if (needs.weights) weights = find_told(columns, data::kEdgeWeightNames, "weights", 1);
    if (needs.features > 0)
      features = find_told(columns, data::kEdgeFeatureNames, "features", needs.features);
    if (needs.types == 0) return;
    types = find_told(columns, data::kEdgeTypeNames, "types", 1);
    check_integers(columns[static_cast<size_t>(types)].dtype);
  }
};

// Refuses numbers outside [0, bounds[k]) in column k.
void check_codes(const at::Tensor& codes, std::span<const int64_t> bounds, int64_t first,
                 const char* what) {
  const int64_t width = static_cast<int64_t>(bounds.size());
  const int64_t* code = codes.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < codes.numel(); ++i)
    if (code[i] < 0 || code[i] >= bounds[i % width])
      fail(Status::kRange, "edge ", first + i / width, " has ", what,
           width > 1 ? base::text(" ", i % width) : "", " ", code[i], ", expected 0 to ",
           bounds[i % width] - 1);
}

}  // namespace

EdgeNeeds edge_needs(const ModelConfig& config) {
  EdgeNeeds needs;
  if (config.architecture == Architecture::kLayers) {
    for (const LayerConfig& layer : config.layers) {
      if (layer.kind != LayerConfig::Kind::kConv) continue;
      const EdgeNeeds own = edge_needs(layer.options);
      if (own.weights)
        needs.loop_weight =
            needs.weights ? std::min(needs.loop_weight, own.loop_weight) : own.loop_weight;
      needs.weights = needs.weights || own.weights;
      needs.features = std::max(needs.features, own.features);
      needs.types = std::max(needs.types, own.types);
    }
    return needs;
  }
  needs.weights = config.edge_weights;
  needs.features = config.edge_columns();
  needs.vocabulary = config.edge_vocabulary;
  needs.loop_weight = config.improved ? 2 : 1;
  needs.types = config.architecture == Architecture::kRelation ? config.relations : 0;
  return needs;
}

std::vector<std::string> edge_columns_read(const EdgeNeeds& needs,
                                           std::span<const graph::EdgeColumn> columns) {
  const ColumnsRead read(needs, columns);
  std::vector<std::string> names;
  for (const int64_t number : {read.weights, read.features, read.types})
    if (number >= 0) names.push_back(columns[static_cast<size_t>(number)].name);
  return names;
}

std::vector<EdgeValues> told_edges(const ModelConfig& config, const sample::Sample& sample,
                                   const Device* device) {
  const EdgeNeeds needs = edge_needs(config);
  if (!sample.edge_columns || !needs.any()) return {};
  const std::vector<graph::EdgeColumn>& columns = *sample.edge_columns;
  const ColumnsRead read(needs, columns);
  const at::ScalarType type = scalar_type(config.dtype);
  Execution execution;
  execution.device = device;
  std::vector<EdgeValues> all;
  for (size_t layer = 0; layer < sample.blocks.size(); ++layer) {
    const int64_t count = sample.blocks[layer].num_edges;
    const auto rows = [&](int64_t number, at::ScalarType wanted) {
      if (number < 0) return at::Tensor();
      const graph::EdgeColumn& column = columns[static_cast<size_t>(number)];
      const auto& bytes = sample.store_of(layer).edge_rows[static_cast<size_t>(number)];
      return at::from_blob(const_cast<uint8_t*>(bytes.data()), {count, column.num_cols},
                           at::TensorOptions(scalar_type(column.dtype)))
          .to(wanted);
    };
    EdgeValues values;
    values.weight = rows(read.weights, type);
    if (values.weight.defined()) values.weight = values.weight.view({-1});
    values.features = rows(read.features, needs.vocabulary.empty() ? type : at::kLong);
    values.type = rows(read.types, at::kLong);
    if (values.type.defined()) {
      check_codes(values.type, {&needs.types, 1}, 0, "type");
      values.type = values.type.view({-1});
    }
    const auto there = [&](at::Tensor& rows_here) {
      if (device && rows_here.defined()) rows_here = put(execution, rows_here, "rows of edges");
    };
    there(values.weight), there(values.features), there(values.type);
    all.push_back(std::move(values));
  }
  return all;
}

std::string weights_column(std::span<const graph::EdgeColumn> columns) {
  const int64_t number = find_told(columns, data::kEdgeWeightNames, "weights", 1);
  return columns[static_cast<size_t>(number)].name;
}

namespace {

// Writes the sum, the number, and the loop's weight of GraphFacts::degrees().
template <typename T>
void write_weighted(const graph::WeightSums& sums, int64_t edges, int64_t loops, Degrees kind,
                    T* out) {
  const bool apart = kind == Degrees::kWithoutLoops;
  out[0] = static_cast<T>(apart ? sums.others : sums.others + sums.loops);
  out[1] = static_cast<T>(apart ? edges - loops : edges);
  out[2] = apart ? static_cast<T>(sums.last_loop) : std::numeric_limits<T>::quiet_NaN();
}

// Refuses sums below 0. `node_ids`: empty for 0, 1, ....
void check_sums(const at::Tensor& sums, Degrees kind, double loop_weight,
                std::span<const int64_t> node_ids) {
  const bool loops = kind == Degrees::kWithoutLoops;
  visit_type(sums.scalar_type(), [&]<typename T>() {
    const T* sum = sums.const_data_ptr<T>();
    for (int64_t t = 0; t < sums.size(0); ++t) {
      const T loop = std::isnan(sum[3 * t + 2]) ? static_cast<T>(loop_weight) : sum[3 * t + 2];
      check_degree(node_ids.empty() ? t : node_ids[static_cast<size_t>(t)],
                   sum[3 * t] + (loops ? loop : T{0}), loops);
    }
  });
}

}  // namespace

at::Tensor weighted_degrees_of(std::span<const graph::WeightSums> sums,
                               std::span<const sample::NodeDegree> degrees, Degrees kind,
                               double loop_weight, std::span<const int64_t> node_ids,
                               at::ScalarType type) {
  const at::Tensor out = at::empty({static_cast<int64_t>(sums.size()), 3}, at::TensorOptions(type));
  visit_type(type, [&]<typename T>() {
    for (size_t i = 0; i < sums.size(); ++i)
      write_weighted(sums[i], degrees[i].edges, degrees[i].loops, kind,
                     out.mutable_data_ptr<T>() + 3 * i);
  });
  check_sums(out, kind, loop_weight, node_ids);
  return out;
}

const graph::Column* edge_column(const graph::Graph& graph, std::span<const char* const> names) {
  for (const char* name : names)
    if (const graph::Column* column = graph.edge_column(name)) return column;
  return nullptr;
}

GraphFacts::GraphFacts(const graph::Graph& graph, const EdgeNeeds& needs, at::ScalarType type,
                       const Device* device)
    : needs_(needs), type_(type), elsewhere_(graph.elsewhere() != nullptr) {
  graph::expect_homogeneous(graph, "models");
  execution_.device = device;
  if (elsewhere_) {
    (void)ColumnsRead(needs, graph.elsewhere()->edge_columns());
    return;
  }
  if (needs.weights) weights_ = open(graph, data::kEdgeWeightNames, "weights", 1);
  if (needs.features > 0)
    features_ = open(graph, data::kEdgeFeatureNames, "features", needs.features);
  if (needs.types > 0) types_ = open(graph, data::kEdgeTypeNames, "types", 1);
  if (types_) check_integers(types_->dtype());
  const int64_t edges = graph.num_edges();
  if (types_ || !needs.vocabulary.empty()) {
    std::vector<int64_t> ids(std::min(kFactRows, edges));
    for (int64_t first = 0; first < edges; first += kFactRows) {
      ids.resize(std::min(kFactRows, edges - first));
      std::iota(ids.begin(), ids.end(), first);
      if (types_) check_codes(gather(*types_, ids, at::kLong), {&needs_.types, 1}, first, "type");
      if (!needs.vocabulary.empty())
        check_codes(gather(*features_, ids, at::kLong), needs_.vocabulary, first, "category");
    }
  }
  if (!device) return;
  if (weights_) on_device_.weight = all_on_device(*weights_, edges, type_, "weights").view({-1});
  if (features_) on_device_.features = all_on_device(*features_, edges, feature_type(), "features");
  if (types_) on_device_.type = all_on_device(*types_, edges, at::kLong, "types").view({-1});
}

at::Tensor GraphFacts::all_on_device(const feature::FeatureStore& store, int64_t num_edges,
                                     at::ScalarType type, const char* what) const {
  const at::Tensor all = reserve(execution_, {num_edges, store.num_cols()}, type,
                                 base::text("the ", what, " of all edges"));
  std::vector<int64_t> ids;
  for (int64_t first = 0; first < num_edges; first += kFactRows) {
    ids.resize(std::min(kFactRows, num_edges - first));
    std::iota(ids.begin(), ids.end(), first);
    all.narrow(0, first, static_cast<int64_t>(ids.size())).copy_(gather(store, ids, type));
  }
  return all;
}

at::Tensor GraphFacts::gather(const feature::FeatureStore& store, std::span<const int64_t> ids,
                              at::ScalarType type) const {
  const int64_t count = static_cast<int64_t>(ids.size());
  at::Tensor rows =
      at::empty({count, store.num_cols()}, at::TensorOptions(scalar_type(store.dtype())));
  store.gather(ids, static_cast<uint8_t*>(rows.mutable_data_ptr()), nullptr);
  return rows.to(type);
}

EdgeValues GraphFacts::rows_at(const at::Tensor& ids) const {
  const auto rows = [&](const at::Tensor& all) {
    return all.defined() ? all.index_select(0, ids) : all;
  };
  return {rows(on_device_.weight), rows(on_device_.features), rows(on_device_.type)};
}

EdgeValues GraphFacts::of_edges(std::span<const int64_t> ids) const {
  if (execution_.device) return rows_at(put(execution_, ids));
  EdgeValues values;
  if (weights_) values.weight = gather(*weights_, ids, type_).view({-1});
  if (features_) values.features = gather(*features_, ids, feature_type());
  if (types_) values.type = gather(*types_, ids, at::kLong).view({-1});
  return values;
}

// Stores do not check ids themselves.
void GraphFacts::check_ids(std::span<const int64_t> ids) const {
  const auto* store = weights_ ? weights_.get() : features_ ? features_.get() : types_.get();
  if (!store) return;
  const auto edges = static_cast<uint64_t>(store->num_rows());
  const auto bad =
      std::ranges::find_if(ids, [edges](int64_t id) { return static_cast<uint64_t>(id) >= edges; });
  if (bad == ids.end()) return;
  if (*bad < 0)
    fail(Status::kInvalidArgument,
         "the model reads what edges carry, and the mini-batch has edges of unknown ids");
  fail(Status::kRange, "the mini-batch has the edge ", *bad,
       ", and what the model reads of edges ends with that of edge ", edges - 1);
}

std::vector<EdgeValues> GraphFacts::of_blocks(std::span<const sample::BlockView> blocks) const {
  if (elsewhere_)
    fail(Status::kInvalidArgument,
         "the model reads what edges carry, the graph lies in parts, and the mini-batch does not "
         "tell it: a neighbor sampler with edge ids does");
  std::vector<EdgeValues> all;
  const auto first = [](const at::Tensor& rows, int64_t count) {
    return rows.defined() ? rows.narrow(0, 0, count) : rows;
  };
  for (const sample::BlockView& block : blocks) {
    if (block.num_edges > 0 && !block.edge_ids)
      fail(Status::kInvalidArgument,
           "the model reads what edges carry, and the mini-batch was sampled without edge ids");
    // Layers that are trimmed from one set of edges have its first edges.
    const sample::BlockView& before = blocks[all.empty() ? 0 : all.size() - 1];
    if (!all.empty() && before.edge_ids == block.edge_ids && before.num_edges >= block.num_edges) {
      const EdgeValues& known = all.back();
      all.push_back({first(known.weight, block.num_edges), first(known.features, block.num_edges),
                     first(known.type, block.num_edges)});
      continue;
    }
    // Ids on a device come from the sampler of the graph and are not checked.
    if (execution_.device) {
      all.push_back(rows_at(view_on(execution_, block.edge_ids, {block.num_edges})));
      continue;
    }
    const std::span<const int64_t> ids(block.edge_ids, static_cast<size_t>(block.num_edges));
    check_ids(ids);
    all.push_back(of_edges(ids));
  }
  return all;
}

at::Tensor GraphFacts::degrees(const graph::Graph& graph, Degrees kind, bool weighted) {
  weighted = weighted && kind != Degrees::kOut;
  const std::lock_guard lock(mutex_);
  at::Tensor& kept = degrees_[static_cast<size_t>(kind)][weighted];
  if (kept.defined()) return kept;
  const at::Tensor found =
      weighted ? weighted_degrees(graph.csc(), kind) : whole_degrees(graph.csc(), kind, type_);
  if (!execution_.device) return kept = found;
  if (weighted) check_sums(found, kind, needs_.loop_weight, {});
  return kept = put(execution_, found, "the degrees of all nodes");
}

at::Tensor GraphFacts::weighted_degrees(const graph::Csc& csc, Degrees kind) const {
  const int64_t* indptr = static_cast<const int64_t*>(csc.indptr.data());
  at::Tensor sums = at::empty({csc.num_targets, 3}, at::TensorOptions(type_));
  std::vector<int64_t> ids;
  for (int64_t low = 0; low < csc.num_targets;) {
    int64_t high = low + 1;
    while (high < csc.num_targets && indptr[high + 1] - indptr[low] <= kFactRows) ++high;
    ids.clear();
    for (int64_t e = indptr[low]; e < indptr[high]; ++e) ids.push_back(csc.edge_id(e));
    const at::Tensor weights = gather(*weights_, ids, at::kDouble);
    const std::span<const double> all(weights.const_data_ptr<double>(), ids.size());
    for (; low < high; ++low) {
      const auto of_row = all.subspan(static_cast<size_t>(indptr[low] - indptr[high]) + ids.size(),
                                      static_cast<size_t>(indptr[low + 1] - indptr[low]));
      int64_t loops = 0;
      for (int64_t e = indptr[low]; e < indptr[low + 1]; ++e) loops += csc.source(e) == low;
      visit_type(type_, [&]<typename T>() {
        write_weighted(graph::sum_weights(csc, low, low, of_row), csc.in_degree(low), loops, kind,
                       sums.mutable_data_ptr<T>() + 3 * low);
      });
    }
  }
  return sums;
}

GraphFacts& KnownGraph::of(const graph::GraphRef& graph) {
  if (graph_.lock() != graph) {
    facts_ = std::make_shared<GraphFacts>(*graph, needs_, type_, device_);
    graph_ = graph;
  }
  return *facts_;
}

}  // namespace gnnmg::nn
