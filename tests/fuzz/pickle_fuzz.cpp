// Pickles, with every global accepted, so that all opcodes are reached.
#include "base/error.h"
#include "io/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gnnmg::io::PickleOptions options;
  options.accept = [](std::string_view, std::string_view) { return true; };
  options.max_values = 1 << 16;
  try {
    gnnmg::io::parse_pickle({data, size}, options, "input");
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
