// Fields of one line of a text table, including quoted ones, by RFC 4180.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::io {

// `text` without blanks and tabs at both ends.
std::string_view trim_blanks(std::string_view text) noexcept;

class FieldCutter {
 public:
  enum class Result {
    kWhole,
    kOpenQuote,  // a quoted field continues on the next line
    kTooMany     // more than most_fields; the rest of the line was not read
  };
  explicit FieldCutter(size_t most_fields) : most_(most_fields) {}
  // Cuts a line at `separator`; ' ' means any run of blanks and tabs. Blanks around a field are
  // dropped. A field that begins with '"' ends at the next quote, may contain separators, and
  // writes a quote as '""'; quotes elsewhere are text.
  Result cut(std::string_view line, char separator);
  // Fields of the last cut. They are valid until the next cut and as long as the line.
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  Result cut_plain(std::string_view line, char separator);
  Result cut_quoted(std::string_view line, char separator);
  // The end of the quoted field that begins `rest`, after its quote and the blanks after that; npos
  // if there is none. False if anything but a separator follows.
  bool take_quoted(std::string_view rest, char separator, size_t& end);
  std::string_view unescape(std::string_view inner);

  const size_t most_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields that had '""'
};

}  // namespace gnnmg::io
