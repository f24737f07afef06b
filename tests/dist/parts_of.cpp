#include "dist/parts_of.h"

#include <algorithm>
#include <cstring>

#include "base/philox.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Tensor;

std::vector<int64_t> ids_of(std::span<const uint16_t> part_of, int32_t number) {
  std::vector<int64_t> ids;
  for (size_t id = 0; id < part_of.size(); ++id)
    if (part_of[id] == number) ids.push_back(static_cast<int64_t>(id));
  return ids;
}

graph::Csc rows_of(const graph::Csc& csc, std::span<const int64_t> ids) {
  std::vector<int64_t> indptr = {0}, sources, edge_ids;
  for (const int64_t id : ids) {
    const int64_t* begin = static_cast<const int64_t*>(csc.indptr.data()) + id;
    for (int64_t e = begin[0]; e < begin[1]; ++e) {
      sources.push_back(csc.source(e));
      edge_ids.push_back(csc.edge_id(e));
    }
    indptr.push_back(static_cast<int64_t>(sources.size()));
  }
  graph::Csc rows;
  rows.num_sources = csc.num_sources;
  rows.num_targets = static_cast<int64_t>(ids.size());
  rows.indptr = Tensor::copy_of<int64_t>(indptr);
  rows.edge_ids = Tensor::copy_of<int64_t>(edge_ids);
  if (csc.wide())
    rows.indices = Tensor::copy_of<int64_t>(sources);
  else
    rows.indices = Tensor::copy_of<int32_t>(std::vector<int32_t>(sources.begin(), sources.end()));
  return rows;
}

graph::Column rows_of(const graph::Column& column, std::span<const int64_t> ids) {
  const auto count = static_cast<int64_t>(ids.size());
  if (const Tensor* table = std::get_if<Tensor>(&column)) {
    base::Shape shape = table->shape();
    shape.dims[0] = count;
    Tensor rows = Tensor::empty(table->dtype(), shape);
    const int64_t bytes = table->view().row_bytes();
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(static_cast<uint8_t*>(rows.data()) + i * bytes,
                  static_cast<const uint8_t*>(table->data()) + ids[i] * bytes, bytes);
    return rows;
  }
  const auto& matrix = std::get<base::CsrMatrix>(column);
  const auto* indptr = static_cast<const int64_t*>(matrix.indptr.data());
  std::vector<int64_t> starts = {0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (const int64_t id : ids) {
    for (int64_t e = indptr[id]; e < indptr[id + 1]; ++e) {
      indices.push_back(static_cast<const int32_t*>(matrix.indices.data())[e]);
      values.push_back(static_cast<const float*>(matrix.values.data())[e]);
    }
    starts.push_back(static_cast<int64_t>(indices.size()));
  }
  return base::CsrMatrix{count, matrix.num_cols, Tensor::copy_of<int64_t>(starts),
                         Tensor::copy_of<int32_t>(indices), Tensor::copy_of<float>(values)};
}

}  // namespace

base::Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return error.status();
  }
  return base::Status::kOk;
}

std::shared_ptr<const dist::Part> cut_part(const graph::Graph& graph,
                                           std::span<const uint16_t> part_of, int32_t number) {
  const std::vector<int64_t> ids = ids_of(part_of, number);
  dist::Part::Columns columns, edge_columns;
  for (const auto& [name, column] : graph.node_columns())
    columns.push_back(feature::make_store(rows_of(column, ids)));
  const graph::Csc csc = rows_of(graph.csc(), ids);
  for (const auto& [name, column] : graph.edge_columns())
    edge_columns.push_back(feature::make_store(rows_of(column, csc.edge_ids.as<const int64_t>())));
  return std::make_shared<const dist::Part>(ids, graph.num_nodes(), std::vector<graph::Csc>{csc},
                                            std::move(columns), std::move(edge_columns));
}

graph::GraphRef with_edge_columns(const graph::Graph& graph) {
  graph::GraphParts parts = graph.parts();
  const int64_t edges = graph.num_edges();
  Tensor features = Tensor::empty(DType::kF32, {edges, 3});
  for (int64_t i = 0; i < 3 * edges; ++i)
    features.as<float>()[i] = static_cast<float>(i * 7919 % 1009) / 1009;
  Tensor weights = Tensor::empty(DType::kF64, {edges});
  for (int64_t e = 0; e < edges; ++e) weights.as<double>()[e] = static_cast<double>(e);
  parts.edge_columns = {{{"edge_attr", features}, {"edge_weight", weights}}};
  return graph::Graph::create(std::move(parts));
}

std::vector<uint16_t> hashed_parts(int64_t num_nodes, int32_t num_parts, uint64_t seed) {
  std::vector<uint16_t> parts(num_nodes);
  base::Stream stream(base::stream_key(seed, base::Purpose::kGenerator), 0);
  for (uint16_t& part : parts) part = static_cast<uint16_t>(stream.below(num_parts));
  return parts;
}

std::shared_ptr<const dist::Parts> parts_of(const graph::Graph& graph,
                                            std::span<const uint16_t> part_of, int32_t num_parts,
                                            const std::vector<int32_t>& own,
                                            const dist::PartsConfig& config,
                                            const Between& between) {
  std::vector<std::shared_ptr<const dist::Part>> here(num_parts);
  std::vector<std::shared_ptr<const dist::Server>> servers(num_parts);
  for (int32_t part = 0; part < num_parts; ++part) {
    auto cut = cut_part(graph, part_of, part);
    if (std::find(own.begin(), own.end(), part) != own.end())
      here[part] = cut;
    else
      servers[part] = std::make_shared<const dist::Server>(cut, kStamp);
  }
  std::vector<dist::ColumnFacts> facts;
  for (const auto& [name, column] : graph.node_columns()) {
    const auto store = feature::make_store(column);
    facts.push_back({name, store->dtype(), store->num_cols(), store->sparse()});
  }
  std::vector<graph::EdgeColumn> edge_facts;
  for (const auto& [name, column] : graph.edge_columns()) {
    const auto store = feature::make_store(column);
    edge_facts.push_back({name, store->dtype(), store->num_cols()});
  }
  auto channel = dist::make_local_channel(std::move(servers));
  if (between) channel = between(std::move(channel));
  return std::make_shared<const dist::Parts>(partition::Book::from_parts(part_of, num_parts),
                                             std::move(here), std::move(facts), std::move(channel),
                                             kStamp, config, std::move(edge_facts));
}

}  // namespace gnnmg::test
