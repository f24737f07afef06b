// The text in a file of weights that describes the model: JSON with all settings, so that the file
// opens alone. docs/formats.md has its members. Free of torch.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "io/json.h"
#include "nn/config/config.h"

namespace gnnmg::nn {

// Key of the text in the metadata of a file.
inline constexpr const char* kFileSettings = "gnnmg";
inline constexpr int64_t kMostFileSettings = int64_t{4} << 20;  // bytes

// The data that a model was made for or trained on.
struct DataFacts {
  std::string name;  // free text; empty: unknown
  data::Task task = data::Task::kNone;
  int64_t num_classes = 0;
  bool of_graphs = false;  // results are for graphs, not for nodes
};
DataFacts facts_of(const data::Dataset& dataset);

struct FileSettings {
  ModelConfig config;
  Framework keys = Framework::kPyg;  // the framework whose layers the file's tensors are
  DataFacts data;
  std::string library = {};  // version of the library that wrote the file
};

// Weights that the text describes, beside it in a folder: a member of config.json.
struct WeightsSum {
  std::string file;  // name in the folder
  int64_t bytes = 0;
  std::string sha256;
};

// `weights`: null, or a further member; `replaced`: as FolderSettings has it. `indent` as
// JsonWriter has it.
std::string write_file_settings(const FileSettings& settings, const WeightsSum* weights = nullptr,
                                const std::optional<WeightsSum>& replaced = {}, int indent = -1);
// `where` names the text in errors: Error(kVersion) for a later version and for a setting that this
// library does not know, which names the setting and the version that wrote it; kFormat for
// anything else that is missing, of the wrong type, or no model.
FileSettings read_file_settings(std::string_view text, const std::string& where);

// The text of a config.json. `ours`: false if another program wrote it; the rest is empty then.
struct FolderSettings {
  bool ours = false;
  FileSettings settings;
  WeightsSum weights;
  // Weights that are in the folder until those above replace them, while a save is under way or
  // after it was killed. They describe themselves.
  std::optional<WeightsSum> replaced;
};
FolderSettings read_folder_settings(std::string_view text, const std::string& where);

}  // namespace gnnmg::nn
