// Planetoid's seven files in a row, each after two bytes with its length.
#include <algorithm>
#include <array>

#include "data/planetoid.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg;
  static base::ThreadPool pool(1);
  base::Log log(16);
  std::span<const uint8_t> rest(data, size);
  std::array<std::span<const uint8_t>, 7> files;
  for (auto& file : files) {
    if (rest.size() < 2) break;
    const size_t length = std::min<size_t>(rest[0] | rest[1] << 8, rest.size() - 2);
    file = rest.subspan(2, length);
    rest = rest.subspan(2 + length);
  }
  try {
    const data::OpenOptions options;
    data::Found found = data::parse_planetoid(
        {files[0], files[1], files[2], files[3], files[4], files[5], files[6]}, "ind.input",
        options, log);
    data::assemble(std::move(found), options, {pool, log, {}});
  } catch (const base::Error&) {
  }
  return 0;
}
