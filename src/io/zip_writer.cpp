#include "io/zip_writer.h"

#include <zlib.h>

#include <algorithm>

#include "io/bytes.h"
#include "io/zip.h"

namespace gnnmg::io {
namespace {

constexpr int64_t kAlignment = 64;
// The registered extra field for alignment: an alignment, then padding zeros.
constexpr uint16_t kAlignmentField = 0xd935;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kFirstOfJanuary1980 = 0x21;  // the format's earliest date

uint16_t version_needed(bool wide) { return wide ? 45 : 20; }

uint16_t name_flags(std::string_view name) {
  const bool ascii =
      std::all_of(name.begin(), name.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  return ascii ? 0 : kUtf8Names;
}

// Appends the common fields of local header and directory, from the flags to the name's length.
void append_common(std::string& out, std::string_view name, uint32_t crc, int64_t size, bool wide) {
  append_little<uint16_t>(out, name_flags(name));
  append_little<uint16_t>(out, 0);  // stored
  append_little<uint16_t>(out, 0);  // midnight
  append_little<uint16_t>(out, kFirstOfJanuary1980);
  append_little<uint32_t>(out, crc);
  append_little<uint32_t>(out, wide ? kSaturated32 : static_cast<uint32_t>(size));
  append_little<uint32_t>(out, wide ? kSaturated32 : static_cast<uint32_t>(size));
  append_little<uint16_t>(out, static_cast<uint16_t>(name.size()));
}

}  // namespace

void ZipWriter::write(std::span<const uint8_t> bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(std::string_view name, std::span<const uint8_t> bytes) {
  if (name.size() > 4096)
    base::fail(base::Status::kInvalidArgument, "zip entry name of ", name.size(),
               " bytes, at most 4096 are supported");
  base::check_relative_name(name, "zip entry");
  Record record{std::string(name), position_, static_cast<int64_t>(bytes.size()),
                static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()))};
  const bool wide = record.size >= zip64_from_;
  std::string extra;
  if (wide) {
    append_little<uint16_t>(extra, kZip64Field);
    append_little<uint16_t>(extra, 16);
    append_little<int64_t>(extra, record.size);
    append_little<int64_t>(extra, record.size);
  }
  const int64_t before_padding = position_ + 30 + name.size() + extra.size() + 6;
  const auto padding =
      static_cast<uint16_t>((kAlignment - before_padding % kAlignment) % kAlignment);
  append_little<uint16_t>(extra, kAlignmentField);
  append_little<uint16_t>(extra, 2 + padding);
  append_little<uint16_t>(extra, kAlignment);
  extra.append(padding, '\0');

  std::string header;
  append_little<uint32_t>(header, 0x04034b50);
  append_little<uint16_t>(header, version_needed(wide));
  append_common(header, name, record.crc, record.size, wide);
  append_little<uint16_t>(header, static_cast<uint16_t>(extra.size()));
  header += name;
  header += extra;
  write(as_bytes(header));
  write(bytes);
  records_.push_back(std::move(record));
}

void ZipWriter::finish() {
  const int64_t directory = position_;
  for (const Record& record : records_) {
    const bool wide_size = record.size >= zip64_from_;
    const bool wide_offset = record.offset >= zip64_from_;
    std::string extra;
    if (wide_size || wide_offset) {
      append_little<uint16_t>(extra, kZip64Field);
      append_little<uint16_t>(extra, wide_size && wide_offset ? 24 : wide_size ? 16 : 8);
      if (wide_size) {
        append_little<int64_t>(extra, record.size);
        append_little<int64_t>(extra, record.size);
      }
      if (wide_offset) append_little<int64_t>(extra, record.offset);
    }
    std::string header;
    append_little<uint32_t>(header, 0x02014b50);
    append_little<uint16_t>(header, version_needed(wide_size || wide_offset));  // made by
    append_little<uint16_t>(header, version_needed(wide_size || wide_offset));
    append_common(header, record.name, record.crc, record.size, wide_size);
    append_little<uint16_t>(header, static_cast<uint16_t>(extra.size()));
    append_little<uint16_t>(header, 0);  // comment
    append_little<uint16_t>(header, 0);  // disk
    append_little<uint16_t>(header, 0);  // internal attributes
    append_little<uint32_t>(header, 0);  // external attributes
    append_little<uint32_t>(header,
                            wide_offset ? kSaturated32 : static_cast<uint32_t>(record.offset));
    header += record.name;
    header += extra;
    write(as_bytes(header));
  }

  const int64_t end = position_;
  const auto count = static_cast<int64_t>(records_.size());
  const bool wide_count = count >= std::min<int64_t>(zip64_from_, kSaturated16);
  const bool wide_size = end - directory >= zip64_from_;
  const bool wide_offset = directory >= zip64_from_;
  std::string out;
  if (wide_count || wide_size || wide_offset) {
    append_little<uint32_t>(out, 0x06064b50);
    append_little<int64_t>(out, 44);  // remaining bytes of the record
    append_little<uint16_t>(out, 45);
    append_little<uint16_t>(out, 45);
    append_little<uint32_t>(out, 0);
    append_little<uint32_t>(out, 0);
    append_little<int64_t>(out, count);
    append_little<int64_t>(out, count);
    append_little<int64_t>(out, end - directory);
    append_little<int64_t>(out, directory);
    append_little<uint32_t>(out, 0x07064b50);
    append_little<uint32_t>(out, 0);
    append_little<int64_t>(out, end);
    append_little<uint32_t>(out, 1);
  }
  append_little<uint32_t>(out, 0x06054b50);
  append_little<uint16_t>(out, 0);
  append_little<uint16_t>(out, 0);
  append_little<uint16_t>(out, wide_count ? kSaturated16 : static_cast<uint16_t>(count));
  append_little<uint16_t>(out, wide_count ? kSaturated16 : static_cast<uint16_t>(count));
  append_little<uint32_t>(out, wide_size ? kSaturated32 : static_cast<uint32_t>(end - directory));
  append_little<uint32_t>(out, wide_offset ? kSaturated32 : static_cast<uint32_t>(directory));
  append_little<uint16_t>(out, 0);  // comment
  write(as_bytes(out));
}

}  // namespace gnnmg::io
