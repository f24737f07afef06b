#include "io/files.h"

#include <zlib.h>

#include <stdexcept>

#include "io/bytes.h"

namespace gnnmg::test {
namespace {

using io::append_little;

std::string compressed(std::string_view bytes, int window_bits) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace

std::string npy_with(std::string_view dict, std::string_view data, int version) {
  std::string text(dict);
  const size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  if (version == 1)
    append_little<uint16_t>(out, static_cast<uint16_t>(text.size()));
  else
    append_little<uint32_t>(out, static_cast<uint32_t>(text.size()));
  return out + text + std::string(data);
}

std::string npy(std::string_view descr, std::string_view shape, std::string_view data, bool fortran,
                int version) {
  const std::string dict = "{'descr': '" + std::string(descr) +
                           "', 'fortran_order': " + (fortran ? "True" : "False") +
                           ", 'shape': " + std::string(shape) + ", }";
  return npy_with(dict, data, version);
}

uint32_t crc_of(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string deflated(std::string_view bytes) { return compressed(bytes, -MAX_WBITS); }
std::string gzipped(std::string_view bytes) { return compressed(bytes, 16 + MAX_WBITS); }

std::string zip64_extra(const std::vector<uint64_t>& values) {
  std::string out;
  append_little<uint16_t>(out, 1);
  append_little<uint16_t>(out, static_cast<uint16_t>(8 * values.size()));
  for (const uint64_t value : values) append_little<uint64_t>(out, value);
  return out;
}

std::string TestArchive::build() const {
  std::string archive, directory;
  for (const TestEntry& entry : entries) {
    const std::string payload =
        entry.payload.value_or(entry.deflate ? deflated(entry.content) : entry.content);
    const uint16_t flags = entry.flags.value_or(entry.descriptor ? 8 : 0);
    const uint16_t method = entry.method.value_or(entry.deflate ? 8 : 0);
    const uint32_t crc = entry.crc.value_or(crc_of(entry.content));
    const auto size = entry.size.value_or(static_cast<uint32_t>(entry.content.size()));
    const auto compressed_size =
        entry.compressed_size.value_or(static_cast<uint32_t>(payload.size()));
    const std::string local_name = entry.local_name.value_or(entry.name);
    archive += entry.before;
    const auto offset = static_cast<uint32_t>(archive.size());

    append_little<uint32_t>(archive, 0x04034b50);
    append_little<uint16_t>(archive, 20);
    append_little<uint16_t>(archive, entry.local_flags.value_or(flags));
    append_little<uint16_t>(archive, entry.local_method.value_or(method));
    append_little<uint32_t>(archive, 0x210000);
    append_little<uint32_t>(archive, entry.descriptor ? 0 : entry.local_crc.value_or(crc));
    append_little<uint32_t>(archive, entry.descriptor ? 0 : compressed_size);
    append_little<uint32_t>(archive, entry.descriptor ? 0 : entry.local_size.value_or(size));
    append_little<uint16_t>(archive, static_cast<uint16_t>(local_name.size()));
    append_little<uint16_t>(archive, static_cast<uint16_t>(entry.local_extra.size()));
    archive += local_name + entry.local_extra + payload;
    if (entry.late) {
      archive += *entry.late;
    } else if (entry.descriptor) {
      append_little<uint32_t>(archive, 0x08074b50);
      append_little<uint32_t>(archive, crc);
      append_little<uint32_t>(archive, compressed_size);
      append_little<uint32_t>(archive, size);
    }

    append_little<uint32_t>(directory, 0x02014b50);
    append_little<uint16_t>(directory, 20);
    append_little<uint16_t>(directory, 20);
    append_little<uint16_t>(directory, flags);
    append_little<uint16_t>(directory, method);
    append_little<uint32_t>(directory, 0x210000);
    append_little<uint32_t>(directory, crc);
    append_little<uint32_t>(directory, compressed_size);
    append_little<uint32_t>(directory, size);
    append_little<uint16_t>(directory, static_cast<uint16_t>(entry.name.size()));
    append_little<uint16_t>(directory, static_cast<uint16_t>(entry.directory_extra.size()));
    append_little<uint16_t>(directory, static_cast<uint16_t>(entry.comment.size()));
    append_little<uint16_t>(directory, 0);
    append_little<uint16_t>(directory, 0);
    append_little<uint32_t>(directory, 0);
    append_little<uint32_t>(directory, entry.header_offset.value_or(offset));
    directory += entry.name + entry.directory_extra + entry.comment;
  }
  archive += before_directory;
  const uint64_t begin = archive.size();
  directory += after_directory;
  archive += directory;
  if (zip64) {
    const uint64_t at = archive.size();
    append_little<uint32_t>(archive, 0x06064b50);
    append_little<uint64_t>(archive, 44);
    append_little<uint16_t>(archive, 45);
    append_little<uint16_t>(archive, 45);
    append_little<uint32_t>(archive, 0);
    append_little<uint32_t>(archive, 0);
    append_little<uint64_t>(archive, count64.value_or(entries.size()));
    append_little<uint64_t>(archive, count64.value_or(entries.size()));
    append_little<uint64_t>(archive, size64.value_or(directory.size()));
    append_little<uint64_t>(archive, offset64.value_or(begin));
    append_little<uint32_t>(archive, 0x07064b50);
    append_little<uint32_t>(archive, 0);
    append_little<uint64_t>(archive, locator_offset.value_or(at));
    append_little<uint32_t>(archive, disks.value_or(1));
  }
  const auto number = static_cast<uint16_t>(saturated ? 0xffff : entries.size());
  append_little<uint32_t>(archive, 0x06054b50);
  append_little<uint16_t>(archive, disk.value_or(0));
  append_little<uint16_t>(archive, disk.value_or(0));
  append_little<uint16_t>(archive, count.value_or(number));
  append_little<uint16_t>(archive, count.value_or(number));
  append_little<uint32_t>(
      archive,
      directory_size.value_or(static_cast<uint32_t>(saturated ? 0xffffffff : directory.size())));
  append_little<uint32_t>(
      archive, directory_offset.value_or(static_cast<uint32_t>(saturated ? 0xffffffff : begin)));
  append_little<uint16_t>(archive, static_cast<uint16_t>(comment.size()));
  return archive + comment;
}

}  // namespace gnnmg::test
