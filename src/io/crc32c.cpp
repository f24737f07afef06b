#include "io/crc32c.h"

#include <array>
#include <cstring>

namespace gnnmg::io {
namespace {

// Castagnoli's polynomial, reflected.
constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = make_crc_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(std::span<const uint8_t> bytes,
                                                                 uint32_t before) noexcept {
  uint64_t crc = ~before;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  for (; at < bytes.size(); ++at)
    crc = __builtin_ia32_crc32qi(static_cast<uint32_t>(crc), bytes[at]);
  return ~static_cast<uint32_t>(crc);
}
#endif

}  // namespace

uint32_t crc32c_by_table(std::span<const uint8_t> bytes, uint32_t before) noexcept {
  uint32_t crc = ~before;
  for (const uint8_t byte : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ byte) & 0xFF];
  return ~crc;
}

uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t before) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return crc32c_by_instruction(bytes, before);
#endif
  return crc32c_by_table(bytes, before);
}

}  // namespace gnnmg::io
