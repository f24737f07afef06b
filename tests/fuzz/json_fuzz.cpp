// JSON: any bytes give a value or Error(kFormat).
#include "base/error.h"
#include "io/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    gnnmg::io::parse_json({data, size}, "input");
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
