// The two texts of a Geom-GCN set: two bytes with the length of the first, the first, and the
// second.
#include <algorithm>

#include "data/geom_gcn.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg;
  if (size < 2) return 0;
  static base::ThreadPool pool(1);
  base::Log log(16);
  data::OpenOptions options;
  options.max_bytes = 1 << 26;
  const data::ReadContext context{pool, log, {}};
  data::Reading reading{options, context, data::ByteBudget(options.max_bytes)};
  const std::span<const uint8_t> texts(data + 2, size - 2);
  const size_t length = std::min<size_t>(data[0] | data[1] << 8, texts.size());
  try {
    data::assemble(
        data::parse_geom_gcn(io::ByteSource::memory(texts.first(length), "nodes"),
                             io::ByteSource::memory(texts.subspan(length), "edges"), reading),
        options, context);
  } catch (const base::Error&) {
  }
  return 0;
}
