#include "data/recognize.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/lower.h"
#include "base/names.h"
#include "data/geom_gcn.h"
#include "data/gin.h"
#include "data/matrix_market.h"
#include "data/native_metadata.h"
#include "data/parts_metadata.h"
#include "io/bytes.h"
#include "io/foreign.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/text.h"
#include "io/zip.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::is_directory;
using base::is_present;
using base::join_path;
using base::Status;

constexpr std::array kFormats = {
    Format::kNative,  Format::kParts, Format::kPlain,  Format::kPlanetoid,
    Format::kGeomGcn, Format::kOgb,   Format::kShchur, Format::kHeterophilous,
    Format::kPacked,  Format::kGin,   Format::kTu,     Format::kMatrixMarket,
    Format::kMetis,   Format::kEdges};
constexpr const char* kSupported =
    "supported are gnnmg (metadata.json), parts (manifest.json), plain (edges.npy or triples.npy, "
    "labels.npy), "
    "planetoid (ind.NAME.*), geom_gcn (out1_node_feature_label.txt, out1_graph_edges.txt), "
    "ogb (raw/, split/), shchur, heterophilous and packed (.npz), gin (a text with many graphs), "
    "tu "
    "(NAME_A.txt, NAME_graph_indicator.txt), matrix_market (%%MatrixMarket), metis, edges (a "
    "text with an edge a line, also gzipped, by its own path)";
constexpr const char* kPlainFiles =
    "edges.npy (integers [E, 2]), labels.npy (integers [N], -1: none) and feat.npy ([N, F]) for "
    "format plain";
constexpr int64_t kStart = 4096;  // bytes by which a text is known
constexpr std::string_view kPacked = ".gz";
constexpr std::string_view kTuEdges = "_A.txt", kTuIndicator = "_graph_indicator.txt";
constexpr std::string_view kTuParts[] = {
    kTuIndicator,           "_graph_labels.txt", "_graph_attributes.txt", "_node_labels.txt",
    "_node_attributes.txt", "_edge_labels.txt",  "_edge_attributes.txt"};
constexpr std::string_view kPlanetoidParts[] = {".x",    ".y",    ".tx",    ".ty",
                                                ".allx", ".ally", ".graph", ".test.index"};

std::string start_of(const std::string& path, int64_t count) {
  const base::File file(path);
  std::vector<uint8_t> bytes(std::min(file.size(), count));
  bytes.resize(file.read_some(0, bytes));
  return {bytes.begin(), bytes.end()};
}

// A link that leads nowhere is no file, but an error of the reader in whose data it stands.
bool is_file(const std::string& path) { return base::exists(path) && !is_directory(path); }

// The first bytes of a text, inflated if they are gzip; errors in the rest are found later.
std::string text_start(const std::string& path) {
  std::string start = start_of(path, kStart);
  if (!start.starts_with("\x1f\x8b")) return start;
  std::string inflated(kStart, '\0');
  size_t size = 0;
  try {
    const auto source = io::ByteSource::open(path);
    const auto bytes = std::span(reinterpret_cast<uint8_t*>(inflated.data()), inflated.size());
    for (int64_t got = 1; got > 0 && size < bytes.size(); size += static_cast<size_t>(got))
      got = source->read(bytes.subspan(size));
  } catch (const base::Error& error) {
    if (error.status() != Status::kFormat && error.status() != Status::kChecksum) throw;
  }
  inflated.resize(size);
  return inflated;
}

bool holds_gin(const std::string& path) { return looks_like_gin(text_start(path)); }

// Error(kFormat) naming the file's kind where that is one that is not read.
void refuse_foreign(const std::string& path) {
  if (const auto kind = io::foreign_kind(text_start(path)))
    fail(Status::kFormat, path, ": ", io::not_read(*kind));
}

// Spark and Hadoop write a table as a folder of parts, and empty files that say how far they came.
bool is_part_of_table(std::string_view name) {
  for (const std::string_view start : {"part-", "part-r-", "part-m-"})
    if (name.starts_with(start) && name.size() > start.size() && name[start.size()] >= '0' &&
        name[start.size()] <= '9')
      return true;
  return false;
}
bool is_mark_of_table(std::string_view name) {
  return name == "_SUCCESS" || name.starts_with("_committed_") || name.starts_with("_started_");
}

