// The settings of a model in a file of weights: any bytes give a model's settings, which are
// written and read back as they are, or an error of the file.
#include "nn/state/file_settings.h"

namespace {

using namespace gnnmg;
using base::Status;

void expect_error_of_file(const base::Error& error) {
  if (error.status() != Status::kFormat && error.status() != Status::kVersion) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const nn::FileSettings settings = nn::read_file_settings(text, "input");
    const std::string written = nn::write_file_settings(settings);
    if (nn::write_file_settings(nn::read_file_settings(written, "output")) != written)
      __builtin_trap();
  } catch (const base::Error& error) {
    expect_error_of_file(error);
  }
  try {
    nn::read_folder_settings(text, "input");
  } catch (const base::Error& error) {
    expect_error_of_file(error);
  }
  return 0;
}
