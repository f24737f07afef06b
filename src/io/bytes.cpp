#include "io/bytes.h"

#include <algorithm>
#include <array>

namespace gnnmg::io {

namespace {

// The first character of a text; one byte where that is no UTF-8.
struct Character {
  std::string_view bytes;
  uint32_t code;
  bool is_utf8;
};

Character first_character(std::string_view text) noexcept {
  const auto lead = static_cast<uint8_t>(text[0]);
  const Character wrong{text.substr(0, 1), lead, false};
  if (lead < 0x80) return {text.substr(0, 1), lead, true};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return wrong;
  uint32_t code = lead & (0x7f >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return wrong;
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return wrong;
  return {text.substr(0, size), code, true};
}

struct CodeRange {
  uint32_t first, last;
};

// Controls, and marks that break lines or change direction.
constexpr CodeRange kControls[] = {{0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
// Other characters that do not show: blanks other than ASCII's, fillers, marks of width 0.
constexpr CodeRange kUnseen[] = {
    {0xa0, 0xa0},     {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x1680, 0x1680}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
    {0x2000, 0x200f}, {0x202f, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000},
    {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0x1d173, 0x1d17a}};
// Codes without a character that every program shows: private ones, tags, specials.
constexpr CodeRange kUnassigned[] = {
    {0xe000, 0xf8ff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};

bool is_among(uint32_t code, std::span<const CodeRange> ranges) {
  return std::ranges::any_of(
      ranges, [code](const CodeRange& range) { return range.first <= code && code <= range.last; });
}

bool is_invisible(uint32_t code) { return is_among(code, kControls) || is_among(code, kUnseen); }

// Appends a character, or its bytes as \xNN.
void append_character(std::string& out, const Character& character, bool shows) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (shows && character.is_utf8) {
    out += character.bytes;
    return;
  }
  for (const char c : character.bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
  }
}

}  // namespace

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (; !text.empty(); --limit) {
    if (limit == 0) return out + "...";
    const Character next = first_character(text);
    append_character(out, next, !is_invisible(next.code) && !is_among(next.code, kUnassigned));
    text.remove_prefix(next.bytes.size());
  }
  return out;
}

bool has_invisible_end(std::string_view text) {
  if (text.empty()) return false;
  size_t last = text.size() - 1;
  while (last > 0 && (text[last] & 0xc0) == 0x80) --last;
  return std::ranges::any_of(std::array{text, text.substr(last)}, [](std::string_view end) {
    const Character character = first_character(end);
    return character.is_utf8 && (character.code == ' ' || is_invisible(character.code));
  });
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    append_character(out, next, !is_among(next.code, kControls));
    text.remove_prefix(next.bytes.size());
  }
  return out;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 63));
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const Character next = first_character(text);
    if (!next.is_utf8) return false;
    text.remove_prefix(next.bytes.size());
  }
  return true;
}

}  // namespace gnnmg::io