bool is_about_a_set(std::string_view name) {
  return name.starts_with('.') || name.starts_with("README") || name.starts_with("LICENSE") ||
         is_mark_of_table(name);
}

void classify_npz(const std::string& path, std::vector<Candidate>& out) {
  const io::Npz npz = io::Npz::open(path);
  if (npz.has("adj_indptr"))
    out.push_back({Format::kShchur, path});
  else if (npz.has("node_features") && npz.has("edges"))
    out.push_back({Format::kHeterophilous, path});
  else if (npz.has("node_ptr") && npz.has("edge_ptr") && npz.has("edges"))
    out.push_back({Format::kPacked, path});
}

bool holds_ogb(const std::string& raw) {
  if (!is_directory(raw)) return false;
  constexpr const char* kFiles[] = {"edge.csv.gz", "edge.csv", "data.npz",
                                    "triplet-type-list.csv.gz", "triplet-type-list.csv"};
  return std::ranges::any_of(kFiles,
                             [&](const char* file) { return is_present(join_path(raw, file)); });
}

// Returns whether a text lies at the path, or beside it one that gzip has packed.
bool is_text_file(const std::string& path) {
  const std::string packed = base::text(path, kPacked);
  return is_present(path) ? !is_directory(path) : is_present(packed) && !is_directory(packed);
}

// The prefix of TU files of which `path` names the edges; empty when it does not. Of a packed and
// an unpacked file the latter counts.
std::string tu_prefix(const std::string& path) {
  std::string_view unpacked = path;
  if (unpacked.ends_with(kPacked)) {
    unpacked.remove_suffix(kPacked.size());
    if (is_present(std::string(unpacked))) return {};
  }
  if (!unpacked.ends_with(kTuEdges)) return {};
  std::string prefix(unpacked.substr(0, unpacked.size() - kTuEdges.size()));
  return is_text_file(base::text(prefix, kTuIndicator)) ? prefix : std::string();
}

// The prefix of TU files of which `path` is any.
std::string tu_prefix_of_part(const std::string& path) {
  if (std::string prefix = tu_prefix(path); !prefix.empty()) return prefix;
  std::string_view unpacked = path;
  if (unpacked.ends_with(kPacked)) unpacked.remove_suffix(kPacked.size());
  for (const std::string_view part : kTuParts) {
    if (!unpacked.ends_with(part)) continue;
    const std::string prefix(unpacked.substr(0, unpacked.size() - part.size()));
    const bool all = is_text_file(prefix + std::string(kTuEdges)) &&
                     is_text_file(prefix + std::string(kTuIndicator));
    return all ? prefix : std::string();
  }
  return {};
}

bool holds_geom_gcn(const std::string& folder) {
  return is_text_file(join_path(folder, kGeomGcnNodes)) &&
         is_text_file(join_path(folder, kGeomGcnEdges));
}

// Returns whether a file is one of the two, the other of which lies beside it.
bool is_geom_gcn_file(std::string_view name, const std::string& folder) {
  if (name.ends_with(kPacked)) name.remove_suffix(kPacked.size());
  return (name == kGeomGcnNodes || name == kGeomGcnEdges) && holds_geom_gcn(folder);
}

