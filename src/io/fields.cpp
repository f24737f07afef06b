#include "io/fields.h"

#include <algorithm>

namespace gnnmg::io {
namespace {

constexpr std::string_view kFieldBlanks = " \t";

bool separates(char c, char separator) { return c == separator || (separator == ' ' && c == '\t'); }

}  // namespace

std::string_view trim_blanks(std::string_view text) noexcept {
  const size_t begin = text.find_first_not_of(kFieldBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kFieldBlanks) - begin + 1);
}

std::string_view FieldCutter::unescape(std::string_view inner, Escape escape) {
  const char mark = escape == Escape::kDoubled ? '"' : '\\';
  if (inner.find(mark) == inner.npos) return inner;
  std::string& text = unescaped_.emplace_back();
  for (size_t at = 0; at < inner.size(); ++at) {
    const bool escapes = inner[at] == mark && at + 1 < inner.size() &&
                         (inner[at + 1] == '"' || inner[at + 1] == mark);
    text += inner[at + escapes];
    at += escapes;
  }
  return text;
}

// The quote that ends a field that begins with one; npos where there is none.
size_t FieldCutter::closing_quote(std::string_view field, Escape escape) {
  if (escape == Escape::kDoubled) {
    size_t quote = field.find('"', 1);
    while (quote != field.npos && quote + 1 < field.size() && field[quote + 1] == '"')
      quote = field.find('"', quote + 2);
    return quote;
  }
  size_t at = field.find_first_of("\\\"", 1);
  while (at != field.npos && field[at] == '\\') at = field.find_first_of("\\\"", at + 2);
  return at;
}

FieldCutter::Closing FieldCutter::take_quoted(std::string_view rest, char separator, Escape escape,
                                              size_t& end) {
  const size_t quote = closing_quote(rest, escape);
  if (quote == rest.npos) return Closing::kNone;
  end = quote + 1;
  while (end < rest.size() && kFieldBlanks.find(rest[end]) != kFieldBlanks.npos &&
         !separates(rest[end], separator))
    ++end;
  if (end < rest.size() && !separates(rest[end], separator)) return Closing::kInText;
  fields_.push_back(unescape(rest.substr(1, quote - 1), escape));
  return Closing::kAtEnd;
}

// RFC 4180 has two quotes for one; Spark, MySQL and Neo4j write a backslash before it.
FieldCutter::Closing FieldCutter::take_quoted(std::string_view rest, char separator, size_t& end) {
  const Closing doubled = take_quoted(rest, separator, Escape::kDoubled, end);
  if (doubled == Closing::kAtEnd || rest.find("\\\"") == rest.npos) return doubled;
  return take_quoted(rest, separator, Escape::kBackslash, end) == Closing::kAtEnd ? Closing::kAtEnd
                                                                                  : doubled;
}

FieldCutter::Result FieldCutter::cut(std::string_view line, char separator) {
  fields_.clear();
  if (line.find('"') == line.npos) return cut_plain(line, separator);
  unescaped_.clear();
  return cut_quoted(line, separator);
}

FieldCutter::Result FieldCutter::cut_plain(std::string_view line, char separator) {
  if (separator == ' ') {
    for (size_t begin = 0; (begin = line.find_first_not_of(kFieldBlanks, begin)) != line.npos;) {
      if (fields_.size() == most_) return Result::kTooMany;
      const size_t end = std::min(line.find_first_of(kFieldBlanks, begin), line.size());
      fields_.push_back(line.substr(begin, end - begin));
      begin = end;
    }
    return Result::kWhole;
  }
  for (size_t begin = 0;;) {
    if (fields_.size() == most_) return Result::kTooMany;
    const size_t end = line.find(separator, begin);
    fields_.push_back(trim_blanks(line.substr(begin, end - begin)));
    if (end == line.npos) return Result::kWhole;
    begin = end + 1;
  }
}

FieldCutter::Result FieldCutter::cut_quoted(std::string_view line, char separator) {
  const bool blanks = separator == ' ';
  if (blanks) line = trim_blanks(line);
  if (blanks && line.empty()) return Result::kWhole;
  for (;;) {
    if (fields_.size() == most_) return Result::kTooMany;
    // A tab that separates fields is not a blank before a field.
    const size_t first =
        blanks ? line.find_first_not_of(kFieldBlanks) : line.find_first_not_of(' ');
    size_t end = 0;
    const Closing closing = first != line.npos && line[first] == '"'
                                ? take_quoted(line.substr(first), separator, end)
                                : Closing::kInText;
    if (closing == Closing::kNone) return Result::kOpenQuote;
    if (closing == Closing::kAtEnd) {
      end += first;
    } else {
      end = blanks ? line.find_first_of(kFieldBlanks) : line.find(separator);
      end = std::min(end, line.size());
      fields_.push_back(trim_blanks(line.substr(0, end)));
    }
    if (end == line.size()) return Result::kWhole;
    line.remove_prefix(end + 1);
    if (blanks) line = trim_blanks(line);
  }
}

}  // namespace gnnmg::io
