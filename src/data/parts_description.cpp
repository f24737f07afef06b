#include "data/parts_description.h"

#include "base/file.h"

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

}  // namespace gnnmg::data::parts
