// metadata.json of the project's own format. Accepted input must be written as a text that reads
// the same.
#include <cstdlib>

#include "data/native_metadata.h"
#include "io/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg::data::native;
  try {
    const Metadata metadata = parse_metadata({data, size}, "input");
    const std::string text = metadata_text(metadata);
    if (metadata_text(parse_metadata(gnnmg::io::as_bytes(text), "again")) != text) std::abort();
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
