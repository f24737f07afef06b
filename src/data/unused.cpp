#include "data/unused.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "base/file.h"
#include "base/lower.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

const std::string kGzip = ".gz";

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

// True if a file of this name holds data other than a table, by its ending.
bool is_data_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".txt",   ".json", ".pkl",   ".pickle",
                                           ".index", ".idx",  ".jsonl", ".pth"};
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::ranges::any_of(kEndings,
                             [name](std::string_view end) { return name.ends_with(end); });
}

// True if a file of this name holds numbers, by its ending.
bool is_table_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".npy", ".npz",     ".csv",   ".csv.gz", ".tsv", ".pt",
                                           ".h5",  ".parquet", ".arrow", ".mat",    ".hdf5"};
  return std::ranges::any_of(kEndings,
                             [name](std::string_view end) { return name.ends_with(end); });
}

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

void warn(const std::string& folder, const char* what, const std::vector<std::string>& names,
          base::Log& log) {
  if (!names.empty())
    log.add(base::LogLevel::kWarning, base::text(folder, what, names_text(names)));
}

}  // namespace

bool is_split_name(std::string_view name) {
  constexpr std::string_view kParts[] = {"train", "training", "val", "valid", "validation", "test"};
  std::string word;
  const auto is_part = [&] { return std::ranges::count(kParts, word) > 0; };
  std::string lower;
  for (const char c : name) {
    lower += base::lower(c);
    if (lower.back() >= 'a' && lower.back() <= 'z') {
      word += lower.back();
      continue;
    }
    if (is_part()) return true;
    word.clear();
  }
  return is_part() || lower.find("split") != lower.npos || lower.find("fold") != lower.npos;
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
  std::vector<std::string> files, splits;
  for (const std::string& name : base::list_visible(folder)) {
    const std::string path = normal(base::join_path(folder, name));
    const bool directory = base::is_present_directory(path);
    if (is_known(name) || is_read(path, directory)) continue;
    const bool packed =
        name.ends_with(kGzip) && is_read(path.substr(0, path.size() - kGzip.size()), false);
    if (!directory &&
        (is_table_name(name) || is_more(name) || packed || is_read(path + kGzip, false)))
      files.push_back(name);
    else if (is_split_name(name) && (directory || is_data_name(name)))
      splits.push_back(name);
  }
  warn(folder, ": files that the format does not know are left out: ", files, log);
  warn(folder, ": splits that the format does not read are left out: ", splits, log);
}

}  // namespace gnnmg::data
