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