std::vector<Candidate> look_at_file(const std::string& path) {
  std::vector<Candidate> found;
  const std::string start = start_of(path, kStart);
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (start.starts_with("PK")) {
    classify_npz(path, found);
  } else if (name == native::kMetadataFile && native::looks_native(start)) {
    found.push_back({Format::kNative, folder});
  } else if ((name == parts::kManifestFile || name == parts::kMetadataFile) &&
             parts::looks_like_parts(start)) {
    found.push_back({Format::kParts, folder});
  } else if (name.starts_with("ind.")) {
    for (std::string_view part : kPlanetoidParts)
      if (path.ends_with(part))
        found.push_back({Format::kPlanetoid, path.substr(0, path.size() - part.size())});
    // ".allx" ends with ".x" too, and so on: the longest part is the right one.
    if (found.size() > 1)
      found = {*std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.path.size() < b.path.size();
      })};
  } else if (is_geom_gcn_file(name, folder)) {
    found.push_back({Format::kGeomGcn, folder});
  } else if (name.ends_with(".npz") || name.ends_with(".npy")) {
    return found;  // empty or broken, but meant as an archive and no text
  } else if (const std::string prefix = tu_prefix_of_part(path); !prefix.empty()) {
    found.push_back({Format::kTu, prefix});
  } else if (looks_like_matrix_market(text_start(path))) {
    found.push_back({Format::kMatrixMarket, path});
  } else if (holds_gin(path)) {
    found.push_back({Format::kGin, path});
  } else if (start.starts_with("\x1f\x8b") || is_edge_list_name(name) ||
             (start.find('\0') == start.npos && !start.starts_with("\x93NUMPY"))) {
    found.push_back({Format::kEdges, path});  // the name tells, even if something in it is no text
  }
  return found;
}

// `names` are the folder's entries. Files of the plain layout and of OGB are no data sets alone.
std::vector<Candidate> look_in_folder(const std::string& folder,
                                      const std::vector<std::string>& names) {
  std::vector<Candidate> found;
  const auto has = [&](std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name);
  };
  if (has(native::kMetadataFile)) {
    const std::string path = join_path(folder, native::kMetadataFile);
    if (is_file(path) && native::looks_native(start_of(path, kStart)))
      found.push_back({Format::kNative, folder});
  }
  for (const char* name : {parts::kManifestFile, parts::kJournalFile}) {
    if (!found.empty() || !has(name)) continue;
    const std::string path = join_path(folder, name);
    if (is_file(path) && parts::looks_like_parts(start_of(path, kStart)))
      found.push_back({Format::kParts, folder});
  }
  if ((has("edges.npy") || has("triples.npy")) && has("labels.npy"))
    found.push_back({Format::kPlain, folder});
  for (const std::string& name : names)
    if (name.starts_with("ind.") && name.ends_with(".graph"))
      found.push_back({Format::kPlanetoid, join_path(folder, name.substr(0, name.size() - 6))});
  if (holds_geom_gcn(folder)) found.push_back({Format::kGeomGcn, folder});
  if (has("raw") && holds_ogb(join_path(folder, "raw"))) found.push_back({Format::kOgb, folder});
  const bool has_set = !found.empty();
  for (const std::string& name : names) {
    if (!name.ends_with(".npz") || !is_file(join_path(folder, name))) continue;
    try {
      classify_npz(join_path(folder, name), found);
    } catch (const base::Error& error) {  // a file beside a data set need not be whole
      if (!has_set || error.status() == Status::kCancelled) throw;
    }
  }
  for (const std::string& name : names) {
    const bool packed = name.ends_with(".txt.gz");
    if ((!packed && !name.ends_with(".txt")) || !is_file(join_path(folder, name))) continue;
    const std::string path = join_path(folder, name);
    if (const std::string prefix = tu_prefix(path); !prefix.empty())
      found.push_back({Format::kTu, prefix});
    else if (holds_gin(path))
      found.push_back({Format::kGin, path});
  }
  if (!found.empty()) return found;
  // A text is taken for a list of edges only where it lies alone.
  for (const std::string& name : names) {
    if (is_about_a_set(name)) continue;
    const std::string path = join_path(folder, name);
    const bool fits = is_edge_list_name(name) || is_part_of_table(name);
    if (!found.empty() || !fits || !is_file(path)) return {};
    const bool matrix = looks_like_matrix_market(text_start(path));
    found.push_back({matrix ? Format::kMatrixMarket : Format::kEdges, path});
  }
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "nothing";
  constexpr size_t kMost = 12;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    out += base::text(i ? ", " : "", names[i]);
  if (names.size() > kMost) out += base::text(" and ", names.size() - kMost, " more");
  return out;
}

// The form of one data set, by the name of a sub-folder: "plain", "planetoid", "shchur_npz",
// "orig".
bool is_named_after_form(const std::string& folder, const Candidate& candidate) {
  std::string_view rest = std::string_view(candidate.path).substr(folder.size());
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  const std::string_view name = rest.substr(0, rest.find('/'));
  return name.starts_with(format_name(candidate.format)) || name == "orig" || name == "raw" ||
         name == "processed";
}

