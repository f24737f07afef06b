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

}  // namespace gnnmg::io
