#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/cancel.h"
#include "io/bytes.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryHeader = 0x02014b50;
constexpr uint32_t kDescriptor = 0x08074b50;
constexpr uint32_t kEndRecord = 0x06054b50;
constexpr uint32_t kEndRecord64 = 0x06064b50;
constexpr uint32_t kEndLocator64 = 0x07064b50;
constexpr int64_t kLocalHeaderSize = 30;
constexpr int64_t kDirectoryHeaderSize = 46;
constexpr int64_t kEndRecordSize = 22;
constexpr int64_t kEndRecord64Size = 56;
constexpr int64_t kEndLocator64Size = 20;
constexpr uint16_t kHasDescriptor = 1 << 3;
// Deflate's level hint, descriptor and UTF-8 names; everything else (encryption, patches, masked
// headers) is refused.
constexpr uint16_t kKnownFlags = 0x0006 | kHasDescriptor | 1 << 11;
constexpr int64_t kMaxRatio = 1100;
constexpr int64_t kDeflatedPiece = 64 << 10;
constexpr size_t kInflatedAtOnce = size_t{16} << 20;  // bytes between checks for a cancel

// The end of the archive: position of the directory and number of entries.
struct Directory {
  int64_t offset = 0, size = 0, count = 0;
};

// A 64-bit field as a file offset or size; negative if it does not fit.
int64_t load_size(std::span<const uint8_t> bytes, size_t at) {
  return static_cast<int64_t>(load_little<uint64_t>(bytes, at));
}

// Replaces the saturated `fields` by the values of the zip64 extra field, in order. False if the
// extra bytes are malformed or lack a value.
bool resolve_zip64(std::span<const uint8_t> extra, std::initializer_list<int64_t*> fields) {
  std::span<const uint8_t> values;
  bool found = false;
  while (!extra.empty()) {
    if (extra.size() < 4) return false;
    const auto id = load_little<uint16_t>(extra, 0);
    const size_t size = load_little<uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    if (id == kZip64Field) {
      if (found) return false;
      found = true;
      values = extra.subspan(4, size);
    }
    extra = extra.subspan(4 + size);
  }
  for (int64_t* field : fields) {
    if (*field != kSaturated32) continue;
    if (!found) continue;  // exactly 2^32 - 1 is a legal size
    if (values.size() < 8) return false;
    *field = load_size(values, 0);
    if (*field < 0) return false;
    values = values.subspan(8);
  }
  return true;
}

