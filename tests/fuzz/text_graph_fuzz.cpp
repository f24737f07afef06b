// Texts with one graph: the first byte selects the reader and its options, the rest is the text,
// plain or gzip-compressed. All functions that recognize texts read it too.
#include "data/edge_list.h"
#include "data/matrix_market.h"
#include "data/metis.h"
#include "io/foreign.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg;
  if (size == 0) return 0;
  static base::ThreadPool pool(1);
  base::Log log(16);
  data::OpenOptions options;
  options.max_bytes = 1 << 26;
  options.undirected = data[0] >> 2 & 1;
  options.relabel = data[0] >> 3 & 1;
  const data::ReadContext context{pool, log, {}};
  data::Reading reading{options, context, data::ByteBudget(options.max_bytes)};
  const auto source = [&] { return io::ByteSource::memory({data + 1, size - 1}, "input"); };
  io::foreign_kind({reinterpret_cast<const char*>(data + 1), size - 1});
  try {
    const auto parsed = [&] {
      switch (data[0] & 3) {
        case 0:
          return data::parse_matrix_market(source(), reading);
        case 1:
          return data::parse_metis(source(), reading);
        default:
          return data::parse_edges(source(), reading, data::shape_of_text(source(), reading));
      }
    };
    data::assemble(parsed(), options, context);
  } catch (const base::Error&) {
  }
  return 0;
}
