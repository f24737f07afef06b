// open_dataset: recognises the format and hands over to its reader.
#include "data/readers.h"
#include "data/recognise.h"

namespace gnnmg::data {
namespace {

DatasetRef read(const Candidate& candidate, Reading& reading) {
  switch (candidate.format) {
    case Format::kNative:
      return read_native(candidate.path, reading);
    case Format::kPlain:
      return read_plain(candidate.path, reading);
    case Format::kPlanetoid:
      return read_planetoid(candidate.path, reading);
    case Format::kOgb:
      return read_ogb(candidate.path, reading);
    case Format::kShchur:
      return read_shchur(candidate.path, reading);
    case Format::kHeterophilous:
      return read_heterophilous(candidate.path, reading);
    case Format::kEdges:
      return read_edges(candidate.path, reading);
    case Format::kGin:
      return read_gin(candidate.path, reading);
    case Format::kTu:
      return read_tu(candidate.path, reading);
    case Format::kPacked:
      return read_packed(candidate.path, reading);
  }
  base::fail(base::Status::kInternal, "unknown format");
}

}  // namespace

DatasetRef open_dataset(const std::string& path, const OpenOptions& options,
                        const ReadContext& context) {
  if (path.empty())
    base::fail(base::Status::kInvalidArgument, "path: expected a file or folder, found \"\"");
  if (options.undirected < -1 || options.undirected > 1)
    base::fail(base::Status::kInvalidArgument, "undirected ", options.undirected,
               ": expected -1, 0 or 1");
  if (options.degree_features < -1 || options.degree_features > 1)
    base::fail(base::Status::kInvalidArgument, "degree_features ", options.degree_features,
               ": expected -1, 0 or 1");
  std::vector<Candidate> passed_over;
  const Candidate candidate = recognise(path, options.format, &passed_over);
  for (const Candidate& other : passed_over)
    context.log.add(
        base::LogLevel::kInfo,
        base::text(path, ": takes ", candidate.path, " (", format_name(candidate.format),
                   "), passes over ", other.path, " (", format_name(other.format), ")"));
  Reading reading{options, context, ByteBudget(options.max_bytes)};
  return read(candidate, reading);
}

}  // namespace gnnmg::data