// Finds the end record in the last bytes of an archive (which begin at `tail_offset`), and the
// zip64 end record through `fetch`.
template <typename Fetch>
Directory find_directory(std::span<const uint8_t> tail, int64_t tail_offset, const Fetch& fetch,
                         const std::string& name) {
  int64_t at = static_cast<int64_t>(tail.size()) - kEndRecordSize;
  for (; at >= 0; --at) {
    const int64_t after = static_cast<int64_t>(tail.size()) - at - kEndRecordSize;
    if (load_little<uint32_t>(tail, at) == kEndRecord &&
        load_little<uint16_t>(tail, at + 20) == after)
      break;
  }
  if (at < 0) fail(Status::kFormat, name, ": is no zip archive, or is cut: it has no end record");
  const auto record = tail.subspan(at, kEndRecordSize);
  int64_t end = tail_offset + at;  // required end of the directory

  const auto disk = load_little<uint16_t>(record, 4);
  const auto directory_disk = load_little<uint16_t>(record, 6);
  const auto disk_count = load_little<uint16_t>(record, 8);
  const auto count = load_little<uint16_t>(record, 10);
  const auto size = load_little<uint32_t>(record, 12);
  const auto offset = load_little<uint32_t>(record, 16);
  Directory directory{offset, size, count};

  bool wide = false;
  std::array<uint8_t, kEndLocator64Size> locator{};
  if (end >= kEndLocator64Size + kEndRecord64Size) {
    fetch(end - kEndLocator64Size, std::span<uint8_t>(locator));
    wide = load_little<uint32_t>(locator, 0) == kEndLocator64;
  }
  if (wide) {
    const int64_t at64 = load_size(locator, 8);
    std::array<uint8_t, kEndRecord64Size> record64{};
    if (load_little<uint32_t>(locator, 4) != 0 || load_little<uint32_t>(locator, 16) != 1 ||
        at64 != end - kEndLocator64Size - kEndRecord64Size)
      fail(Status::kFormat, name, ": the zip64 end record is not where its locator says");
    fetch(at64, std::span<uint8_t>(record64));
    directory = {load_size(record64, 48), load_size(record64, 40), load_size(record64, 32)};
    const bool agrees = (count == kSaturated16 || count == directory.count) &&
                        (size == kSaturated32 || size == directory.size) &&
                        (offset == kSaturated32 || offset == directory.offset);
    if (load_little<uint32_t>(record64, 0) != kEndRecord64 ||
        load_size(record64, 4) != kEndRecord64Size - 12 ||
        load_little<uint32_t>(record64, 16) != 0 || load_little<uint32_t>(record64, 20) != 0 ||
        load_size(record64, 24) != directory.count || !agrees)
      fail(Status::kFormat, name, ": the zip64 end record contradicts itself or the end record");
    end = at64;
  }
  const auto on_first_disk = [wide](uint16_t value) {
    return value == 0 || (wide && value == kSaturated16);
  };
  if (!on_first_disk(disk) || !on_first_disk(directory_disk) || disk_count != count)
    fail(Status::kFormat, name,
         ": is one part of a split zip archive, or its end record is broken");
  if (directory.offset < 0 || directory.size < 0 || directory.offset > end ||
      directory.size != end - directory.offset)
    fail(Status::kFormat, name, ": the end record puts the directory at byte ", directory.offset,
         " with ", directory.size, " bytes, but it has to end at byte ", end);
  if (directory.count < 0 || directory.count > directory.size / kDirectoryHeaderSize)
    fail(Status::kFormat, name, ": the end record counts ", directory.count,
         " entries, the directory has ", directory.size, " bytes");
  return directory;
}

}  // namespace

ZipReader::ZipReader(std::span<const uint8_t> bytes, std::string name, bool check_crc)
    : bytes_(bytes), name_(std::move(name)), check_crc_(check_crc) {
  read_directory();
}

ZipReader::ZipReader(std::shared_ptr<const base::File> file, bool check_crc)
    : file_(std::move(file)), name_(file_->path()), check_crc_(check_crc) {
  read_directory();
}

ZipReader ZipReader::open(const std::string& path, bool check_crc) {
  return ZipReader(std::make_shared<const base::File>(path), check_crc);
}

