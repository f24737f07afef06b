// CRC-32C (Castagnoli), for iSCSI, TensorBoard's event files and messages between processes.
#pragma once

#include <cstdint>
#include <span>

namespace gnnmg::io {

// The checksum of `bytes`. For bytes that arrive piece by piece, `before` is the checksum of the
// earlier ones. Uses the CPU's instruction if it has one: up to 8 bytes a cycle.
uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t before = 0) noexcept;

// crc32c() by a table, for CPUs without the instruction: one byte at a time.
uint32_t crc32c_by_table(std::span<const uint8_t> bytes, uint32_t before = 0) noexcept;

}  // namespace gnnmg::io
