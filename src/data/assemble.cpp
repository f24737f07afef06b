#include "data/assemble.h"

#include <atomic>

#include "data/arrays.h"
#include "data/doubts.h"
#include "data/edge_tensors.h"
#include "data/graphs.h"
#include "data/labels.h"
#include "graph/transform.h"
#include "io/bytes.h"

namespace gnnmg::data {

using base::fail;
using base::Status;

void add_column(graph::Columns& columns, std::string_view name, graph::Column column,
                std::string_view where) {
  if (name.empty()) fail(Status::kFormat, where, ": expected a name for the tensor, found none");
  check_name(name, where);
  if (!columns.try_emplace(std::string(name), std::move(column)).second)
    fail(Status::kFormat, where, ": would be a second tensor named \"", io::printable(name), "\"");
}

namespace {

// The caller's task for the labels decides.
void apply_task(Task task, Found& found) {
  if (task == Task::kNone) return;
  if (!found.labels.defined())
    fail(Status::kInvalidArgument, found.source, ": the task is said, but there are no labels");
  if (task == Task::kMulticlass && base::is_floating(found.labels.dtype())) {
    const auto classes = whole_classes(found.labels);
    if (!classes)
      fail(Status::kInvalidArgument, found.labels_from, ": labels of type ",
           base::dtype_name(found.labels.dtype()),
           " are no classes, which the task has, for some are not whole; leave out the task");
    found.labels = *classes;
  }
  found.binary = task == Task::kBinary;
  found.regression = task == Task::kRegression;
}

// An error in an argument of make_labels() is an error in the file here.
Labels labels_of(const Found& found, int64_t rows, const char* of) {
  try {
    return found.regression ? make_regression(found.labels, rows, found.labels_from, of)
                            : make_labels(found.labels, rows, found.binary, found.num_classes,
                                          found.labels_from, of);
  } catch (const base::Error& error) {
    if (error.status() != Status::kInvalidArgument) throw;
    throw base::Error(Status::kFormat, error.what());
  }
}

int64_t count_loops(const Found& found, base::ThreadPool& pool) {
  constexpr int64_t kGrain = 1 << 18;
  std::atomic<int64_t> loops{0};
  const auto count = [&](auto sources, auto targets) {
    pool.parallel_for(found.sources.rows(), kGrain, [&](int64_t begin, int64_t end) {
      int64_t here = 0;
      for (int64_t e = begin; e < end; ++e) here += sources[e] == targets[e];
      loops += here;
    });
  };
  if (found.sources.dtype() == base::DType::kI64)
    count(found.sources.as<const int64_t>(), found.targets.as<const int64_t>());
  else
    count(found.sources.as<const int32_t>(), found.targets.as<const int32_t>());
  return loops;
}

// Moves the features to the columns of the nodes.
void take_features(Found& found, const OpenOptions& options, base::ThreadPool& pool) {
  const int64_t rows = graph::column_rows(*found.features);
  if (rows != found.num_nodes)
    fail(Status::kFormat, found.features_from, ": ", rows, " rows, expected ", found.num_nodes,
         ", the number of nodes");
  const std::string& values_from =
      found.feature_values_from.empty() ? found.features_from : found.feature_values_from;
  if (auto* dense = std::get_if<base::Tensor>(&*found.features))
    *dense = float_features(*dense, options.round_values, values_from, pool);
  if (options.check_finite) check_finite(*found.features, values_from, pool);
  add_column(found.node_columns, "x", std::move(*found.features), found.features_from);
}

}  // namespace

DatasetRef assemble(Found found, const OpenOptions& options, const ReadContext& context) {
  context.cancel.check("opening a data set");
  apply_task(options.task, found);
  const int64_t num_nodes = found.num_nodes;
  check_ids(found.sources, num_nodes, found.edges_from, context.pool);
  check_ids(found.targets, num_nodes, found.edges_from, context.pool);

  graph::GraphParts parts;
  parts.num_nodes = {num_nodes};
  if (found.features) take_features(found, options, context.pool);
  const bool of_graphs = found.graph_ptr.defined();
  const char* of = of_graphs ? "graph" : "node";
  Labels labels;
  if (found.labels.defined()) {
    const int64_t rows = of_graphs ? found.graph_ptr.rows() - 1 : num_nodes;
    const base::Shape& shape = found.labels.shape();
    if (shape.num_dims < 1 || shape.num_dims > 2 || shape[0] != rows)
      fail(Status::kFormat, found.labels_from, ": labels of shape ", shape.to_string(),
           ", expected a row for each of ", rows, " ", of, "s");
    doubt_numbers(found, context.log);
    labels = labels_of(found, rows, of);
    doubt_classes(found, labels, of, context.log);
    if (!of_graphs) add_column(found.node_columns, "y", labels.values, found.labels_from);
  }
  const bool undirected = options.undirected < 0 ? found.undirected : options.undirected != 0;
  const bool once = options.undirected < 0 && !undirected && found.drop_repeats;
  const bool drop_loops = undirected && found.drop_loops;
  const int64_t listed = found.sources.rows();
  const int64_t loops = drop_loops ? count_loops(found, context.pool) : 0;
  // Without edge tensors nothing needs the order of the list, and one pass makes the graph.
  const bool ordered = !found.edge_columns.empty();
  graph::CscRules rules;
  if (!ordered)
    rules = {.edge_ids = false,
             .drop_loops = drop_loops,
             .reverses = undirected,
             .once = undirected || once};
  parts.topology.push_back(graph::csc_from_lists(std::move(found.sources), std::move(found.targets),
                                                 num_nodes, num_nodes, rules, context.pool));
  if (options.check_finite)
    for (const auto& [name, column] : found.edge_columns)
      if (is_edge_input(name))
        check_finite(column, base::text(found.source, ", edge tensor '", name, "'"), context.pool);
  parts.node_columns.push_back(std::move(found.node_columns));
  parts.edge_columns.push_back(std::move(found.edge_columns));
  graph::GraphRef graph = graph::Graph::create(std::move(parts));
  context.cancel.check("opening a data set");
  if (ordered && drop_loops) graph = graph::remove_self_loops(*graph, context.pool);
  if (ordered && undirected) graph = graph::to_undirected(*graph, context.pool);
  if (ordered && once) graph = graph::coalesce(*graph, context.pool);

  if (found.degree_features) graph = with_degree_features(*graph);

  doubt_splits(found, of_graphs ? found.graph_ptr.rows() - 1 : num_nodes, context.log);
  const GraphSet graphs{found.graph_ptr, labels.values};
  Dataset dataset =
      build_dataset(std::move(graph), found.features || found.degree_features ? "x" : "",
                    found.labels.defined() ? "y" : "", found.binary, std::move(found.splits),
                    labels.num_classes, 0, of_graphs ? &graphs : nullptr);
  dataset.name = io::one_line(found.name);  // paths may be no UTF-8
  dataset.source = io::one_line(found.source);
  context.log.add(
      base::LogLevel::kInfo,
      base::text("opened ", dataset.source, " as ", found.format, ": ",
                 of_graphs ? base::text(dataset.num_graphs(), " graphs, ") : "", num_nodes,
                 " nodes, ", listed, " edges listed",
                 loops > 0 ? base::text(" (", loops, " self-loops dropped)") : "",
                 undirected ? base::text(", ", dataset.graph->num_edges(),
                                         " with reverse edges and without repeats")
                 : once     ? base::text(", ", dataset.graph->num_edges(), " without repeats")
                            : "",
                 ", ", dataset.feature_dim(), " features, ", dataset.num_classes,
                 dataset.task == Task::kMulticlass ? " classes, " : " targets, ",
                 dataset.splits.size(), " splits"));
  return std::make_shared<const Dataset>(std::move(dataset));
}

}  // namespace gnnmg::data
