#include "data/unused.h"

#include <algorithm>

#include "base/file.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

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
  constexpr std::string_view kEndings[] = {".txt", ".json", ".pkl",   ".pickle", ".index",
                                           ".idx", ".tsv",  ".jsonl", ".pth",    ".mat"};
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::ranges::any_of(kEndings,
                             [name](std::string_view end) { return name.ends_with(end); });
}

// True if a file or folder of this name may divide nodes or graphs into parts.
bool is_split_name(std::string_view name) {
  constexpr std::string_view kParts[] = {"train", "training", "val", "valid", "validation", "test"};
  std::string word;
  const auto is_part = [&] { return std::ranges::count(kParts, word) > 0; };
  std::string lower;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    lower += static_cast<char>(upper ? c - 'A' + 'a' : c);
    if (lower.back() >= 'a' && lower.back() <= 'z') {
      word += lower.back();
      continue;
    }
    if (is_part()) return true;
    word.clear();
  }
  return is_part() || lower.find("split") != lower.npos || lower.find("fold") != lower.npos;
}

}  // namespace

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

void warn_of_unused_files(const std::string& folder, const std::vector<std::string>& names,
                          base::Log& log) {
  if (!names.empty())
    log.add(base::LogLevel::kWarning,
            base::text(folder,
                       ": files that the format does not know are left out: ", names_text(names)));
}

void warn_of_unread_splits(const std::string& folder,
                           const std::function<bool(std::string_view)>& known, base::Log& log) {
  std::vector<std::string> unread;
  for (const std::string& name : base::list_visible(folder))
    if (!known(name) && is_split_name(name) &&
        (is_data_name(name) || base::is_present_directory(base::join_path(folder, name))))
      unread.push_back(name);
  if (!unread.empty())
    log.add(base::LogLevel::kWarning,
            base::text(folder, ": splits that the format does not read are left out: ",
                       names_text(unread)));
}

bool is_table_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".npy", ".npz", ".csv", ".csv.gz", ".pt"};
  return std::ranges::any_of(kEndings,
                             [name](std::string_view end) { return name.ends_with(end); });
}

}  // namespace gnnmg::data
