// Lists of edges and OGB's tables: the first byte selects the options, the rest is the text, plain
// or gzip-compressed.
#include "data/edge_list.h"
#include "data/ogb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg;
  if (size == 0) return 0;
  static base::ThreadPool pool(1);
  base::Log log(16);
  data::OpenOptions options;
  options.max_bytes = 1 << 26;
  options.relabel = data[0] & 1;
  options.undirected = data[0] >> 1 & 1;
  options.header = (data[0] >> 2 & 3) - 1;
  if (data[0] & 16) options.separator = ";";
  if (data[0] & 32) options.source_column = 2;
  if ((data[0] & 64) && !options.relabel) options.num_nodes = 100;
  const data::ReadContext context{pool, log, {}};
  data::Reading reading{options, context, data::ByteBudget(options.max_bytes)};
  const auto source = [&] { return io::ByteSource::memory({data + 1, size - 1}, "input"); };
  try {
    if (data[0] & 128)
      data::parse_table(source(), reading);
    else
      data::assemble(data::parse_edges(source(), reading), options, context);
  } catch (const base::Error&) {
  }
  return 0;
}