// True if the folder in the library's own format was saved from the other.
bool is_copy_of(const Candidate& native, const Candidate& other, const std::string& folder) {
  if (native.format != Format::kNative) return false;
  try {
    const std::string path = join_path(native.path, native::kMetadataFile);
    const io::JsonValue document =
        io::parse_json(base::read_file(path, io::JsonLimits().max_bytes), path);
    const io::JsonValue* source = document.find("source");
    const auto* text = source ? source->as<std::string>() : nullptr;
    std::string_view rest = std::string_view(other.path).substr(folder.size());
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    return text &&
           (*text == other.path || (!rest.empty() && text->ends_with(base::text('/', rest))));
  } catch (const base::Error& error) {
    if (error.status() == Status::kCancelled) throw;
    return false;
  }
}

// Error(kFormat) if data sets of different formats lie in a folder, and none says that it is a form
// of the others.
void refuse_several(const std::string& folder, const std::vector<Candidate>& found) {
  const bool forms = std::ranges::all_of(
      found, [&](const Candidate& candidate) { return is_named_after_form(folder, candidate); });
  const bool copies = std::all_of(found.begin() + 1, found.end(), [&](const Candidate& other) {
    return is_copy_of(found[0], other, folder);
  });
  if (forms || copies) return;
  std::string sets, choices;
  for (const Candidate& candidate : found) {
    const bool last = &candidate == &found.back();
    const char* between = &candidate == found.data() ? "" : last ? " and " : ", ";
    sets += base::text(between, candidate.path, " (", format_name(candidate.format), ")");
    choices += base::text(choices.empty() ? "" : " or ", "format=", format_name(candidate.format));
  }
  fail(Status::kFormat, folder, ": holds data sets of different formats: ", sets, "; ", choices,
       " chooses one");
}

// Describes a zip archive.
std::string found_in_zip(const std::string& path) {
  const io::ZipReader archive = io::ZipReader::open(path);
  std::vector<std::string> names;
  bool arrays = false, torch = false;
  for (const io::ZipEntry& entry : archive.entries()) {
    arrays |= entry.name.ends_with(".npy");
    torch |= entry.name.ends_with("data.pkl");
    names.push_back(io::printable(entry.name));
  }
  const auto has = [&](std::string_view name) { return std::ranges::count(names, name) > 0; };
  if (arrays && has("format.npy") && has("shape.npy"))
    return base::text("a sparse matrix of SciPy, an .npz of the arrays ", listed(names),
                      "; scipy.io.mmwrite(\"graph.mtx\", scipy.sparse.load_npz(file)) writes it in "
                      "Matrix Market's form");
  if (arrays)
    return base::text("an .npz of the arrays ", listed(names), ", which numpy.save() writes as ",
                      kPlainFiles);
  if (torch) return "a file of torch.save(), whose arrays numpy.save() writes for format plain";
  return base::text("a zip archive of ", listed(names), ", which has to be unpacked");
}

// The first file of a kind that is not read, as "a.parquet is a Parquet file, ..."; empty if none.
std::string foreign_among(const std::string& folder, const std::vector<std::string>& names) {
  size_t looks = 12;
  for (const std::string& name : names) {
    const std::string path = join_path(folder, name);
    if (is_about_a_set(name) || !is_file(path)) continue;
    if (looks-- == 0) break;
    try {
      const std::string start = text_start(path);
      if (start.starts_with("PK") && !name.ends_with(".gz"))
        return base::text(name, " is ", found_in_zip(path));
      if (const auto kind = io::foreign_kind(start))
        return base::text(name, " ", io::not_read(*kind));
    } catch (const base::Error& error) {
      if (error.status() == Status::kCancelled) throw;
    }
  }
  return {};
}

// Error(kNotFound) naming a link that leads nowhere, in a folder without a data set, or in a folder
// there: the link may stand in the place of one.
void refuse_links_to_nowhere(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string path = join_path(folder, name);
    if (is_about_a_set(name) || !base::is_present_directory(path)) continue;
    for (const std::string& inner : base::list_visible(path))
      if (!is_about_a_set(inner)) is_present(join_path(path, inner));
  }
}

