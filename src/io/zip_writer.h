// Writes zip archives of stored entries that other programs can map: aligned data, with sizes and
// CRCs in the local headers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gnnmg::io {

// Each entry's data starts at a multiple of 64 bytes. Sizes and offsets from `zip64_from` on are
// written in 64-bit form. The caller commits the file after finish(); equal entries give equal
// bytes.
class ZipWriter {
 public:
  static constexpr int64_t kZip64From = 0xffffffff;
  explicit ZipWriter(base::AtomicFile& file, int64_t zip64_from = kZip64From)
      : file_(file), zip64_from_(zip64_from) {}
  // kInvalidArgument for a name that a reader would refuse.
  void add(std::string_view name, std::span<const uint8_t> bytes);
  void finish();  // writes the central directory

 private:
  struct Record {
    std::string name;
    int64_t offset = 0, size = 0;
    uint32_t crc = 0;
  };
  void write(std::span<const uint8_t> bytes);

  base::AtomicFile& file_;
  int64_t zip64_from_;
  int64_t position_ = 0;
  std::vector<Record> records_;
};

}  // namespace gnnmg::io
