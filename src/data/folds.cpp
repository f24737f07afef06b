#include "data/folds.h"

#include <algorithm>

#include "base/file.h"
#include "data/numbers.h"
#include "data/split.h"
#include "io/bytes.h"
#include "io/json.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::join_path;
using base::Status;
using io::JsonValue;

constexpr const char* kFoldsFile = "fold_of_graph.txt";
constexpr const char* kListsFolder = "10fold_idx";
constexpr const char* kFairFolder = "splits_fair";

// Calls take(value, line reader) for a file of integers, one a line; blank lines are passed over.
template <typename F>
void for_integers(const std::string& path, Reading& reading, F&& take) {
  // An empty list has one empty line; a file of no bytes has lost its content.
  if (reading.budget.take_file(path) == 0)
    fail(Status::kFormat, path, ": has 0 bytes, expected integers, one a line");
  io::LineReader lines(io::ByteSource::open(path));
  std::string_view line;
  while (lines.next(line)) {
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const auto value = io::parse_int(line);
    if (!value)
      fail(Status::kFormat, lines.where(), ": expected an integer, found \"", io::printable(line),
           "\"");
    take(*value, lines);
  }
}

void read_fold_of_graph(const std::string& path, int64_t num_graphs, Reading& reading,
                        std::vector<Split>& splits) {
  std::vector<int64_t> fold_of;
  int64_t largest = -1;
  for_integers(path, reading, [&](int64_t fold, const io::LineReader& lines) {
    if (fold < 0 || fold >= kMaxFolds)
      fail(Status::kRange, lines.where(), ": fold ", fold, ", expected 0 to ", kMaxFolds - 1);
    if (static_cast<int64_t>(fold_of.size()) == num_graphs)
      fail(Status::kFormat, lines.where(), ": expected the end after ", num_graphs, " graphs");
    fold_of.push_back(fold);
    largest = std::max(largest, fold);
  });
  if (static_cast<int64_t>(fold_of.size()) != num_graphs)
    fail(Status::kFormat, path, ": folds of ", fold_of.size(), " graphs, expected ", num_graphs);
  for (Split& split : splits_of_folds(fold_of, static_cast<int32_t>(largest + 1),
                                      SplitPart::kValidation, "fold_of_graph"))
    splits.push_back(std::move(split));
}

std::vector<int64_t> read_ids(const std::string& path, int64_t num_graphs, Reading& reading) {
  std::vector<int64_t> ids;
  for_integers(path, reading, [&](int64_t id, const io::LineReader& lines) {
    if (id < 0 || id >= num_graphs)
      fail(Status::kRange, lines.where(), ": graph ", id, ", expected 0 to ", num_graphs - 1);
    if (static_cast<int64_t>(ids.size()) == num_graphs)
      fail(Status::kFormat, lines.where(), ": expected at most ", num_graphs, " graphs");
    ids.push_back(id);
  });
  return ids;
}

void read_id_files(const std::string& folder, int64_t num_graphs, Reading& reading,
                   std::vector<Split>& splits) {
  for (int32_t k = 0; k < kMaxFolds; ++k) {
    const std::string train = join_path(folder, base::text("train_idx-", k + 1, ".txt"));
    const std::string test = join_path(folder, base::text("test_idx-", k + 1, ".txt"));
    if (!base::is_present(train) && !base::is_present(test)) return;
    splits.push_back(split_from_ids(read_ids(train, num_graphs, reading), {},
                                    read_ids(test, num_graphs, reading), num_graphs, "10fold_idx",
                                    k, test, "graph"));
  }
}

std::vector<int64_t> ids_of(const JsonValue* value, const std::string& where) {
  const auto* list = value ? value->as<JsonValue::Array>() : nullptr;
  if (!list)
    fail(Status::kFormat, where, ": expected a list of graphs, found ",
         value ? value->kind() : "nothing");
  std::vector<int64_t> ids;
  ids.reserve(list->size());
  for (const JsonValue& item : *list) {
    const auto* id = item.as<int64_t>();
    if (!id) fail(Status::kFormat, where, ": expected integers, found ", item.kind());
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace

void parse_fair_splits(std::span<const uint8_t> text, const std::string& path, int64_t num_graphs,
                       std::vector<Split>& splits) {
  const JsonValue document = io::parse_json(text, path);
  const auto* folds = document.as<JsonValue::Array>();
  if (!folds) fail(Status::kFormat, path, ": expected a list of folds, found ", document.kind());
  if (static_cast<int64_t>(folds->size()) > kMaxFolds)
    fail(Status::kFormat, path, ": ", folds->size(), " folds, expected at most ", kMaxFolds);
  for (size_t k = 0; k < folds->size(); ++k) {
    const std::string where = base::text(path, ", fold ", k);
    const JsonValue* selection = (*folds)[k].find("model_selection");
    const auto* inner = selection ? selection->as<JsonValue::Array>() : nullptr;
    if (!inner || inner->size() != 1)
      fail(Status::kFormat, where, ": expected \"model_selection\" to be a list of one split");
    const std::vector<int64_t> train = ids_of((*inner)[0].find("train"), where + ", train");
    const std::vector<int64_t> validation =
        ids_of((*inner)[0].find("validation"), where + ", validation");
    splits.push_back(split_from_ids(train, validation, ids_of((*folds)[k].find("test"), where),
                                    num_graphs, "splits_fair", static_cast<int32_t>(k), where,
                                    "graph"));
  }
}

bool is_fold_name(std::string_view name) {
  return name == kFoldsFile || name == kListsFolder || name == kFairFolder;
}

void read_folds(const std::string& folder, int64_t num_graphs, Reading& reading,
                std::vector<Split>& splits) {
  const std::string folds = join_path(folder, kFoldsFile);
  if (base::is_present(folds)) read_fold_of_graph(folds, num_graphs, reading, splits);
  const std::string lists = join_path(folder, kListsFolder);
  if (base::is_present_directory(lists)) read_id_files(lists, num_graphs, reading, splits);
  for (const std::string& place : {folder, join_path(folder, "..")}) {
    const std::string fair = join_path(place, kFairFolder);
    if (!base::is_present_directory(fair)) continue;
    for (const std::string& name : base::list_visible(fair)) {
      if (!name.ends_with(".json")) continue;
      const std::string path = join_path(fair, name);
      const int64_t size = reading.budget.take_file(path);
      parse_fair_splits(base::read_file(path, size), path, num_graphs, splits);
      return;
    }
  }
}

}  // namespace gnnmg::data