// Describes the content of a folder that no format reads.
std::string found_among(const std::string& folder, const std::vector<std::string>& names) {
  refuse_links_to_nowhere(folder, names);
  if (std::ranges::count(names, native::kMetadataFile) > 0)
    return base::text(listed(names), ", but ", native::kMetadataFile,
                      " does not say \"format\": \"gnnmg-dataset\"");
  if (std::ranges::any_of(names, [](const std::string& name) { return name.ends_with(".npy"); }))
    return base::text(listed(names), ", but the names and arrays are to be ", kPlainFiles);
  if (const std::string foreign = foreign_among(folder, names); !foreign.empty())
    return base::text(listed(names), "; ", foreign);
  const auto parts = std::ranges::count_if(names, is_part_of_table);
  if (parts < 2) return listed(names);
  return base::text(parts, " parts of one table, as Spark and Hadoop write it (",
                    *std::ranges::find_if(names, is_part_of_table),
                    "), which have to be one text: cat part-* > edges.csv of CSV, or coalesce(1) "
                    "in Spark");
}

// The kind of a file that no format takes.
std::string found_in(const std::string& path) {
  const std::string start = text_start(path);
  if (start.starts_with("PK")) return found_in_zip(path);
  refuse_foreign(path);
  if (const size_t nul = start.find('\0'); nul != start.npos)
    return base::text("no text, by the NUL at byte ", nul, ", and nothing else that is known");
  return "nothing that is known";
}

// Names the format of data that are not of the wanted format; without such data, `otherwise(...)`.
template <typename F, typename... Args>
std::string found_instead(const std::vector<Candidate>& others, F&& otherwise,
                          const Args&... args) {
  return others.empty() ? otherwise(args...)
                        : base::text("one of format ", format_name(others[0].format));
}

// The end of an error about a path that does not exist: a similar name, or where the search ended.
std::string meant(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path name(path);
  std::error_code failed;
  const fs::path current = name.is_absolute() ? fs::path() : fs::current_path(failed);
  std::string where =
      current.empty() ? "" : base::text("; the current folder is ", current.string());
  const std::string folder = name.has_parent_path() ? name.parent_path().string() : ".";
  if (!is_directory(folder)) return base::text("; there is no folder ", folder, where);
  std::vector<std::string> names;
  try {
    names = base::list_visible(folder);
  } catch (const base::Error&) {  // a folder may be entered and not listed
    return where;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string like = base::meant_names(name.filename().string(), known);
  return like.empty() ? where : base::text("; did you mean ", like, "?");
}

}  // namespace

bool is_archive_of_a_set(const std::string& path) {
  if (!path.ends_with(".npz") || !is_file(path)) return false;
  std::vector<Candidate> found;
  try {
    classify_npz(path, found);
  } catch (const base::Error& error) {
    if (error.status() == Status::kCancelled) throw;
  }
  return !found.empty();
}

bool is_edge_list_name(std::string_view name) {
  std::string lower = base::lower(name);
  if (lower.ends_with(kPacked)) lower.resize(lower.size() - kPacked.size());
  constexpr std::string_view kEndings[] = {".csv", ".tsv", ".txt",   ".edges", ".edgelist",
                                           ".el",  ".mtx", ".graph", ".metis"};
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return lower.ends_with(ending); });
}

std::vector<Candidate> sets_inside(const std::string& folder, const Candidate& candidate) {
  std::vector<Candidate> sets;
  for (const std::string& name : base::list_visible(folder)) {
    const std::string inner = join_path(folder, name);
    const bool own = candidate.format == Format::kOgb && (name == "raw" || name == "split");
    if (own || !is_directory(inner)) continue;
    try {
      for (Candidate& other : look_in_folder(inner, base::list_visible(inner)))
        if (other.format < Format::kGin && !is_copy_of(other, candidate, folder) &&
            !is_named_after_form(folder, other))
          sets.push_back(std::move(other));
    } catch (const base::Error& error) {  // a file beside a data set need not be whole
      if (error.status() == Status::kCancelled) throw;
    }
  }
  return sets;
}

