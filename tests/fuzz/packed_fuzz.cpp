// Many graphs in one .npz. The archive is made here, because checksums would reject nearly every
// change: a byte of options and one for the set of arrays, then for each array three bytes, its
// type, its columns and its length, and the data.
#include <algorithm>
#include <iterator>

#include "data/packed.h"
#include "fuzz/stored_zip.h"

namespace {

std::string described(uint8_t present, std::span<const uint8_t> input) {
  using gnnmg::base::DType;
  constexpr const char* kKeys[] = {"node_ptr",  "edge_ptr", "edges",          "node_feat",
                                   "edge_feat", "labels",   "split_scaffold", "split_other"};
  constexpr DType kTypes[] = {DType::kI64, DType::kI32, DType::kU8,
                              DType::kF32, DType::kF64, DType::kBool};
  std::vector<std::pair<std::string, std::string>> records;
  for (size_t k = 0; k < std::size(kKeys) && input.size() >= 3; ++k) {
    if (!(present >> k & 1)) continue;
    const DType type = kTypes[input[0] % std::size(kTypes)];
    const int64_t columns = input[1] % 4, item = gnnmg::base::dtype_size(type);
    const int64_t row = item * std::max<int64_t>(columns, 1);
    const int64_t rows = std::min<int64_t>(input[2], static_cast<int64_t>(input.size() - 3) / row);
    std::string npy = columns == 0 ? gnnmg::io::npy_header(type, {rows})
                                   : gnnmg::io::npy_header(type, {rows, columns});
    npy += gnnmg::io::as_text(input.subspan(3, rows * row));
    input = input.subspan(3 + rows * row);
    records.emplace_back(std::string(kKeys[k]) + ".npy", npy);
  }
  return gnnmg::fuzz::stored_zip(records);
}

}  // namespace

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
  const std::string archive = described(data[1], {data + 2, size - 2});
  try {
    const io::Npz npz = io::Npz::parse(io::as_bytes(archive), "input");
    data::assemble(data::parse_packed(npz, reading), options, context);
  } catch (const base::Error&) {
  }
  return 0;
}
