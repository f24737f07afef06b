// Texts of many graphs: the first byte selects the options, the rest is the text, plain or
// gzip-compressed.
#include "data/gin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg;
  if (size == 0) return 0;
  static base::ThreadPool pool(1);
  base::Log log(16);
  data::OpenOptions options;
  options.max_bytes = 1 << 26;
  options.degree_features = data[0] % 3 - 1;
  options.undirected = data[0] >> 2 & 1;
  const data::ReadContext context{pool, log, {}};
  data::Reading reading{options, context, data::ByteBudget(options.max_bytes)};
  data::looks_like_gin({reinterpret_cast<const char*>(data + 1), size - 1});
  try {
    data::assemble(data::parse_gin(io::ByteSource::memory({data + 1, size - 1}, "input"), reading),
                   options, context);
  } catch (const base::Error&) {
  }
  return 0;
}
