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
// The instruction takes three cycles and a new one can begin in each, so that three lanes side by
// side take no longer than one.
constexpr size_t kLane = 1024;  // bytes

// The checksum register after kLane bytes of zeros, of each bit of the register before.
constexpr std::array<uint32_t, 32> make_bits_after_lane() {
  std::array<uint32_t, 32> bits{};
  for (int bit = 0; bit < 32; ++bit) {
    bits[bit] = uint32_t{1} << bit;
    for (size_t byte = 0; byte < kLane; ++byte)
      bits[bit] = bits[bit] >> 8 ^ kCrcTable[bits[bit] & 0xFF];
  }
  return bits;
}

// The same of each value of each byte of the register; that of the register is their sum.
constexpr std::array<std::array<uint32_t, 256>, 4> make_bytes_after_lane() {
  const std::array<uint32_t, 32> bits = make_bits_after_lane();
  std::array<std::array<uint32_t, 256>, 4> bytes{};
  for (int byte = 0; byte < 4; ++byte)
    for (int value = 0; value < 256; ++value)
      for (int bit = 0; bit < 8; ++bit)
        if (value >> bit & 1) bytes[byte][value] ^= bits[8 * byte + bit];
  return bytes;
}
constexpr std::array<std::array<uint32_t, 256>, 4> kAfterLane = make_bytes_after_lane();

uint32_t after_lane(uint32_t crc) noexcept {
  return kAfterLane[0][crc & 0xFF] ^ kAfterLane[1][crc >> 8 & 0xFF] ^
         kAfterLane[2][crc >> 16 & 0xFF] ^ kAfterLane[3][crc >> 24];
}

uint64_t word_at(const uint8_t* bytes) noexcept {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(std::span<const uint8_t> bytes,
                                                                 uint32_t before) noexcept {
  uint64_t crc = ~before;
  const uint8_t* at = bytes.data();
  const uint8_t* const end = at + bytes.size();
  for (; end - at >= static_cast<ptrdiff_t>(3 * kLane); at += 3 * kLane) {
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      crc = __builtin_ia32_crc32di(crc, word_at(at + i));
      second = __builtin_ia32_crc32di(second, word_at(at + kLane + i));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * kLane + i));
    }
    crc = after_lane(static_cast<uint32_t>(crc)) ^ second;
    crc = after_lane(static_cast<uint32_t>(crc)) ^ third;
  }
  for (; end - at >= 8; at += 8) crc = __builtin_ia32_crc32di(crc, word_at(at));
  for (; at < end; ++at) crc = __builtin_ia32_crc32qi(static_cast<uint32_t>(crc), *at);
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
