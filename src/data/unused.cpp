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

// Texts and Python's objects, which have no header that is accepted, are none.
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

void warn_of_unread_splits(const std::string& folder, std::string_view known, base::Log& log) {
  std::vector<std::string> unread;
  for (const std::string& name : base::list_visible(folder))
    if (name != known && name.find("split") != name.npos &&
        base::is_present_directory(base::join_path(folder, name)))
      unread.push_back(name);
  if (!unread.empty())
    log.add(base::LogLevel::kWarning,
            base::text(folder, ": folders in which the format has no splits are left out: ",
                       names_text(unread)));
}

bool is_table_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".npy", ".npz", ".csv", ".csv.gz", ".pt"};
  return std::ranges::any_of(kEndings,
                             [name](std::string_view end) { return name.ends_with(end); });
}

}  // namespace gnnmg::data
