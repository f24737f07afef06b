// .npy files: both readings of two-byte integers.
#include "io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto u2 : {gnnmg::io::U2::kInteger, gnnmg::io::U2::kBFloat16}) {
    try {
      gnnmg::io::parse_npy({data, size}, "input", u2);
    } catch (const gnnmg::base::Error&) {
    }
  }
  return 0;
}
