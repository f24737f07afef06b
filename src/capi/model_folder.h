// Files of weights with the text that describes the model, alone or in a folder in the layout of
// model hubs: model.safetensors or model.pth, and config.json with the same text and the sum of the
// weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capi/model_file.h"
#include "io/state_file.h"
#include "nn/state/file_settings.h"

namespace gnnmg::capi {

// Writes to the path of a file, or into the folder of a path that is one or ends with a slash.
// Adds the settings to the state's metadata. A folder that is written to again opens at any moment.
void write_model_file(const std::string& path, bool pth, io::StateFile& state,
                      const nn::FileSettings& settings);

struct ModelFile {
  std::string path;  // path of the weights
  io::StateFile state;
  std::optional<nn::FileSettings> settings;  // none if another program wrote the file, or 0.1
  std::vector<std::string> composed = {};    // weights of compose_weights()
};

// Reads the weights of a file or folder. Error(kChecksum) if the weights are not those that
// config.json describes, kMismatch if the two describe different models, kNotFound for a folder
// without weights.
ModelFile read_model_file(const std::string& path, const FileForm& form);

}  // namespace gnnmg::capi
