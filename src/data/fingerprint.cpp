#include "data/fingerprint.h"

#include <algorithm>

#include "base/file.h"
#include "io/checksum.h"

namespace gnnmg::data {
namespace {

std::string sum_of(std::initializer_list<const base::Tensor*> tensors) {
  io::Sha256 sum;
  for (const base::Tensor* tensor : tensors)
    if (tensor->view().num_bytes() > 0)
      sum.add({static_cast<const uint8_t*>(tensor->data()),
               static_cast<size_t>(tensor->view().num_bytes())});
  return sum.finish();
}

const char* type_of(const graph::Column& column) {
  if (const auto* dense = std::get_if<base::Tensor>(&column))
    return base::dtype_name(dense->dtype());
  return "sparse";
}

// Adds the bytes of a tensor, or, of a large one, pieces that lie evenly over it. Files are read
// and not looked at through their mapping, since they may shrink meanwhile.
void add_values(io::Sha256& sum, const base::Tensor& tensor) {
  constexpr int64_t kPiece = 1 << 16, kPieces = 1024;
  const int64_t bytes = tensor.view().num_bytes();
  const auto* data = static_cast<const uint8_t*>(tensor.data());
  const base::MappedFile* mapped = base::MappedFile::of(tensor.owner());
  std::vector<uint8_t> buffer(mapped ? kPiece : 0);
  const auto add = [&](int64_t begin, int64_t size) {
    if (mapped) {
      mapped->file().read_at(data + begin - mapped->bytes().data(), std::span(buffer).first(size));
      sum.add(std::span(buffer).first(size));
    } else {
      sum.add({data + begin, static_cast<size_t>(size)});
    }
  };
  if (bytes <= kPiece * kPieces) {
    for (int64_t begin = 0; begin < bytes; begin += kPiece)
      add(begin, std::min(kPiece, bytes - begin));
    return;
  }
  for (int64_t piece = 0; piece < kPieces; ++piece)
    add((bytes - kPiece) / (kPieces - 1) * piece, kPiece);
}

std::string sum_of_values(const graph::Column& column) {
  io::Sha256 sum;
  if (const auto* sparse = std::get_if<base::CsrMatrix>(&column))
    for (const base::Tensor* part : {&sparse->indptr, &sparse->indices, &sparse->values})
      add_values(sum, *part);
  else
    add_values(sum, std::get<base::Tensor>(column));
  return sum.finish();
}

// Adds the tensors of a type's edges, which models may read by name.
void add_edge_tensors(const graph::Graph& graph, int32_t type, const std::string& of,
                      Fingerprint& facts) {
  std::string names, sums;
  for (const auto& [name, column] : graph.edge_columns(type)) {
    names += base::text(names.empty() ? "" : ", ", name, ", ", type_of(column));
    sums += base::text(sums.empty() ? "" : ", ", sum_of_values(column));
  }
  facts.emplace_back("edge tensors" + of, names.empty() ? "none" : names);
  if (names.empty()) return;
  // The rows of these tensors go by edge id.
  const base::Tensor& ids = graph.csc(type).edge_ids;
  facts.emplace_back("edge ids" + of, ids.defined() ? sum_of({&ids}) : std::string("in order"));
  facts.emplace_back("edge values" + of, sums);
}

// Adds the edges of every type with the types of their ends; a single type keeps the sum that it
// always had.
void add_edges(const graph::Graph& graph, Fingerprint& facts) {
  const graph::Schema& schema = graph.schema();
  for (size_t i = 0; i < schema.edge_types.size(); ++i) {
    const graph::EdgeType& type = schema.edge_types[i];
    const auto number = static_cast<int32_t>(i);
    const std::string of = graph.homogeneous()
                               ? ""
                               : base::text(" of ", schema.node_types[type.source], " ", type.name,
                                            " ", schema.node_types[type.target]);
    const graph::Csc& csc = graph.csc(number);
    facts.emplace_back("edges" + of, std::to_string(csc.num_edges()));
    facts.emplace_back("topology" + of, sum_of({&csc.indptr, &csc.indices}));
    add_edge_tensors(graph, number, of, facts);
  }
}

// The sums of nodes, edges and features.
Fingerprint facts_of_rows(const Dataset& dataset) {
  Fingerprint facts{{"nodes", std::to_string(dataset.graph->num_nodes(dataset.node_type))}};
  add_edges(*dataset.graph, facts);
  const graph::Column* features =
      dataset.feature.empty() ? nullptr
                              : dataset.graph->node_column(dataset.feature, dataset.node_type);
  facts.emplace_back("features",
                     features ? base::text(type_of(*features), " of width ", dataset.feature_dim())
                              : std::string("none"));
  if (features) facts.emplace_back("feature values", sum_of_values(*features));
  return facts;
}

// The same of a data set with rows elsewhere, as they were when its parts were saved.
Fingerprint noted_facts_of_rows(const Dataset& dataset) {
  const Fingerprint& noted = dataset.parts->data;
  const auto end =
      std::ranges::find_if(noted, [](const auto& fact) { return fact.first == "classes"; });
  return {noted.begin(), end};
}

}  // namespace

Fingerprint fingerprint(const Dataset& dataset, const Split& split) {
  Fingerprint facts =
      dataset.graph->elsewhere() ? noted_facts_of_rows(dataset) : facts_of_rows(dataset);
  facts.emplace_back("classes", std::to_string(dataset.num_classes));
  if (dataset.of_graphs()) facts.emplace_back("graphs", sum_of({&dataset.graph_ptr}));
  const base::Tensor* labels = dataset.labels();
  facts.emplace_back("labels", labels ? sum_of({labels}) : std::string("none"));
  const auto weights = [&](const char* name, const base::Tensor& tensor) {
    facts.emplace_back(name, tensor.defined() ? sum_of({&tensor}) : std::string("none"));
  };
  weights("class weights", dataset.class_weights);
  weights("sample weights", dataset.sample_weights);
  static constexpr const char* kParts[] = {"training ids", "validation ids", "test ids"};
  for (size_t part = 0; part < split.ids.size(); ++part)
    facts.emplace_back(kParts[part], sum_of({&split.ids[part]}));
  return facts;
}

}  // namespace gnnmg::data
