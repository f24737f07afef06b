#include "data/unused.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "base/lower.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

const std::string kGzip = ".gz";
// Words of names of tables; "h" is that of .h5.
constexpr std::string_view kTables[] = {"npy", "npz", "csv",     "tsv",   "pt",
                                        "h",   "hdf", "parquet", "arrow", "mat"};
// Endings of programs and documents: train.py beside a set is no part of it.
constexpr std::string_view kOthers[] = {"py",  "ipynb", "sh",  "r",   "jl", "rs",  "go",   "c",
                                        "cpp", "html",  "pdf", "png", "md", "rst", "yaml", "yml"};

std::string names_text(const std::vector<std::string>& names) {
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += base::text(i ? ", " : "", io::printable(names[i], 80));
  if (names.size() > kMost) text += base::text(" and ", names.size() - kMost, " more");
  return text;
}

// True for arrays of numbers; texts and Python's objects have no accepted header.
bool holds_numbers(const io::Npz& npz, const std::string& key) {
  try {
    const io::NpyKind kind = npz.header(key).kind;
    return kind != io::NpyKind::kBytes && kind != io::NpyKind::kUnicode;
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kFormat && error.status() != base::Status::kUnsupported)
      throw;
    return false;
  }
}

// True if a word of the name, which is made of letters, is among `words`.
template <size_t N>
bool has_word(std::string_view name, const std::string_view (&words)[N]) {
  std::string lower = base::lower(name);
  for (char& c : lower)
    if ((c < 'a' || c > 'z') && static_cast<uint8_t>(c) < 0x80) c = ' ';
  std::istringstream stream(lower);
  for (std::string word; stream >> word;)
    if (std::ranges::count(words, word) > 0) return true;
  return false;
}

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

}  // namespace

bool is_part_name(std::string_view name) {
  const std::string lower = base::lower(name);
  for (const char* part :
       {"feature", "attribute", "embedding", "label", "weight", "mask", "split", "fold"})
    if (lower.find(part) != lower.npos) return true;
  return has_word(name, {"feat",     "feats", "attr",    "attrs",      "emb",     "x",   "node",
                         "nodes",    "class", "classes", "target",     "targets", "y",   "train",
                         "training", "val",   "valid",   "validation", "test",    "idx", "index"});
}

void warn_of_unused_arrays(const io::Npz& npz, const std::function<bool(std::string_view)>& known,
                           base::Log& log) {
  std::vector<std::string> unused;
  for (const std::string& key : npz.keys())
    if (!known(key) && holds_numbers(npz, key)) unused.push_back(key);
  if (!unused.empty())
    log.add(base::LogLevel::kWarning,
            base::text(npz.name(), ": arrays that the format does not know are left out: ",
                       names_text(unused)));
}

void warn_of_unread_files(const std::string& folder, std::span<const std::string> read,
                          const std::function<bool(std::string_view)>& is_more,
                          const std::function<bool(std::string_view)>& is_known, base::Log& log) {
  std::set<std::string> paths;
  for (const std::string& path : read) paths.insert(normal(path));
  const auto is_read = [&](const std::string& path, bool directory) {
    const std::string begin = directory ? path + "/" : path;
    const auto found = paths.lower_bound(begin);
    return found != paths.end() && (directory ? found->starts_with(begin) : *found == begin);
  };
  std::vector<std::string> unread;
  for (const std::string& name : base::list_visible(folder)) {
    const std::string path = normal(base::join_path(folder, name));
    const bool directory = base::is_directory(path);
    const std::string lower = base::lower(name);
    if (is_known(name) || is_read(path, directory) || lower.find("readme") != lower.npos ||
        std::ranges::count(kOthers, lower.substr(lower.rfind('.') + 1)) > 0)
      continue;
    const bool beside = is_read(path.substr(0, path.rfind('.')), false);
    if (beside && has_word(name.substr(name.rfind('.') + 1), {"dvc", "md", "sha"})) continue;
    const bool packed = (beside && name.ends_with(kGzip)) || is_read(path + kGzip, false);
    const bool table = !directory && has_word(name, kTables);
    if (packed || table || is_more(name) || is_part_name(name) ||
        has_word(name, {"edge", "edges", "triples"}))
      unread.push_back(directory ? name + "/" : name);
  }
  if (!unread.empty())
    log.add(base::LogLevel::kWarning,
            base::text(folder,
                       ": files that the format does not know are left out: ", names_text(unread)));
}

}  // namespace gnnmg::data
