// A zip archive with correct checksums around fuzzed records: checksums reject nearly every change
// of an archive itself.
#pragma once

#include <zlib.h>

#include <string>
#include <utility>
#include <vector>

#include "io/bytes.h"

namespace gnnmg::fuzz {

inline std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& records) {
  using io::append_little;
  std::string archive, directory;
  for (const auto& [name, content] : records) {
    std::string common;
    for (const int field : {20, 0, 0, 0, 0})
      append_little<uint16_t>(common, static_cast<uint16_t>(field));
    append_little<uint32_t>(common, crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                                          static_cast<uInt>(content.size())));
    append_little<uint32_t>(common, static_cast<uint32_t>(content.size()));
    append_little<uint32_t>(common, static_cast<uint32_t>(content.size()));
    append_little<uint16_t>(common, static_cast<uint16_t>(name.size()));
    append_little<uint16_t>(common, 0);
    append_little<uint32_t>(directory, 0x02014b50);
    append_little<uint16_t>(directory, 20);
    directory += common + std::string(10, '\0');
    append_little<uint32_t>(directory, static_cast<uint32_t>(archive.size()));
    directory += name;
    append_little<uint32_t>(archive, 0x04034b50);
    archive += common + name + content;
  }
  const auto begin = static_cast<uint32_t>(archive.size());
  const auto count = static_cast<uint16_t>(records.size());
  archive += directory;
  append_little<uint32_t>(archive, 0x06054b50);
  append_little<uint32_t>(archive, 0);
  append_little<uint16_t>(archive, count);
  append_little<uint16_t>(archive, count);
  append_little<uint32_t>(archive, static_cast<uint32_t>(directory.size()));
  append_little<uint32_t>(archive, begin);
  append_little<uint16_t>(archive, 0);
  return archive;
}

}  // namespace gnnmg::fuzz