void ZipReader::fetch(int64_t offset, std::span<uint8_t> out) const {
  if (file_) return file_->read_at(offset, out);
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

void ZipReader::read_directory() {
  const int64_t tail_size = std::min(num_bytes(), kEndRecordSize + kSaturated16);
  std::vector<uint8_t> bytes(tail_size);
  fetch(num_bytes() - tail_size, bytes);
  const Directory directory = find_directory(
      bytes, num_bytes() - tail_size,
      [this](int64_t offset, std::span<uint8_t> out) { fetch(offset, out); }, name_);
  bytes.resize(directory.size);
  fetch(directory.offset, bytes);

  std::vector<Range> ranges;
  entries_.reserve(directory.count);
  ranges.reserve(directory.count);
  std::span<const uint8_t> rest = bytes;
  for (int64_t i = 0; i < directory.count; ++i) {
    if (rest.size() < kDirectoryHeaderSize || load_little<uint32_t>(rest, 0) != kDirectoryHeader)
      fail(Status::kFormat, name_, ": entry ", i, " of the directory is cut or broken");
    const auto flags = load_little<uint16_t>(rest, 8);
    const auto method = load_little<uint16_t>(rest, 10);
    const size_t name_size = load_little<uint16_t>(rest, 28);
    const size_t extra_size = load_little<uint16_t>(rest, 30);
    const size_t comment_size = load_little<uint16_t>(rest, 32);
    const size_t header_size = kDirectoryHeaderSize + name_size + extra_size + comment_size;
    if (header_size > rest.size())
      fail(Status::kFormat, name_, ": entry ", i, " of the directory is cut or broken");

    ZipEntry& entry = entries_.emplace_back();
    entry.name = as_text(rest.subspan(kDirectoryHeaderSize, name_size));
    const auto where = [&] { return base::text(name_, ", entry \"", printable(entry.name), "\""); };
    if (std::any_of(entry.name.begin(), entry.name.end(),
                    [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }))
      fail(Status::kFormat, where(), ": its name has control characters");
    base::check_relative_name(entry.name, name_);
    entry.crc = load_little<uint32_t>(rest, 16);
    entry.compressed_size = load_little<uint32_t>(rest, 20);
    entry.size = load_little<uint32_t>(rest, 24);
    int64_t header_offset = load_little<uint32_t>(rest, 42);
    if (!resolve_zip64(rest.subspan(kDirectoryHeaderSize + name_size, extra_size),
                       {&entry.size, &entry.compressed_size, &header_offset}))
      fail(Status::kFormat, where(), ": its extra fields in the directory are broken");
    if (flags & ~kKnownFlags)
      fail(Status::kFormat, where(), ": is encrypted or uses unknown features (flags ", flags, ")");
    if (method != 0 && method != Z_DEFLATED)
      fail(Status::kFormat, where(), ": uses compression method ", method,
           ", expected 0 (stored) or 8 (deflate)");
    entry.deflated = method == Z_DEFLATED;
    if (!entry.deflated && entry.size != entry.compressed_size)
      fail(Status::kFormat, where(), ": is stored with ", entry.compressed_size,
           " bytes but declares ", entry.size);
    if (entry.deflated && entry.size / kMaxRatio > entry.compressed_size)
      fail(Status::kFormat, where(), ": claims to inflate from ", entry.compressed_size, " to ",
           entry.size, " bytes, more than ", kMaxRatio, "-fold");
    if (load_little<uint16_t>(rest, 34) != 0 || header_offset > directory.offset)
      fail(Status::kFormat, where(), ": begins at byte ", header_offset,
           ", beyond the data of the archive");
    read_local_header(entry, header_offset, flags);
    if (entry.data_offset > directory.offset ||
        entry.compressed_size > directory.offset - entry.data_offset)
      fail(Status::kFormat, where(), ": its ", entry.compressed_size, " bytes from byte ",
           entry.data_offset, " reach into the directory at byte ", directory.offset);
    ranges.push_back({header_offset, entry.data_offset + entry.compressed_size,
                      (flags & kHasDescriptor) != 0, static_cast<size_t>(i)});
    rest = rest.subspan(header_size);
  }
  if (!rest.empty())
    fail(Status::kFormat, name_, ": ", rest.size(), " surplus bytes after the last of ",
         directory.count, " entries of the directory");

  check_cover(std::move(ranges), directory.offset);

  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::sort(by_name_.begin(), by_name_.end(),
            [this](uint32_t a, uint32_t b) { return entries_[a].name < entries_[b].name; });
  for (size_t i = 1; i < by_name_.size(); ++i)
    if (entries_[by_name_[i]].name == entries_[by_name_[i - 1]].name)
      fail(Status::kFormat, name_, ": holds the entry \"", printable(entries_[by_name_[i]].name),
           "\" twice");
}

void ZipReader::check_cover(std::vector<Range> ranges, int64_t directory) const {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const auto refuse = [&](int64_t begin, int64_t end) {
    if (begin < end)
      fail(Status::kFormat, name_, ": the ", end - begin, " bytes from byte ", begin,
           " belong to no entry");
  };
  refuse(0, ranges.empty() ? directory : ranges[0].begin);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    const int64_t next = i + 1 < ranges.size() ? ranges[i + 1].begin : directory;
    if (next < range.end) fail(Status::kFormat, name_, ": two entries overlap at byte ", next);
    if (!range.descriptor || !is_descriptor(entries_[range.entry], range.end, next))
      refuse(range.end, next);
  }
}

