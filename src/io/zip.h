// A strict reader of zip archives in the form of .npz and .pth files: stored or deflated entries,
// zip64. Reads through base::File or from memory, and inflates piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gnnmg::io {

// A field with this value has its real value in the zip64 extra field with the number kZip64Field.
inline constexpr uint32_t kSaturated32 = 0xffffffff;
inline constexpr uint16_t kSaturated16 = 0xffff;
inline constexpr uint16_t kZip64Field = 1;

struct ZipEntry {
  std::string name;
  int64_t compressed_size = 0;
  int64_t size = 0;
  int64_t data_offset = 0;  // offset of the compressed bytes in the archive
  uint32_t crc = 0;
  bool deflated = false;
};

// End record, central directory and local headers must agree. Error(kFormat) naming archive and
// entry for encryption, absolute or ".." names, duplicates, overlaps, bytes that belong to no
// entry, methods other than stored and deflate, and an entry that claims to inflate more than
// 1100-fold. Sizes come from the central directory (a local header with a data descriptor may have
// zeros). Reading is const, and several threads may read at once.
class ZipReader {
 public:
  // `bytes` must outlive the reader.
  ZipReader(std::span<const uint8_t> bytes, std::string name, bool check_crc = true);
  // Keeps the file open and reads on demand; nothing is mapped.
  static ZipReader open(const std::string& path, bool check_crc = true);

  const std::vector<ZipEntry>& entries() const { return entries_; }  // order of the directory
  const ZipEntry* find(std::string_view name) const;                 // null when absent
  // The inflated or stored bytes. Real size and CRC (if checked) must equal the declared ones:
  // kFormat, kChecksum.
  std::vector<uint8_t> read(const ZipEntry& entry) const;
  // The first bytes of an entry, at most `count`, without a CRC check.
  std::vector<uint8_t> read_start(const ZipEntry& entry, int64_t count) const;
  // The bytes of a stored entry in an archive in memory, as a view; kUnsupported for other entries.
  std::span<const uint8_t> stored(const ZipEntry& entry) const;
  const std::string& name() const { return name_; }
  int64_t num_bytes() const { return file_ ? file_->size() : static_cast<int64_t>(bytes_.size()); }

 private:
  friend class ZipStream;
  ZipReader(std::shared_ptr<const base::File> file, bool check_crc);
  // Begin of an entry's header and end of its data; a descriptor may follow.
  struct Range {
    int64_t begin, end;
    bool descriptor;
    size_t entry;
  };
  void read_directory();
  // Checks that the entries follow each other without gaps from byte 0 to the directory.
  void check_cover(std::vector<Range> ranges, int64_t directory) const;
  bool is_descriptor(const ZipEntry& entry, int64_t begin, int64_t end) const;
  void read_local_header(ZipEntry& entry, int64_t header_offset, uint16_t flags);
  void fetch(int64_t offset, std::span<uint8_t> out) const;

  std::span<const uint8_t> bytes_;
  std::shared_ptr<const base::File> file_;  // null: the archive is in memory
  std::string name_;
  bool check_crc_;
  std::vector<ZipEntry> entries_;
  std::vector<uint32_t> by_name_;
};

// Reads one entry from front to back. Archive and entry must outlive it; one thread at a time.
class ZipStream {
 public:
  ZipStream(const ZipReader& archive, const ZipEntry& entry);
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;
  // Fills `out`; kFormat if the entry ends earlier.
  void read(std::span<uint8_t> out);
  // Call after the whole entry has been read: nothing may follow, and the CRC must match.
  void finish();

 private:
  struct Inflater;
  size_t inflate_some(std::span<uint8_t> out);  // returns the number of bytes
  [[noreturn]] void refuse(std::string_view what) const;

  const ZipReader& archive_;
  const ZipEntry& entry_;
  std::unique_ptr<Inflater> inflater_;  // null for a stored entry
  int64_t taken_ = 0;                   // compressed bytes fetched so far
  int64_t given_ = 0;                   // inflated bytes returned so far
  uint32_t crc_ = 0;
};

}  // namespace gnnmg::io
