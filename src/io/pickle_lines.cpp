#include "io/pickle_lines.h"

#include <charconv>
#include <cstdint>

#include "io/bytes.h"

namespace gnnmg::io {
namespace {

std::optional<uint32_t> hex_at(std::string_view text, size_t at, size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  uint32_t value = 0;
  const char* const end = text.data() + at + digits;
  const auto [stop, error] = std::from_chars(text.data() + at, end, value, 16);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

bool is_character(uint32_t value) {
  return value < 0xd800 || (value >= 0xe000 && value < 0x110000);
}

}  // namespace

std::optional<std::string> unquoted_bytes(std::string_view literal) {
  if (literal.size() < 2 || (literal[0] != '\'' && literal[0] != '"') ||
      literal.back() != literal[0])
    return std::nullopt;
  const std::string_view text = literal.substr(1, literal.size() - 2);
  constexpr std::string_view kEscapes = "\\'\"nrt", kMeanings = "\\'\"\n\r\t";
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      bytes += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    if (const size_t known = kEscapes.find(text[at]); known != kEscapes.npos) {
      bytes += kMeanings[known];
      continue;
    }
    const auto byte = text[at] == 'x' ? hex_at(text, at + 1, 2) : std::nullopt;
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
    at += 2;
  }
  return bytes;
}

std::optional<std::string> utf8_of_escaped(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (size_t at = 0; at < line.size(); ++at) {
    const bool escape = line[at] == '\\' && at + 1 < line.size();
    const size_t digits = !escape ? 0 : line[at + 1] == 'u' ? 4 : line[at + 1] == 'U' ? 8 : 0;
    if (digits == 0) {
      append_utf8(out, static_cast<uint8_t>(line[at]));
      continue;
    }
    const auto character = hex_at(line, at + 2, digits);
    if (!character || !is_character(*character)) return std::nullopt;
    append_utf8(out, *character);
    at += 1 + digits;
  }
  return out;
}

}  // namespace gnnmg::io