// CRC and both sizes, of 4 or 8 bytes, with or without a mark in front.
bool ZipReader::is_descriptor(const ZipEntry& entry, int64_t begin, int64_t end) const {
  std::array<uint8_t, 24> bytes{};
  const int64_t size = end - begin;
  const bool wide = size >= 20, marked = size % 8 == 0;
  if (size != 12 + 4 * marked + 8 * wide) return false;
  fetch(begin, std::span(bytes).first(size));
  const size_t at = marked ? 4 : 0;
  const auto size_at = [&](size_t place) -> int64_t {
    return wide ? load_size(bytes, place) : load_little<uint32_t>(bytes, place);
  };
  return (!marked || load_little<uint32_t>(bytes, 0) == kDescriptor) &&
         load_little<uint32_t>(bytes, at) == entry.crc &&
         size_at(at + 4) == entry.compressed_size && size_at(at + (wide ? 12 : 8)) == entry.size;
}

void ZipReader::read_local_header(ZipEntry& entry, int64_t header_offset, uint16_t flags) {
  const auto refuse = [&](std::string_view what) {
    fail(Status::kFormat, name_, ", entry \"", printable(entry.name),
         "\": its local header at byte ", header_offset, " ", what);
  };
  std::array<uint8_t, kLocalHeaderSize> fixed{};
  if (header_offset > num_bytes() - kLocalHeaderSize) refuse("is cut");
  fetch(header_offset, fixed);
  if (load_little<uint32_t>(fixed, 0) != kLocalHeader) refuse("is none");
  const int64_t name_size = load_little<uint16_t>(fixed, 26);
  const int64_t extra_size = load_little<uint16_t>(fixed, 28);
  entry.data_offset = header_offset + kLocalHeaderSize + name_size + extra_size;
  if (entry.data_offset > num_bytes()) refuse("is cut");
  std::vector<uint8_t> variable(name_size + extra_size);
  fetch(header_offset + kLocalHeaderSize, variable);

  int64_t crc = load_little<uint32_t>(fixed, 14);
  int64_t compressed_size = load_little<uint32_t>(fixed, 18);
  int64_t size = load_little<uint32_t>(fixed, 22);
  const std::span<const uint8_t> all = variable;
  if (!resolve_zip64(all.subspan(name_size), {&size, &compressed_size}))
    refuse("has broken extra fields");
  // With a descriptor after the data, the writer did not know these values yet.
  const bool late = flags & kHasDescriptor;
  const auto agrees = [late](int64_t local, int64_t declared) {
    return local == declared || (late && local == 0);
  };
  if (as_text(all.first(name_size)) != entry.name || load_little<uint16_t>(fixed, 6) != flags ||
      (load_little<uint16_t>(fixed, 8) == Z_DEFLATED) != entry.deflated ||
      (!entry.deflated && load_little<uint16_t>(fixed, 8) != 0) || !agrees(crc, entry.crc) ||
      !agrees(compressed_size, entry.compressed_size) || !agrees(size, entry.size))
    refuse("contradicts the directory");
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [this](uint32_t i, std::string_view key) { return entries_[i].name < key; });
  return found != by_name_.end() && entries_[*found].name == name ? &entries_[*found] : nullptr;
}

std::vector<uint8_t> ZipReader::read(const ZipEntry& entry) const {
  std::vector<uint8_t> out(entry.size);
  ZipStream stream(*this, entry);
  stream.read(out);
  stream.finish();
  return out;
}

std::vector<uint8_t> ZipReader::read_start(const ZipEntry& entry, int64_t count) const {
  std::vector<uint8_t> out(std::min(count, entry.size));
  ZipStream(*this, entry).read(out);
  return out;
}

