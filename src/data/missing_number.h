// The words of programs for a missing number in a table.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gnnmg::data {

// Pandas' words, with which OGB reads and writes its tables, and \N of data bases.
inline bool is_missing_number(std::string_view field) {
  constexpr std::string_view kWords[] = {
      "",     "nan",      "NaN", "-nan", "-NaN", "NA",  "<NA>",   "N/A",     "n/a",     "#N/A",
      "None", "#N/A N/A", "#NA", "NULL", "null", "\\N", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"};
  return std::ranges::find(kWords, field) != std::end(kWords);
}

}  // namespace gnnmg::data
