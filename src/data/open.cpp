// open_dataset: detects the format and hands over to its reader.
#include <algorithm>

#include "base/file.h"
#include "data/folds.h"
#include "data/gin.h"
#include "data/readers.h"
#include "data/recognise.h"
#include "data/split_files.h"
#include "data/unused.h"
#include "io/foreign.h"

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
    case Format::kGeomGcn:
      return read_geom_gcn(candidate.path, reading);
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
    case Format::kMatrixMarket:
      return read_matrix_market(candidate.path, reading);
    case Format::kMetis:
      return read_metis(candidate.path, reading);
    case Format::kParts:
      return read_parts(candidate.path, reading);
  }
  base::fail(base::Status::kInternal, "unknown format");
}

// A text that does not begin as GIN's do, but whose first line is no edge either.
DatasetRef read_damaged_gin(const std::string& path, Reading& reading) {
  try {
    return read_gin(path, reading);
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kFormat && error.status() != base::Status::kRange) throw;
    throw base::Error(
        base::Status::kFormat,
        base::text(error.what(),
                   "; this is as gin, for as edges line 1 has 1 column, expected at "
                   "least 2; header_lines passes over it, separator says at what it is cut"));
  }
}

// The content of a file that is small enough for a pointer; empty for others and unreadable ones.
std::string small_content(const std::string& path) {
  constexpr int64_t kMostOfPointer = 1024;
  try {
    const base::File file(path);
    if (file.size() > kMostOfPointer) return {};
    std::vector<uint8_t> bytes(file.size());
    bytes.resize(file.read_some(0, bytes));
    return {bytes.begin(), bytes.end()};
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kCancelled) throw;
    return {};
  }
}

// The first file of a data set in whose place there is a pointer to a file that was not fetched,
// as the end of an error's text; empty where there is none.
std::string unfetched_in(const std::string& folder, int depth) {
  for (const std::string& name : base::list_visible(folder)) {
    const std::string path = base::join_path(folder, name);
    if (base::is_directory(path)) {
      std::string inner = depth > 0 ? unfetched_in(path, depth - 1) : std::string();
      if (!inner.empty()) return inner;
    } else if (const auto kind = io::pointer_kind(small_content(path))) {
      return base::text("; ", path, " ", io::not_read(*kind));
    }
  }
  return {};
}

// The name of the folder in `path` in which the data set at `found` lies; empty if it lies in
// `path` itself.
std::string sub_folder_of(const std::string& found, const std::string& path) {
  if (!base::is_directory(path) || !found.starts_with(path)) return {};
  const size_t begin = std::min(found.find_first_not_of('/', path.size()), found.size());
  const size_t end = std::min(found.find('/', begin), found.size());
  const bool inside = end < found.size() || (begin < end && base::is_directory(found));
  return inside ? found.substr(begin, end - begin) : std::string();
}

// Warns of splits beside the folder of the data set; some are read from there.
void warn_of_splits_beside(const std::string& sub_folder, const std::string& path, base::Log& log) {
  warn_of_unread_splits(
      path,
      [&](std::string_view name) {
        return name == sub_folder || is_fold_name(name) || name == kSplitsFolder;
      },
      log);
}

DatasetRef open_recognised(const std::string& path, const OpenOptions& options,
                           const ReadContext& context) {
  std::vector<Candidate> passed_over;
  const Candidate candidate = recognise(path, options.format, &passed_over);
  for (const Candidate& other : passed_over)
    context.log.add(
        base::LogLevel::kInfo,
        base::text(path, ": takes ", candidate.path, " (", format_name(candidate.format),
                   "), passes over ", other.path, " (", format_name(other.format), ")"));
  if (const std::string sub_folder = sub_folder_of(candidate.path, path); !sub_folder.empty())
    warn_of_splits_beside(sub_folder, path, context.log);
  Reading reading{options, context, ByteBudget(options.max_bytes)};
  const bool guessed = candidate.format == Format::kEdges && options.format.empty() &&
                       options.separator.empty() && options.header <= 0;
  if (guessed && begins_with_a_count(candidate.path)) {
    check_options(options, Format::kGin, candidate.path);
    return read_damaged_gin(candidate.path, reading);
  }
  if (guessed) return read_text_graph(candidate.path, reading);
  check_options(options, candidate.format, candidate.path);
  return read(candidate, reading);
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
  const base::CancelScope listening(context.cancel, "opening a data set");
  constexpr int kDepth = 2;
  try {
    return open_recognised(path, options, context);
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kFormat || !base::is_directory(path)) throw;
    const std::string unfetched = unfetched_in(path, kDepth);
    if (unfetched.empty()) throw;
    throw base::Error(base::Status::kFormat, error.what() + unfetched);
  }
}

}  // namespace gnnmg::data