std::span<const uint8_t> ZipReader::stored(const ZipEntry& entry) const {
  if (file_ || entry.deflated)
    fail(Status::kUnsupported, name_, ", entry \"", printable(entry.name), "\": is ",
         entry.deflated ? "compressed" : "not in memory", " and has to be read");
  return bytes_.subspan(entry.data_offset, entry.size);
}

struct ZipStream::Inflater {
  z_stream z{};
  std::vector<uint8_t> input;
  bool ended = false;
};

ZipStream::ZipStream(const ZipReader& archive, const ZipEntry& entry)
    : archive_(archive), entry_(entry) {
  if (!entry.deflated) return;
  inflater_ = std::make_unique<Inflater>();
  inflater_->input.resize(std::min(entry.compressed_size, kDeflatedPiece));
  if (inflateInit2(&inflater_->z, -MAX_WBITS) != Z_OK)  // raw: the zip format has its own wrapper
    fail(Status::kNoMemory, archive.name(), ": no memory to inflate \"", printable(entry.name),
         "\"");
}

ZipStream::~ZipStream() {
  if (inflater_) inflateEnd(&inflater_->z);
}

void ZipStream::read(std::span<uint8_t> out) {
  if (static_cast<int64_t>(out.size()) > entry_.size - given_)
    refuse(base::text("has ", entry_.size, " bytes, expected ", out.size(), " more from byte ",
                      given_));
  if (inflater_) {
    for (auto rest = out; !rest.empty();) {
      if (inflater_->ended)
        refuse(base::text("inflates to fewer than the ", entry_.size, " bytes that it declares"));
      base::check_cancelled();
      rest = rest.subspan(inflate_some(rest));
    }
  } else {
    archive_.fetch(entry_.data_offset + taken_, out);
    taken_ += out.size();
  }
  // (zlib would restart for zero bytes at a null address)
  if (archive_.check_crc_ && !out.empty())
    crc_ = static_cast<uint32_t>(crc32_z(crc_, out.data(), out.size()));
  given_ += out.size();
}

void ZipStream::refuse(std::string_view what) const {
  fail(Status::kFormat, archive_.name(), ", entry \"", printable(entry_.name), "\": ", what);
}

size_t ZipStream::inflate_some(std::span<uint8_t> out) {
  z_stream& z = inflater_->z;
  if (z.avail_in == 0 && taken_ < entry_.compressed_size) {
    const int64_t piece =
        std::min<int64_t>(inflater_->input.size(), entry_.compressed_size - taken_);
    archive_.fetch(entry_.data_offset + taken_, std::span(inflater_->input).first(piece));
    taken_ += piece;
    z.next_in = inflater_->input.data();
    z.avail_in = static_cast<uInt>(piece);
  }
  const size_t wanted = std::min(out.size(), kInflatedAtOnce);
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(wanted);
  const int code = inflate(&z, Z_NO_FLUSH);
  const size_t given = wanted - z.avail_out;
  inflater_->ended = code == Z_STREAM_END;
  if (code == Z_MEM_ERROR) fail(Status::kNoMemory, archive_.name(), ": no memory to inflate");
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    refuse("its compressed bytes are broken");
  if (!inflater_->ended && given == 0 && z.avail_in == 0 && taken_ == entry_.compressed_size)
    refuse("its compressed bytes are cut");
  return given;
}

void ZipStream::finish() {
  if (given_ != entry_.size) refuse(base::text("has ", entry_.size, " bytes, expected ", given_));
  if (inflater_) {
    // The end mark of the compressed stream may still follow; no more data may.
    uint8_t surplus;
    while (!inflater_->ended)
      if (inflate_some({&surplus, 1}) != 0)
        refuse(base::text("inflates to more than the ", entry_.size, " bytes that it declares"));
    if (inflater_->z.avail_in != 0 || taken_ != entry_.compressed_size)
      refuse("has surplus bytes after its compressed data");
  }
  if (archive_.check_crc_ && crc_ != entry_.crc)
    fail(Status::kChecksum, archive_.name(), ", entry \"", printable(entry_.name),
         "\": its CRC is ", crc_, ", expected ", entry_.crc);
}

}  // namespace gnnmg::io
