// Reading and writing a file of weights, or of an optimizer's state.
#pragma once

#include <string>
#include <string_view>

#include "capi/arguments.h"
#include "nn/config/choices.h"
#include "nn/state/file_settings.h"

namespace gnnmg::nn {
class Model;
}

namespace gnnmg::capi {

enum class FileFormat : int32_t { kAuto, kSafetensors, kPth };
const nn::Choices& choices_of(FileFormat);

// Use of the file by a call.
enum class FileUse { kSave, kLoad, kSaveOptimizer, kLoadOptimizer };

struct FileForm {
  FileUse use = FileUse::kLoad;
  FileFormat format = FileFormat::kAuto;
  bool pth = false;  // asked for, or by the end of the path
  bool other_framework = false, torch_modules = false, loaded_names = false;
  bool partial = false;  // tensors that fit are enough
  std::string first_layer, dict;

  bool loads() const { return use == FileUse::kLoad || use == FileUse::kLoadOptimizer; }
};

// The settings, checked.
FileForm file_form(const char* settings, std::string_view path, FileUse use);

// Text that a call and its continuation have in common.
std::string call_key(const char* verb, const std::string& path, const FileForm& form);

class Model;
struct ModelFile;

// The text that a file of the model's weights has.
nn::FileSettings settings_of(const Model& model, bool other_framework);
// Copies the file's tensors in; errors name the file.
void load_state(nn::Model& model, const ModelFile& file, bool other_framework);

}  // namespace gnnmg::capi
