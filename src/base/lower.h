// Lower case of ASCII's letters; the C library's functions depend on the host's locale.
#pragma once

#include <string>
#include <string_view>

namespace gnnmg::base {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

}  // namespace gnnmg::base
