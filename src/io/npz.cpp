#include <algorithm>

#include "io/bytes.h"
#include "io/npy_load.h"
#include "io/zip.h"

namespace gnnmg::io {

using base::fail;
using base::Status;

struct Npz::State {
  explicit State(ZipReader opened) : archive(std::move(opened)) {}
  ZipReader archive;
};

namespace {

constexpr std::string_view kSuffix = ".npy";

const ZipEntry& entry_of(const ZipReader& archive, std::string_view key) {
  const ZipEntry* entry = archive.find(base::text(key, kSuffix));
  if (!entry) fail(Status::kNotFound, archive.name(), ": has no array \"", printable(key), "\"");
  return *entry;
}

std::string name_of(const ZipReader& archive, std::string_view key) {
  return base::text(archive.name(), ", array \"", printable(key), "\"");
}

}  // namespace

Npz Npz::open(const std::string& path) {
  Npz npz;
  npz.state_ = std::make_shared<const State>(ZipReader::open(path));
  return npz;
}

Npz Npz::parse(std::span<const uint8_t> bytes, std::string name) {
  Npz npz;
  npz.state_ = std::make_shared<const State>(ZipReader(bytes, std::move(name)));
  return npz;
}

const std::string& Npz::name() const { return state_->archive.name(); }

bool Npz::has(std::string_view key) const {
  return state_->archive.find(base::text(key, kSuffix)) != nullptr;
}

std::vector<std::string> Npz::keys() const {
  std::vector<std::string> keys;
  for (const ZipEntry& entry : state_->archive.entries())
    if (entry.name.ends_with(kSuffix))
      keys.push_back(entry.name.substr(0, entry.name.size() - kSuffix.size()));
  return keys;
}

NpyHeader Npz::header(std::string_view key) const {
  const ZipEntry& entry = entry_of(state_->archive, key);
  return parse_npy_header(state_->archive.read_start(entry, kNpyStart), entry.size,
                          name_of(state_->archive, key));
}

base::Tensor Npz::get(std::string_view key) const {
  const ZipReader& archive = state_->archive;
  const ZipEntry& entry = entry_of(archive, key);
  const std::string name = name_of(archive, key);
  ZipStream stream(archive, entry);
  std::vector<uint8_t> start(std::min(entry.size, kNpyStart));
  stream.read(start);
  const NpyHeader header = parse_npy_header(start, entry.size, name);
  std::span<const uint8_t> rest = std::span(start).subspan(header.data_offset);
  base::Tensor tensor = load_npy_data(header, U2::kInteger, name, [&](std::span<uint8_t> out) {
    const size_t count = std::min(out.size(), rest.size());
    std::copy_n(rest.begin(), count, out.begin());
    rest = rest.subspan(count);
    stream.read(out.subspan(count));
  });
  stream.finish();
  return tensor;
}

std::string Npz::get_text(std::string_view key) const {
  constexpr int64_t kLimit = 64 << 10;
  const ZipReader& archive = state_->archive;
  const ZipEntry& entry = entry_of(archive, key);
  const std::string name = name_of(archive, key);
  const NpyHeader header = this->header(key);
  const bool unicode = header.kind == NpyKind::kUnicode;
  if ((!unicode && header.kind != NpyKind::kBytes) || header.num_elements() != 1 ||
      header.num_bytes() > kLimit)
    fail(Status::kFormat, name, ": expected one string of at most ", kLimit, " bytes");
  const std::vector<uint8_t> bytes = archive.read(entry);
  const std::span<const uint8_t> data = std::span(bytes).subspan(header.data_offset);
  std::string out;
  if (!unicode) {
    out = as_text(data);
  } else {
    for (size_t at = 0; at < data.size(); at += 4) {
      auto code = load_little<uint32_t>(data, at);
      if (header.big_endian) code = __builtin_bswap32(code);
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        fail(Status::kFormat, name, ": character ", at / 4, " is no Unicode character");
      append_utf8(out, code);
    }
  }
  out.erase(out.find_last_not_of('\0') + 1);  // NumPy pads strings with NULs
  return out;
}

}  // namespace gnnmg::io
