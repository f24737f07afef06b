#include "data/parts_description.h"

#include "base/file.h"
#include "data/fingerprint.h"
#include "data/split.h"
#include "io/checksum.h"

namespace gnnmg::data::parts {

using base::fail;
using base::Status;

Description read_description(const Manifest& manifest) {
  const std::string& folder = manifest.source().name();
  const std::string metadata_path = base::join_path(folder, kMetadataFile);
  const std::string where = base::join_path(folder, kWholeFile);
  Description description{parse_metadata(manifest.text(kMetadataFile), metadata_path),
                          native::parse_metadata(manifest.text(kWholeFile), where)};
  if (description.metadata.facts.rows.empty())
    fail(Status::kFormat, metadata_path, ": the key \"parts\" is missing");
  const native::Metadata& whole = description.whole;
  if (whole.node_types.size() != 1 || whole.edge_types.size() != 1 || whole.graph_ptr)
    fail(Status::kFormat, where, ": parts of several types or graphs, expected one of each");
  if (whole.edge_types[0].source != 0 || whole.edge_types[0].target != 0)
    fail(Status::kFormat, where, ": edges join other nodes than those of the one type");
  return description;
}

void check_divisible(const Dataset& dataset) {
  const graph::Schema& schema = dataset.graph->schema();
  if (!schema.is_homogeneous())
    fail(Status::kUnsupported, dataset.title(), " has ", schema.node_types.size(),
         " node types and ", schema.edge_types.size(),
         " edge types; parts are made of data sets with one of each");
  if (dataset.of_graphs())
    fail(Status::kUnsupported, dataset.title(), " has ", dataset.num_graphs(),
         " graphs; parts are made of data sets with one");
}

Facts facts_of_whole(const Dataset& dataset, const Split* split, const native::Metadata& whole) {
  Split none;
  for (base::Tensor& ids : none.ids) ids = base::Tensor::zeros(base::DType::kI64, {0});
  Facts facts = fingerprint(dataset, split ? *split : none);
  const std::string text = native::metadata_text(whole);
  io::Sha256 sum;
  sum.add({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  facts.emplace_back("names and shapes", sum.finish());
  return facts;
}

}  // namespace gnnmg::data::parts
