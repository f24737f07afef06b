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
  // dropped. A field that begins with '"' ends at the next one, may hold separators, and has '""'
  // for a quote, or where it would not end so, \" as Spark writes it; quotes elsewhere are text.
  Result cut(std::string_view line, char separator);
  // Fields of the last cut. They are valid until the next cut and as long as the line.
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  Result cut_plain(std::string_view line, char separator);
  Result cut_quoted(std::string_view line, char separator);
  // The form of a quote in a quoted field.
  enum class Escape { kDoubled, kBackslash };
  // The place of the quote that ends a field.
  enum class Closing {
    kAtEnd,   // a separator or the end follows
    kInText,  // something else follows: quotes are text there
    kNone     // nowhere: the field goes on in the next line
  };
  // Takes the quoted field that begins `rest` if it ends properly; `end` is then after its quote
  // and the blanks after that.
  Closing take_quoted(std::string_view rest, char separator, size_t& end);
  Closing take_quoted(std::string_view rest, char separator, Escape escape, size_t& end);
  static size_t closing_quote(std::string_view field, Escape escape);
  std::string_view unescape(std::string_view inner, Escape escape);

  const size_t most_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields that had escaped quotes
};

}  // namespace gnnmg::io
