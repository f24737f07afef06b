// How a file of weights, or of an optimizer's state, is written and read.
#pragma once

#include <string>
#include <string_view>

#include "capi/arguments.h"

namespace gnnmg::capi {

struct FileForm {
  bool pth = false;         // asked for, or by the end of the path
  bool by_content = false;  // nothing was asked for
  bool other_framework = false, torch_modules = false, loaded_names = false;
  std::string first_layer, dict;
};

extern const gnnmg_model_file_config kModelFileDefaults;

// The settings, checked.
FileForm file_form(const gnnmg_model_file_config* config, std::string_view path);

// What a call that goes on has to be equal in.
std::string call_key(const char* verb, const std::string& path, const FileForm& form);

}  // namespace gnnmg::capi