const char* format_name(Format format) noexcept {
  switch (format) {
    case Format::kNative:
      return "gnnmg";
    case Format::kPlain:
      return "plain";
    case Format::kPlanetoid:
      return "planetoid";
    case Format::kGeomGcn:
      return "geom_gcn";
    case Format::kOgb:
      return "ogb";
    case Format::kShchur:
      return "shchur";
    case Format::kHeterophilous:
      return "heterophilous";
    case Format::kEdges:
      return "edges";
    case Format::kGin:
      return "gin";
    case Format::kTu:
      return "tu";
    case Format::kPacked:
      return "packed";
    case Format::kMatrixMarket:
      return "matrix_market";
    case Format::kMetis:
      return "metis";
    case Format::kParts:
      return "parts";
  }
  return "unknown";
}

Candidate recognize(const std::string& path, std::string_view wanted,
                    std::vector<Candidate>* passed_over) {
  const bool any = wanted.empty();
  if (!any && std::none_of(kFormats.begin(), kFormats.end(),
                           [&](Format format) { return wanted == format_name(format); }))
    fail(Status::kInvalidArgument, "format \"", wanted, "\": ", kSupported);
  const auto keep_wanted = [&](std::vector<Candidate> found) {
    std::erase_if(found, [&](const Candidate& candidate) {
      return !any && wanted != format_name(candidate.format);
    });
    return found;
  };

  std::vector<Candidate> found;
  std::string what = "nothing that is known";
  if (is_directory(path)) {
    const std::vector<std::string> names = base::list_visible(path);
    found = keep_wanted(look_in_folder(path, names));
    if (found.empty()) {
      for (const std::string& name : names) {
        const std::string inner = join_path(path, name);
        if (!is_directory(inner)) continue;
        for (Candidate& candidate : keep_wanted(look_in_folder(inner, base::list_visible(inner))))
          // Any text in a sub-folder might be a list of edges; that guess would be too bold.
          if (candidate.format != Format::kEdges) found.push_back(std::move(candidate));
      }
    }
    if (found.empty()) what = found_instead(look_in_folder(path, names), found_among, path, names);
  } else if (is_present(path)) {
    // Any file can be read as text when that is asked for.
    for (const Format text : {Format::kEdges, Format::kGin, Format::kMatrixMarket, Format::kMetis})
      if (wanted == format_name(text)) found = {{text, path}};
    if (found.empty()) found = keep_wanted(look_at_file(path));
    if (found.empty()) what = found_instead(look_at_file(path), found_in, path);
  } else if (is_present(path + ".graph")) {
    found = keep_wanted({{Format::kPlanetoid, path}});
  } else if (const std::string prefix = tu_prefix(base::text(path, kTuEdges)); !prefix.empty()) {
    found = keep_wanted({{Format::kTu, prefix}});
  } else {
    try {
      base::File unreachable(path);  // says why, for loops of links and the like
    } catch (const base::Error& error) {
      if (error.status() != Status::kNotFound) throw;
    }
    throw base::Error(Status::kNotFound, base::text(path, ": no such file or folder", meant(path)),
                      -1, ENOENT);
  }

  if (found.empty())
    fail(Status::kFormat, path, ": expected ",
         any ? "a data set" : base::text("a data set of format ", wanted), ", found ", what, "; ",
         kSupported);
  if (found[0].format == Format::kEdges) {
    refuse_foreign(found[0].path);
    if (looks_like_matrix_market(text_start(found[0].path)))
      fail(Status::kFormat, found[0].path,
           ": is a Matrix Market file; its format is matrix_market");
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.format < b.format; });
  if (found.size() > 1 && found[1].format == found[0].format) {
    std::vector<std::string> paths;
    for (const Candidate& candidate : found)
      if (candidate.format == found[0].format) paths.push_back(candidate.path);
    fail(Status::kFormat, path, ": holds ", paths.size(), " data sets of format ",
         format_name(found[0].format), ": ", listed(paths), "; open one of them by its own path");
  }
  if (found.size() > 1) refuse_several(path, found);
  if (passed_over) passed_over->assign(found.begin() + 1, found.end());
  return found[0];
}

}  // namespace gnnmg::data
