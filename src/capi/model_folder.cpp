#include "capi/model_folder.h"

#include <cerrno>
#include <string_view>

#include "base/file.h"
#include "io/bytes.h"
#include "io/checked_file.h"
#include "nn/config/settings.h"
#include "nn/state/factored_weights.h"

namespace gnnmg::capi {
namespace {

constexpr const char* kHubConfig = "config.json";
constexpr const char* kHubSafetensors = "model.safetensors";
constexpr const char* kHubPth = "model.pth";
constexpr const char* kNext = ".next";  // ends the name of weights that replace others

bool names_folder(const std::string& path) {
  return path.ends_with('/') || base::is_directory(path);
}

void write_state(const std::string& file, bool pth, const io::StateFile& state) {
  pth ? io::write_pth(file, state) : io::write_safetensors(file, state);
}

void write_config(const std::string& path, const nn::FileSettings& settings,
                  const nn::WeightsSum& weights, const std::optional<nn::WeightsSum>& replaced) {
  base::AtomicFile out(path);
  out.write(nn::write_file_settings(settings, &weights, replaced, 2) + "\n");
  out.commit();
}

bool fits(const std::string& folder, const nn::WeightsSum& sum) {
  const std::string path = base::join_path(folder, sum.file);
  if (!base::exists(path) || base::File(path).size() != sum.bytes) return false;
  return io::sum_of_file(path).sha256 == sum.sha256;
}

// The weights that config.json describes now; none without a config.json.
std::optional<nn::WeightsSum> weights_in_use(const std::string& folder, const std::string& config) {
  if (!base::is_present(config)) return std::nullopt;
  const std::vector<uint8_t> text = base::read_file(config, nn::kMostFileSettings);
  const nn::FolderSettings found = nn::read_folder_settings(io::as_text(text), config);
  if (!found.ours)
    fail(Status::kInvalidArgument, config,
         ": another program wrote it, and it would be lost; save into another folder, or to a file "
         "in this one");
  return found.replaced && fits(folder, *found.replaced) ? *found.replaced : found.weights;
}

// While the weights are replaced, config.json describes the new ones and names the old ones, so the
// folder opens at any moment, also for a reader next to the writer.
void write_folder(const std::string& folder, bool pth, const io::StateFile& state,
                  const nn::FileSettings& settings) {
  base::make_directory(folder);
  const std::string config = base::join_path(folder, kHubConfig);
  const std::optional<nn::WeightsSum> old = weights_in_use(folder, config);
  const char* const name = pth ? kHubPth : kHubSafetensors;
  const std::string file = base::join_path(folder, name), next = file + kNext;
  write_state(next, pth, state);
  const io::FileSum sum = io::sum_of_file(next);
  const nn::WeightsSum weights{name, sum.bytes, sum.sha256};
  if (old) write_config(config, settings, weights, old);
  if (base::files().rename(next.c_str(), file.c_str()) < 0)
    base::fail_io(errno, file, "rename into place");
  base::sync_folder(folder);
  write_config(config, settings, weights, {});
}

// The file of weights of a folder without a config.json of ours.
std::string weights_without_config(const std::string& folder) {
  std::string safetensors = base::join_path(folder, kHubSafetensors);
  std::string pth = base::join_path(folder, kHubPth);
  const bool has_safetensors = base::is_present(safetensors), has_pth = base::is_present(pth);
  if (has_safetensors && has_pth)
    fail(Status::kFormat, folder, ": has ", kHubSafetensors, " and ", kHubPth, " and no ",
         kHubConfig, " that says which: name one of the files");
  if (has_safetensors) return safetensors;
  if (has_pth) return pth;
  fail(Status::kNotFound, folder, ": has no ", kHubSafetensors, " or ", kHubPth,
       base::exists(base::join_path(folder, "latest"))
           ? ", but checkpoints: name the folder of one of them, such as the one that the file "
             "latest names"
           : "");
}

// The settings that config.json has, and the file that they describe; no settings if the file
// describes itself alone.
std::optional<nn::FileSettings> read_config_file(const std::string& folder, std::string_view text,
                                                 std::string& weights) {
  nn::FolderSettings found = nn::read_folder_settings(text, base::join_path(folder, kHubConfig));
  if (!found.ours) {
    weights = weights_without_config(folder);
    return std::nullopt;
  }
  if (found.replaced && fits(folder, *found.replaced)) {
    weights = base::join_path(folder, found.replaced->file);
    return std::nullopt;
  }
  weights = base::join_path(folder, found.weights.file);
  const io::FileSum written{found.weights.bytes, found.weights.sha256};
  io::check_bytes(weights, base::File(weights).size(), written);
  io::check_sum(weights, io::sum_of_file(weights), written);
  return std::move(found.settings);
}

// The format is the file's own; where another was asked for, that is an error.
io::StateFile read_state(const std::string& path, const FileForm& form) {
  const bool pth = io::state_format(path) == io::StateFormat::kPth;
  if (form.format != FileFormat::kAuto && pth != form.pth)
    fail(Status::kFormat, path, ": is a file of ", pth ? "torch.save()" : "safetensors",
         ", but the setting `format` asks for the other format: leave it out");
  if (pth) return io::read_pth(path, form.dict);
  io::StateFile state = io::read_safetensors(path);
  return form.dict.empty() ? std::move(state) : io::below(state, form.dict, path);
}

std::optional<nn::FileSettings> settings_in(const io::StateFile& state, const std::string& path) {
  const auto text = state.metadata.find(nn::kFileSettings);
  if (text == state.metadata.end()) return std::nullopt;
  return nn::read_file_settings(text->second, path + ", settings");
}

}  // namespace

void write_model_file(const std::string& path, bool pth, io::StateFile& state,
                      const nn::FileSettings& settings) {
  state.metadata[nn::kFileSettings] = nn::write_file_settings(settings);
  names_folder(path) ? write_folder(path, pth, state, settings) : write_state(path, pth, state);
}

namespace {

void read_weights(ModelFile& file, const FileForm& form) {
  file.state = read_state(file.path, form);
  file.composed = nn::compose_weights(file.state);
  std::optional<nn::FileSettings> own = settings_in(file.state, file.path);
  if (!file.settings) {
    file.settings = std::move(own);
  } else if (own) {
    const std::string list = nn::differences(file.settings->config, own->config);
    if (!list.empty())
      fail(Status::kMismatch, file.path, ": ", kHubConfig,
           " and the weights describe different models: ", list);
  }
}

std::string config_text(const std::string& folder) {
  const std::string config = base::join_path(folder, kHubConfig);
  if (!base::is_present(config)) return {};
  const std::vector<uint8_t> bytes = base::read_file(config, nn::kMostFileSettings);
  return std::string(io::as_text(bytes));
}

// Reads once more if another process has replaced config.json meanwhile.
ModelFile read_folder(const std::string& folder, const FileForm& form) {
  for (std::string text = config_text(folder);;) {
    ModelFile file{folder, {}, {}};
    std::optional<base::Error> failure;
    try {
      if (text.empty())
        file.path = weights_without_config(folder);
      else
        file.settings = read_config_file(folder, text, file.path);
      read_weights(file, form);
    } catch (const base::Error& error) {
      failure = error;
    }
    const std::string now = config_text(folder);
    if (!failure) return file;
    if (now == text) throw base::Error(*failure);
    text = now;
  }
}

}  // namespace

ModelFile read_model_file(const std::string& path, const FileForm& form) {
  if (names_folder(path)) return read_folder(path, form);
  ModelFile file{path, {}, {}};
  read_weights(file, form);
  return file;
}

}  // namespace gnnmg::capi
