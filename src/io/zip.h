// A strict reader and a small writer of zip archives, as .npz and .pth files use them: stored or
// deflated entries, zip64.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gnnmg::io {

struct ZipEntry {
  std::string name;
  int64_t compressed_size = 0;
  int64_t size = 0;
  int64_t data_offset = 0;  // of the compressed bytes in the archive
  uint32_t crc = 0;
  bool deflated = false;
};

// End record, central directory and local headers must agree; encryption, absolute or ".." names,
// duplicates, overlaps and other methods than stored and deflate are Error(kFormat) naming archive
// and entry. Sizes come from the central directory (a local header with a data descriptor may hold
// zeros).
class ZipReader {
 public:
  // `bytes` must outlive the reader.
  ZipReader(std::span<const uint8_t> bytes, std::string name, bool check_crc = true);
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;  // null when absent
  // The inflated bytes; stored entries too. Real size and CRC (if checked) must be the declared
  // ones; an entry that claims to inflate more than 1100-fold is refused before anything is
  // allocated.
  std::vector<uint8_t> read(const ZipEntry& entry) const;
  // The first bytes of an entry, at most `count`, without a CRC check.
  std::vector<uint8_t> read_start(const ZipEntry& entry, int64_t count) const;
  // The bytes of a stored entry as they lie in the archive.
  std::span<const uint8_t> stored(const ZipEntry& entry) const;
  const std::string& name() const { return name_; }

 private:
  std::span<const uint8_t> bytes_;
  std::string name_;
  bool check_crc_;
  std::vector<ZipEntry> entries_;
};

// Writes stored entries, each aligned to 64 bytes, with correct CRCs; zip64 where needed.
class ZipWriter {
 public:
  explicit ZipWriter(base::AtomicFile& file) : file_(file) {}
  void add(std::string_view name, std::span<const uint8_t> bytes);
  void finish();  // central directory; the caller commits the file

 private:
  struct Record {
    std::string name;
    int64_t offset, size;
    uint32_t crc;
  };
  base::AtomicFile& file_;
  int64_t position_ = 0;
  std::vector<Record> records_;
};

}  // namespace gnnmg::io
