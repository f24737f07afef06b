// The JSON files of a folder of parts: the first byte selects one. Accepted input must be written
// as a text that reads the same.
#include <cstdlib>

#include "data/parts_metadata.h"
#include "io/bytes.h"

namespace {

using gnnmg::io::as_bytes;
using namespace gnnmg::data::parts;

void expect_equal(const std::string& a, const std::string& b) {
  if (a != b) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> text(data + 1, size - 1);
  try {
    if (data[0] == 'd') {
      const std::string again = metadata_text(parse_metadata(text, "input"));
      expect_equal(metadata_text(parse_metadata(as_bytes(again), "again")), again);
    } else if (data[0] == 'm') {
      const std::string again = manifest_text(parse_manifest(text, "input"));
      expect_equal(manifest_text(parse_manifest(as_bytes(again), "again")), again);
    } else {
      const std::string again = file_facts_text(parse_file_facts(text, "input"));
      expect_equal(file_facts_text(parse_file_facts(as_bytes(again), "again")), again);
    }
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
