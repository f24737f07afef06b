#include "data/dataset.h"

#include <algorithm>

#include "base/mapped_tensor.h"
#include "data/assemble.h"
#include "data/graphs.h"
#include "data/labels.h"
#include "data/split.h"

namespace gnnmg::data {

using base::fail;
using base::Status;
using base::Tensor;

std::string Dataset::title() const {
  return name.empty() ? "the data set" : base::text("the data set '", name, "'");
}

int64_t Dataset::feature_dim() const {
  if (feature.empty()) return 0;
  const graph::Column* column = graph->node_column(feature, node_type);
  if (!column && graph->elsewhere())
    return std::max<int64_t>(graph->elsewhere()->column_width(feature), 0);
  if (!column) return 0;
  if (const auto* sparse = std::get_if<base::CsrMatrix>(column)) return sparse->num_cols;
  return std::get<Tensor>(*column).shape().row_elements();
}

const Tensor* Dataset::labels() const {
  if (of_graphs()) return graph_labels.defined() ? &graph_labels : nullptr;
  const graph::Column* column = label.empty() ? nullptr : graph->node_column(label, node_type);
  return column ? std::get_if<Tensor>(column) : nullptr;
}

const Split& Dataset::split(std::string_view wanted, int32_t index) const {
  if (splits.empty())
    fail(Status::kNotFound, "data set \"", name, "\" has no splits; make a random one");
  const std::string_view searched = wanted.empty() ? std::string_view(splits[0].name) : wanted;
  for (const Split& split : splits)
    if (split.name == searched && split.index == index) return split;
  std::string known;
  for (size_t i = 0; i < splits.size();) {
    size_t end = i + 1;
    while (end < splits.size() && splits[end].name == splits[i].name) ++end;
    known += base::text(known.empty() ? "" : ", ", splits[i].name, " ", splits[i].index);
    if (end - i > 1) known += base::text(" to ", splits[end - 1].index);
    i = end;
  }
  fail(Status::kNotFound, "data set \"", name, "\" has no split \"", searched, "\" ", index,
       "; there are: ", known);
}

Dataset build_dataset(graph::GraphRef graph, std::string feature, std::string label, bool binary,
                      std::vector<Split> splits, int64_t num_classes, int32_t node_type,
                      const GraphSet* graphs) {
  if (!graph) fail(Status::kInvalidArgument, "graph: expected a graph, found none");
  const auto& node_types = graph->schema().node_types;
  if (node_type < 0 || node_type >= static_cast<int32_t>(node_types.size()))
    fail(Status::kInvalidArgument, "node_type ", node_type, ": expected 0 to ",
         node_types.size() - 1);
  const auto column_of = [&](std::string_view role, const std::string& column_name) {
    const graph::Column* column = graph->node_column(column_name, node_type);
    if (!column)
      fail(Status::kNotFound, role, " tensor \"", column_name, "\": no such tensor on node type \"",
           node_types[node_type], "\"");
    return column;
  };

  Dataset dataset;
  dataset.node_type = node_type;
  dataset.feature = std::move(feature);
  dataset.label = std::move(label);
  const auto lies_elsewhere = [&](const std::string& column_name) {
    return graph->elsewhere() && graph->elsewhere()->column_width(column_name) >= 0;
  };
  if (!dataset.feature.empty() && !lies_elsewhere(dataset.feature)) {
    const auto* dense = std::get_if<Tensor>(column_of("feature", dataset.feature));
    if (dense && dense->shape().num_dims > 2)
      fail(Status::kInvalidArgument, "feature tensor \"", dataset.feature, "\" has shape ",
           dense->shape().to_string(), ", expected [N] or [N, F]");
  }
  if (graphs) {
    check_graph_ptr(*graph, graphs->ptr);
    dataset.graph_ptr = graphs->ptr;
    if (graphs->labels.defined() == dataset.label.empty())
      fail(Status::kInvalidArgument,
           "labels of graphs: expected a tensor and its name, or neither");
    if (graphs->labels.defined()) {
      Labels labels =
          make_labels(base::in_memory(graphs->labels), dataset.num_graphs(), binary, num_classes,
                      base::text("labels \"", dataset.label, "\""), "graph");
      dataset.task = labels.task;
      dataset.num_classes = labels.num_classes;
      dataset.graph_labels = std::move(labels.values);
    }
  } else if (!dataset.label.empty()) {
    const std::string where = base::text("label tensor \"", dataset.label, "\"");
    const auto* raw = std::get_if<Tensor>(column_of("label", dataset.label));
    if (!raw) fail(Status::kInvalidArgument, where, " is sparse, expected a dense tensor");
    Labels labels =
        make_labels(base::in_memory(*raw), graph->num_nodes(node_type), binary, num_classes, where);
    dataset.task = labels.task;
    dataset.num_classes = labels.num_classes;
    if (labels.values.data() != raw->data() || labels.values.shape() != raw->shape()) {
      graph::GraphParts parts = graph->parts();
      parts.node_columns[node_type].insert_or_assign(dataset.label, std::move(labels.values));
      graph = graph::Graph::create(std::move(parts));
    }
  }
  for (Split& split : splits) {
    const std::string where = base::text("split \"", split.name, "\" ", split.index);
    std::array<std::span<const int64_t>, 3> parts;
    for (int part = 0; part < 3; ++part)
      if (split.ids[part].defined()) parts[part] = split.ids[part].as<const int64_t>();
    for (const Split& earlier : dataset.splits)
      if (earlier.index == split.index && earlier.name == split.name)
        fail(Status::kInvalidArgument, where, " is given twice");
    const int64_t samples = graphs ? dataset.num_graphs() : graph->num_nodes(node_type);
    dataset.splits.push_back(split_from_ids(parts[0], parts[1], parts[2], samples,
                                            std::move(split.name), split.index, where,
                                            dataset.sample_name()));
  }
  dataset.graph = std::move(graph);
  return dataset;
}

DatasetRef make_dataset(graph::GraphRef graph, std::string feature, std::string label, bool binary,
                        std::vector<Split> splits, int64_t num_classes, int32_t node_type) {
  return std::make_shared<const Dataset>(build_dataset(std::move(graph), std::move(feature),
                                                       std::move(label), binary, std::move(splits),
                                                       num_classes, node_type));
}

DatasetRef make_dataset_of_graphs(graph::GraphRef graph, Tensor graph_ptr, std::string feature,
                                  std::string label, Tensor labels, bool binary,
                                  std::vector<Split> splits, int64_t num_classes) {
  const GraphSet graphs{std::move(graph_ptr), std::move(labels)};
  return std::make_shared<const Dataset>(build_dataset(std::move(graph), std::move(feature),
                                                       std::move(label), binary, std::move(splits),
                                                       num_classes, 0, &graphs));
}

}  // namespace gnnmg::data
