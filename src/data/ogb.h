// OGB's tables of numbers, apart from the folder they lie in, so that they can be fuzzed.
#pragma once

#include <memory>

#include "data/numbers.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

struct Table {
  int64_t rows = 0, columns = 0;
  NumberColumn values;    // row by row
  std::string too_large;  // place of the first integer that is not exact in 64 bits; or empty
};

// Comma-separated numbers without a header, in quotes or not; an empty field, "nan" and the other
// words that pandas takes for a missing number are NaN. Blank lines are passed over, but where a
// table of one column is to have `rows` and lacks some, they are missing numbers. Error(kFormat)
// naming file and line for anything else and for rows of unequal length, Error(kRange) for a number
// that is no finite 32-bit float.
Table parse_table(std::unique_ptr<io::ByteSource> source, Reading& reading, int64_t rows = -1);

}  // namespace gnnmg::data
