// Little- and big-endian integers in byte buffers, for the binary formats of this room.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace gnnmg::io {

static_assert(std::endian::native == std::endian::little,
              "the file formats are read and written on little-endian machines");

// Reads the little-endian integer at `at`; the caller has checked that it is inside `bytes`.
template <typename T>
T load_little(std::span<const uint8_t> bytes, size_t at) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename T>
void append_little(std::string& out, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

inline std::span<const uint8_t> as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(std::span<const uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// `text` as a name in an error, as by one_line(), but all other characters that do not show, except
// ASCII's blank, become \xNN too. Characters beyond `limit` become "...".
std::string printable(std::string_view text, size_t limit = 80);
// True if the first or the last character is a blank, or one that printable() replaces. Codes
// without a character in Unicode, such as the private ones, show: names may have them.
bool has_invisible_end(std::string_view text);

// `text` as one line of UTF-8: bytes that are not UTF-8, terminal controls, line breaks and changes
// of direction become \xNN, byte by byte.
std::string one_line(std::string_view text);
// Appends a character, at most 0x10ffff, as UTF-8.
void append_utf8(std::string& out, uint32_t code);
// True for UTF-8 without surplus or missing continuation bytes, overlong forms and surrogates.
bool is_utf8(std::string_view text) noexcept;

}  // namespace gnnmg::io
