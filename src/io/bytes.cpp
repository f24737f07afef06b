#include "io/bytes.h"

namespace gnnmg::io {

std::string printable(std::string_view text, size_t limit) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return text.size() > limit ? out + "..." : out;
}

namespace {

// Control characters of two and three bytes, and marks that break lines or change direction.
bool is_control(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

}  // namespace

std::string one_line(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto lead = static_cast<uint8_t>(text[0]);
    const size_t size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const std::string_view character = text.substr(0, size);
    if (is_utf8(character) && !is_control(character)) {
      out += character;
      text.remove_prefix(character.size());
    } else {
      out.append({'\\', 'x', kDigits[lead >> 4], kDigits[lead & 15]});
      text.remove_prefix(1);
    }
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
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<uint8_t>(text[at++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - at < static_cast<size_t>(more)) return false;
    uint32_t code = lead & (0x3f >> more);
    for (int i = 0; i < more; ++i) {
      const auto next = static_cast<uint8_t>(text[at++]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}

}  // namespace gnnmg::io
