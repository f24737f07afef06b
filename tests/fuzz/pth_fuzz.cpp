// PyTorch's .pth. A zip archive's checksums reject nearly every change of its pickle, so input that
// is no archive is used as the pickle of one.
#include <string>

#include "fuzz/stored_zip.h"
#include "io/bytes.h"
#include "io/state_file.h"

namespace {

// Returns an archive with the bytes as record "a/data.pkl", and with storages "0" (24 bytes) and
// "1" (none).
std::string wrapped(std::string_view pickle) {
  return gnnmg::fuzz::stored_zip({{"a/data.pkl", std::string(pickle)},
                                  {"a/version", "3"},
                                  {"a/data/0", std::string(24, '\1')},
                                  {"a/data/1", ""}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string input(reinterpret_cast<const char*>(data), size);
  if (!input.starts_with("PK")) input = wrapped(input);
  for (const std::string_view path : {"", "state.0"}) {
    try {
      gnnmg::io::parse_pth(gnnmg::io::as_bytes(input), "input", path);
    } catch (const gnnmg::base::Error&) {
    }
  }
  return 0;
}
