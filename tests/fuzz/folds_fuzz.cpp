// Folds of a set of graphs as JSON: a byte with the number of graphs, then the text.
#include "data/folds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<gnnmg::data::Split> splits;
  try {
    gnnmg::data::parse_fair_splits({data + 1, size - 1}, "input", data[0], splits);
  } catch (const gnnmg::base::Error&) {
  }
  return 0;
}
