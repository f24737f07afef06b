#include "data/ogb_folder.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/file.h"
#include "data/pickled_arrays.h"
#include "data/pickled_ints.h"
#include "data/split.h"
#include "io/bytes.h"
#include "io/pth_arrays.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr std::string_view kPackedTable = ".csv.gz", kTable = ".csv";
constexpr const char* kSplitDict = "split_dict.pt";
// Names of each part; OGB's is the first.
const std::array<std::vector<std::string_view>, 3> kSplitParts = {
    {{"train"}, {"valid", "val", "validation"}, {"test"}}};

}  // namespace

std::string OgbFolder::table_path(std::string_view table) const {
  const std::string packed = path(base::text(table, kPackedTable));
  const std::string unpacked = path(base::text(table, kTable));
  return !base::is_present(packed) && base::is_present(unpacked) ? unpacked : packed;
}

std::unique_ptr<io::ByteSource> OgbFolder::source(std::string_view table) {
  const std::string file = table_path(table);
  // An empty table is the gzip of no lines; a file of no bytes has lost its content.
  if (reading_.budget.take_file(file) == 0)
    fail(Status::kFormat, file, ": has 0 bytes, expected ",
         !file.ends_with(kPackedTable) ? "lines; an empty table has one empty line" : "gzip data");
  return io::ByteSource::open(file);
}

Table OgbFolder::table(std::string_view table, int64_t rows) {
  return parse_table(source(table), reading_, rows);
}

Tensor OgbFolder::integers(std::string_view name, const char* what) {
  Table found = table(name);
  if (found.columns > 1 || !found.values.integral() || found.values.has_nan())
    fail(Status::kFormat, table_path(name), ": expected one ", what, " a row");
  return found.values.take_i64({found.rows});
}

io::Npz OgbFolder::archive(std::string_view name) {
  reading_.budget.take_file(path(name));
  return io::Npz::open(path(name));
}

std::vector<std::string> OgbFolder::raw_tables() const {
  std::set<std::string> tables;
  for (const std::string& file : base::list_visible(path("raw")))
    for (const std::string_view ending : {kPackedTable, kTable})
      if (file.ends_with(ending)) tables.insert(file.substr(0, file.size() - ending.size()));
  return {tables.begin(), tables.end()};
}

namespace {

// The three lists of one folder, by part.
using Lists = std::array<Tensor, 3>;

Lists lists_of_dict(OgbFolder& folder, const std::string& name, Reading& reading) {
  const std::string path = folder.path(name);
  reading.budget.take_file(path);
  Lists lists;
  RangeRoom room(base::File(path).size());
  const auto arrays = io::read_pth_arrays(
      path, accept_array_globals, [&](const io::PickleValue& value, const std::string& where) {
        return Tensor::copy_of(std::span<const int64_t>(pickled_ints(value, where, room)));
      });
  for (const auto& [key, tensor] : arrays) {
    const std::string where = base::text(path, ", \"", io::printable(key), "\"");
    const auto named = std::ranges::find_if(kSplitParts, [&word = key](const auto& names) {
      return std::ranges::find(names, std::string_view(word)) != names.end();
    });
    const auto part = static_cast<size_t>(named - kSplitParts.begin());
    const bool second = part < kSplitParts.size() && lists[part].defined();
    if (part == kSplitParts.size() || second) {
      reading.context.log.add(
          base::LogLevel::kWarning,
          base::text(where, ": is ", second ? "a second name of a part" : "no part of a split",
                     ", and is left out"));
      continue;
    }
    if (tensor.shape().num_dims != 1)
      fail(Status::kFormat, where, ": shape ", tensor.shape().to_string(),
           ", expected a list of ids");
    lists[part] = to_i64(tensor, where);
  }
  for (size_t part = 0; part < kSplitParts.size(); ++part)
    if (!lists[part].defined())
      fail(Status::kFormat, path, ": holds no \"", kSplitParts[part][0],
           "\", expected train, valid and test");
  return lists;
}

// The table by the first of the part's names that there is.
std::string table_of_part(const OgbFolder& folder, const std::string& inner, size_t part) {
  for (const std::string_view name : kSplitParts[part])
    if (folder.has_table(base::join_path(inner, name))) return base::join_path(inner, name);
  const std::string missing = base::join_path(inner, kSplitParts[part][0]);
  fail(Status::kNotFound, folder.path(missing), kPackedTable, ": open: no such file, nor one with ",
       kTable, "; a part without ids is a table of one empty line");
}

}  // namespace

void read_ogb_splits(OgbFolder& folder, Reading& reading, Found& found) {
  const bool graphs = found.graph_ptr.defined();
  const char* of = graphs ? "graph" : "node";
  if (!base::is_present_directory(folder.path("split"))) return;
  for (const std::string& name : base::list_visible(folder.path("split"))) {
    const std::string inner = base::join_path("split", name);
    if (!base::is_present_directory(folder.path(inner))) continue;
    const std::string dict = base::join_path(inner, kSplitDict);
    Lists lists;
    if (folder.has(dict)) {
      lists = lists_of_dict(folder, dict, reading);
    } else if (folder.has_table(base::join_path(inner, "train"))) {
      for (size_t part = 0; part < kSplitParts.size(); ++part)
        lists[part] =
            folder.integers(table_of_part(folder, inner, part), graphs ? "graph id" : "node id");
    } else {
      reading.context.log.add(
          base::LogLevel::kWarning,
          base::text(folder.path(inner), ": holds no train.csv.gz, train.csv or ", kSplitDict,
                     ", the split is left out"));
      continue;
    }
    found.splits.push_back(split_from_ids(
        lists[0].as<const int64_t>(), lists[1].as<const int64_t>(), lists[2].as<const int64_t>(),
        graphs ? found.graph_ptr.rows() - 1 : found.num_nodes, name, 0, folder.path(inner), of));
  }
}

}  // namespace gnnmg::data
