#include "data/split_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/file.h"
#include "data/npz_splits.h"
#include "data/unused.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

using base::join_path;

struct SplitFile {
  std::string set, name;  // "film", "0.6_0.2"
  int64_t index = 0;
  std::string path;
};
std::optional<SplitFile> split_file_of(const std::string& folder, const std::string& file) {
  constexpr std::string_view kMark = "_split_", kEnding = ".npz";
  const size_t mark = file.find(kMark);
  if (mark == file.npos || !file.ends_with(kEnding)) return std::nullopt;
  const size_t begin = mark + kMark.size(), number = file.rfind('_') + 1;
  const size_t end = file.size() - kEnding.size();
  if (number <= begin || number >= end) return std::nullopt;
  const auto index = io::parse_int(std::string_view(file).substr(number, end - number));
  if (!index) return std::nullopt;
  return SplitFile{file.substr(0, mark), file.substr(begin, number - 1 - begin), *index,
                   join_path(folder, file)};
}

// The splits in the first place that has any.
std::vector<SplitFile> find_splits(const std::string& folder, const std::string& set) {
  std::vector<SplitFile> files;
  const auto look = [&](const std::string& place, const std::string& wanted) {
    if (!files.empty() || !base::is_present_directory(place)) return;
    for (const std::string& file : base::list_visible(place))
      if (auto split = split_file_of(place, file);
          split && (wanted.empty() || split->set == wanted))
        files.push_back(std::move(*split));
  };
  look(folder, set);
  look(join_path(folder, kSplitsFolder), set);
  look(join_path(join_path(folder, "../.."), kSplitsFolder),
       set.empty() ? name_of_folder(folder) : set);
  std::ranges::sort(files, {}, [](const SplitFile& file) {
    return std::pair(std::string_view(file.name), file.index);
  });
  return files;
}

}  // namespace

bool is_split_file(const std::string& file) { return split_file_of("", file).has_value(); }

std::string name_of_folder(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

void read_split_files(const std::string& folder, const std::string& set, Reading& reading,
                      Found& found) {
  std::map<std::string, int32_t> counts;
  for (const SplitFile& file : find_splits(folder, set)) {
    if (set.empty()) found.name = file.set;
    reading.budget.take_file(file.path);
    const io::Npz npz = io::Npz::open(file.path);
    const size_t before = found.splits.size();
    if (!append_npz_splits(npz, file.name, found.num_nodes, found.splits)) fail_without_splits(npz);
    warn_of_unused_arrays(npz, is_split_array, reading.context.log);
    for (size_t i = before; i < found.splits.size(); ++i)
      found.splits[i].index = counts[file.name]++;
  }
}

void read_splits_beside(const std::string& folder, Reading& reading, Found& found) {
  constexpr const char* kName = "beside";
  const bool graphs = found.graph_ptr.defined();
  const int64_t num_ids = graphs ? found.graph_ptr.rows() - 1 : found.num_nodes;
  int32_t count = 0;
  const auto append = [&](const NamedArrays& arrays) {
    const size_t before = found.splits.size();
    try {
      append_splits(arrays, kName, num_ids, graphs ? "graph" : "node", found.splits);
    } catch (const base::Error& error) {
      if (error.status() != base::Status::kFormat && error.status() != base::Status::kRange) throw;
      reading.context.log.add(base::LogLevel::kWarning,
                              base::text(error.what(), "; the split is left out"));
      found.splits.resize(before);
    }
    for (size_t i = before; i < found.splits.size(); ++i) found.splits[i].index = count++;
    if (found.splits.size() > before)
      reading.context.log.add(base::LogLevel::kInfo,
                              base::text(arrays.name, ": is read as the split \"", kName, "\""));
  };
  for (const std::string& file : {std::string("split.npz"), std::string("splits.npz"),
                                  found.name + "_split.npz", found.name + "_splits.npz"}) {
    const std::string path = join_path(folder, file);
    if (!base::is_present(path)) continue;
    const io::Npz npz = io::Npz::open(path);
    NamedArrays arrays = arrays_of(npz);
    bool taken = false;
    arrays.get = [&](const std::string& key) {
      if (!std::exchange(taken, true)) reading.budget.take_file(path);
      return npz.get(key);
    };
    append(arrays);
  }
  const auto path_of = [&](const std::string& key) { return join_path(folder, key + ".npy"); };
  append({folder, [&](const std::string& key) { return base::is_present(path_of(key)); },
          [&](const std::string& key) {
            reading.budget.take_file(path_of(key));
            return io::read_npy(path_of(key));
          }});
}

}  // namespace gnnmg::data
