#include "capi/model_folder.h"

#include <cerrno>

#include "base/file.h"
#include "io/bytes.h"
#include "io/checked_file.h"
#include "nn/settings.h"

namespace gnnmg::capi {
namespace {

constexpr const char* kHubConfig = "config.json";
constexpr const char* kHubSafetensors = "model.safetensors";
constexpr const char* kHubPth = "model.pth";

bool names_folder(const std::string& path) {
  return path.ends_with('/') || base::is_directory(path);
}

void remove_if_there(const std::string& path) {
  if (base::files().unlink(path.c_str()) < 0 && errno != ENOENT)
    base::fail_io(errno, path, "remove");
}

void write_state(const std::string& file, bool pth, const io::StateFile& state) {
  pth ? io::write_pth(file, state) : io::write_safetensors(file, state);
}

// Weights describe themselves too, so without config.json, which goes first and comes last, the
// folder opens.
void write_folder(const std::string& folder, bool pth, const io::StateFile& state,
                  const nn::FileSettings& settings) {
  base::make_directory(folder);
  const std::string config = base::join_path(folder, kHubConfig);
  remove_if_there(config);
  const char* const name = pth ? kHubPth : kHubSafetensors;
  const std::string file = base::join_path(folder, name);
  write_state(file, pth, state);
  const io::FileSum sum = io::sum_of_file(file);
  const nn::WeightsSum weights{name, sum.bytes, sum.sha256};
  base::AtomicFile out(config);
  out.write(nn::write_file_settings(settings, &weights, 2) + "\n");
  out.commit();
}

// The file of weights of a folder without a config.json of ours.
std::string weights_without_config(const std::string& folder) {
  const std::string safetensors = base::join_path(folder, kHubSafetensors);
  const std::string pth = base::join_path(folder, kHubPth);
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

// The settings that config.json has, and the file that they describe.
std::optional<nn::FileSettings> read_config_file(const std::string& folder, std::string& weights) {
  const std::string config = base::join_path(folder, kHubConfig);
  if (!base::is_present(config)) return std::nullopt;
  const std::vector<uint8_t> text = base::read_file(config, nn::kMostFileSettings);
  nn::FolderSettings found = nn::read_folder_settings(io::as_text(text), config);
  if (!found.ours) return std::nullopt;
  weights = base::join_path(folder, found.weights.file);
  const io::FileSum written{found.weights.bytes, found.weights.sha256};
  io::check_bytes(weights, base::File(weights).size(), written);
  io::check_sum(weights, io::sum_of_file(weights), written);
  return std::move(found.settings);
}

// The format is the file's own; where another was asked for, that is an error.
io::StateFile read_state(const std::string& path, const FileForm& form) {
  const bool pth = io::state_format(path) == io::StateFormat::kPth;
  if (!form.by_content && pth != form.pth)
    fail(Status::kFormat, path, ": is a file of ", pth ? "torch.save()" : "safetensors",
         ", but config.format asks for the other format: leave it GNNMG_MODEL_FORMAT_AUTO");
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

ModelFile read_model_file(const std::string& path, const FileForm& form) {
  ModelFile file{path, {}, {}};
  if (names_folder(path)) {
    file.settings = read_config_file(path, file.path);
    if (!file.settings) file.path = weights_without_config(path);
  }
  file.state = read_state(file.path, form);
  std::optional<nn::FileSettings> own = settings_in(file.state, file.path);
  if (!file.settings) {
    file.settings = std::move(own);
  } else if (own) {
    const std::string list = nn::differences(file.settings->config, own->config);
    if (!list.empty())
      fail(Status::kMismatch, path, ": ", kHubConfig,
           " and the weights describe different models: ", list);
  }
  return file;
}

}  // namespace gnnmg::capi
