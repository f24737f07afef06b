// The lines of a text of a data set, counted as they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

class CountedLines {
 public:
  // `reading` must outlive it.
  CountedLines(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source)), reading_(reading) {}
  // As LineReader's. After each mebibyte, Error(kCancelled) when opening was called off, and that
  // of the budget when so much may not be read.
  bool next(std::string_view& line);
  int64_t bytes() const { return bytes_; }  // of the lines handed out
  int64_t line_number() const { return lines_.line_number(); }
  const std::string& name() const { return lines_.name(); }
  std::string where() const { return lines_.where(); }

 private:
  io::LineReader lines_;
  Reading& reading_;
  int64_t bytes_ = 0, taken_ = 0;
};

}  // namespace gnnmg::data
