// safetensors files.
#include "io/state_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    gnnmg::io::parse_safetensors({data, size}, "input");
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
