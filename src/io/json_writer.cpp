#include "io/json_writer.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "io/bytes.h"

namespace gnnmg::io {

JsonWriter& JsonWriter::key(std::string_view name) {
  next();
  quote(name);
  out_ += indent_ < 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  next();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(int64_t number) {
  next();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  next();
  if (!std::isfinite(number)) {
    out_ += "null";
    return *this;
  }
  char digits[32];
  const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const std::string_view text(digits, end - digits);
  out_ += text;
  if (text.find_first_of(".e") == text.npos) out_ += ".0";  // a floating-point number stays one
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  next();
  out_ += truth ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::begin(char bracket) {
  next();
  out_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  --depth_;
  if (!first_) break_line();
  out_ += bracket;
  first_ = false;
  return *this;
}

void JsonWriter::next() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) out_ += ',';
  if (depth_ > 0) break_line();
  first_ = false;
}

void JsonWriter::break_line() {
  if (indent_ < 0) return;
  out_ += '\n';
  out_.append(static_cast<size_t>(indent_) * static_cast<size_t>(depth_), ' ');
}

void JsonWriter::quote(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (!is_utf8(text))
    base::fail(base::Status::kInvalidArgument, "\"", printable(text), "\" is not UTF-8");
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\')
      out_.append({'\\', c});
    else if (c == '\n')
      out_ += "\\n";
    else if (byte < 0x20)
      out_.append({'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]});
    else
      out_ += c;
  }
  out_ += '"';
}

}  // namespace gnnmg::io
