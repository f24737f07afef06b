// Makes valid and invalid .npy and zip files byte by byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::test {

// The raw bytes of values in little-endian order.
template <typename T>
std::string raw(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    __builtin_memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
  return out;
}
// raw() in big-endian order.
template <typename T>
std::string raw_big(const std::vector<T>& values) {
  std::string out = raw(values);
  for (size_t at = 0; at < out.size(); at += sizeof(T))
    std::reverse(out.begin() + static_cast<ptrdiff_t>(at),
                 out.begin() + static_cast<ptrdiff_t>(at + sizeof(T)));
  return out;
}

// A .npy file with this dict as its header, padded as NumPy does.
std::string npy_with(std::string_view dict, std::string_view data, int version = 1);
// npy("<f4", "(2, 3)", data).
std::string npy(std::string_view descr, std::string_view shape, std::string_view data,
                bool fortran = false, int version = 1);

std::string deflated(std::string_view bytes);  // form of zip archives
std::string gzipped(std::string_view bytes);   // one member
uint32_t crc_of(std::string_view bytes);       // CRC of both forms

// One entry of a test archive. Other fields than name and content replace the correct values.
struct TestEntry {
  std::string name;
  std::string content;
  bool deflate = false;
  bool descriptor = false;               // sizes and CRC after the data, zeros in the local header
  std::optional<std::string> payload{};  // the bytes in the archive
  std::optional<std::string> late{};     // the descriptor's bytes
  std::string before{};
  std::optional<std::string> local_name{};
  std::optional<uint16_t> flags{}, local_flags{}, method{}, local_method{};
  std::optional<uint32_t> crc{}, size{}, compressed_size{}, header_offset{};
  std::optional<uint32_t> local_size{}, local_crc{};
  std::string local_extra{}, directory_extra{}, comment{};
};

struct TestArchive {
  std::vector<TestEntry> entries;
  std::string comment;
  std::string before_directory;  // bytes that belong to nothing, as `before` of an entry
  std::string after_directory;
  bool zip64 = false;      // has the 64-bit end record and its locator
  bool saturated = false;  // the old record refers to the 64-bit one for everything
  std::optional<uint16_t> count, disk;
  std::optional<uint32_t> directory_offset, directory_size;
  std::optional<uint64_t> count64, offset64, size64, locator_offset;
  std::optional<uint32_t> disks;

  std::string build() const;
};

// A zip64 extra field with these values.
std::string zip64_extra(const std::vector<uint64_t>& values);

}  // namespace gnnmg::test
