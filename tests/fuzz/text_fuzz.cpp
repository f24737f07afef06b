// Lines of plain and gzip-compressed text, their fields, and the numbers in them.
#include "io/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg::io;
  try {
    LineReader reader(ByteSource::memory({data, size}, "input"), 1 << 20);
    std::string_view line;
    std::vector<std::string_view> fields;
    while (reader.next(line)) {
      split_fields(line, guess_separator(line), fields);
      for (const std::string_view field : fields) {
        parse_int(field);
        parse_double(field);
      }
    }
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
