// Lines that hold an edge in plain numbers, parsed by all threads. A block of lines with anything
// else in it is left to the reader that goes line by line, so that its errors and warnings are the
// same.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "data/lines.h"

namespace gnnmg::data {

// A field that has been read.
struct Number {
  bool whole = false;  // an integer of 64 bits in decimal
  bool has_point = false;
  int64_t integer = 0;
  double real = 0;  // the same, rounded, where it is `whole`
};

// The lines that are plain.
struct NumberShape {
  char separator = ' ';  // ' ': any run of blanks and tabs
  size_t columns = 2;
  size_t source = 0, target = 1;
  int64_t least = 0;  // ends are at least this, and are numbered from it
  int64_t most = std::numeric_limits<int32_t>::max();
  bool wide = false;  // ends have 64 bits
  bool zeros = true;  // ends may have zeros in front
  struct Value {
    size_t column;
    bool reals;  // else only integers are plain
  };
  std::vector<Value> values = {};  // further columns with numbers
};

// A block of plain lines, each of which is an edge.
struct NumberBlock {
  std::string_view text;
  bool plain = false;
  int64_t lines = 0;
  int64_t returns = 0;                                   // CRs before the ends of lines
  base::PageVector<int32_t> sources, targets;            // counted from `least`; empty if `wide`
  base::PageVector<int64_t> wide_sources, wide_targets;  // the same if `wide`
  int64_t smallest = 0, largest = 0;
  int64_t largest_line = 0;          // the first with the largest end, counted from 0
  base::PageVector<Number> numbers;  // [lines, values]
};

// Hands over blocks of the lines that follow, in their order, until one is not plain or `take`
// returns false, and goes on beyond those that were taken. Returns the number of lines that should
// be read one by one before the next call.
class NumberLines {
 public:
  NumberLines(CountedLines& lines, Reading& reading) : lines_(lines), reading_(reading) {}
  int64_t take(const NumberShape& shape, const std::function<bool(const NumberBlock&)>& take);

 private:
  size_t cut(std::string_view text);

  CountedLines& lines_;
  Reading& reading_;
  std::vector<NumberBlock> blocks_;
};

}  // namespace gnnmg::data
