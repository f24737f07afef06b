// open_dataset: detects the format and hands over to its reader.
#include <algorithm>

#include "base/file.h"
#include "data/gin.h"
#include "data/readers.h"
#include "data/recognize.h"
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
                   "least 2; header_lines=1 passes over it, separator says at what it is cut"));
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

// The folders in which the files of a data set lie, and of which nothing may be passed over.
std::vector<std::string> folders_of(const Candidate& candidate) {
  if (!base::is_directory(candidate.path)) {
    const size_t slash = candidate.path.rfind('/');
    return {slash == std::string::npos ? "."
                                       : candidate.path.substr(0, std::max<size_t>(slash, 1))};
  }
  std::vector<std::string> folders{candidate.path};
  if (candidate.format != Format::kOgb) return folders;
  folders.push_back(base::join_path(candidate.path, "raw"));
  const std::string split = base::join_path(candidate.path, "split");
  if (!base::is_present_directory(split)) return folders;
  folders.push_back(split);
  for (const std::string& name : base::list_visible(split))
    if (const std::string inner = base::join_path(split, name); base::is_present_directory(inner))
      folders.push_back(inner);
  return folders;
}

// Warns of files beside those that were read. Lists of edges are data sets of their own, as are
// Planetoid's files, splits of other names, and archives beside one that was opened by its path.
void warn_of_files_beside(const Candidate& candidate, const std::string& path,
                          const Reading& reading) {
  if (candidate.format == Format::kNative || candidate.format == Format::kParts) return;
  const bool of_text = candidate.format == Format::kEdges ||
                       candidate.format == Format::kMatrixMarket ||
                       candidate.format == Format::kMetis;
  const bool own_path = !base::is_directory(path);
  std::vector<std::string> folders = folders_of(candidate);
  const std::string own_folder = folders[0];
  const std::string tu_set = candidate.path.substr(candidate.path.rfind('/') + 1) + "_";
  const auto is_more = [&](std::string_view name) {
    if (candidate.format == Format::kGeomGcn) return name.ends_with(".txt");
    return candidate.format == Format::kTu && name.starts_with(tu_set);
  };
  const auto is_known = [&](std::string_view name) {
    if (candidate.format == Format::kOgb && name == "split") return true;
    return name.starts_with("ind.") || is_split_file(std::string(name)) ||
           (of_text && is_edge_list_name(name) && !is_part_name(name)) ||
           (own_path && is_archive_of_a_set(base::join_path(own_folder, name)));
  };
  if (!sub_folder_of(candidate.path, path).empty()) folders.push_back(path);
  for (const std::string& folder : folders)
    warn_of_unread_files(folder, reading.budget.files(), is_more, is_known, reading.context.log);
}

DatasetRef open_recognized(const std::string& path, const OpenOptions& options,
                           const ReadContext& context) {
  std::vector<Candidate> passed_over;
  const Candidate candidate = recognize(path, options.format, &passed_over);
  for (const Candidate& other : passed_over)
    context.log.add(
        base::LogLevel::kInfo,
        base::text(path, ": takes ", candidate.path, " (", format_name(candidate.format),
                   "), passes over ", other.path, " (", format_name(other.format), ")"));
  Reading reading{options, context, ByteBudget(options.max_bytes)};
  const bool guessed = candidate.format == Format::kEdges && options.format.empty() &&
                       options.separator.empty() && options.header <= 0;
  DatasetRef dataset;
  if (guessed && begins_with_a_count(candidate.path)) {
    check_options(options, Format::kGin, candidate.path);
    dataset = read_damaged_gin(candidate.path, reading);
  } else if (guessed) {
    dataset = read_text_graph(candidate.path, reading);
  } else {
    check_options(options, candidate.format, candidate.path);
    dataset = read(candidate, reading);
  }
  warn_of_files_beside(candidate, path, reading);
  if (base::is_directory(path) && sub_folder_of(candidate.path, path).empty())
    for (const Candidate& other : sets_inside(path, candidate))
      context.log.add(base::LogLevel::kWarning,
                      base::text(path, ": passes over the data set ", other.path, " (",
                                 format_name(other.format), "), which opens by its own path"));
  return dataset;
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
    return open_recognized(path, options, context);
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kFormat || !base::is_directory(path)) throw;
    const std::string unfetched = unfetched_in(path, kDepth);
    const bool said = std::string_view(error.what()).find("was not fetched") != std::string::npos;
    if (unfetched.empty() || said) throw;
    throw base::Error(base::Status::kFormat, error.what() + unfetched);
  }
}

}  // namespace gnnmg::data
