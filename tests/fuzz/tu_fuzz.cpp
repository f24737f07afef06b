// The tables of TU's sets in a row: a byte of options and one for the set of tables besides the
// first two, then each table after two bytes with its length.
#include <algorithm>

#include "data/tu.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg;
  if (size < 2) return 0;
  static base::ThreadPool pool(1);
  base::Log log(16);
  data::OpenOptions options;
  options.max_bytes = 1 << 26;
  options.degree_features = data[0] % 3 - 1;
  options.undirected = data[0] >> 2 & 1;
  const data::ReadContext context{pool, log, {}};
  data::Reading reading{options, context, data::ByteBudget(options.max_bytes)};
  const uint8_t present = data[1] | 3;
  std::span<const uint8_t> rest(data + 2, size - 2);
  data::TuSources sources;
  for (int part = 0; part < data::kNumTuParts; ++part) {
    if (!(present >> part & 1)) continue;
    const size_t wanted = rest.size() < 2 ? 0 : rest[0] | rest[1] << 8;
    rest = rest.subspan(std::min<size_t>(rest.size(), 2));
    const size_t length = std::min(wanted, rest.size());
    sources[part] = io::ByteSource::memory(rest.first(length), data::kTuEndings[part]);
    rest = rest.subspan(length);
  }
  try {
    data::assemble(data::parse_tu(std::move(sources), reading), options, context);
  } catch (const base::Error&) {
  }
  return 0;
}
