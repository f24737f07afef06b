// The layout of PyTorch before 1.6: a series of pickles (a magic number, a version, facts about the
// machine, the object, the keys of its storages), then the storages, each after its length.
#include <algorithm>
#include <map>

#include "base/file.h"
#include "io/bytes.h"
#include "io/pth_file.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr int64_t kProtocolVersion = 1001;
constexpr int64_t kBytesPerValue = 16;

// The bytes of a file, or of memory.
class Bytes {
 public:
  explicit Bytes(const std::string& path) : file_(std::make_unique<base::File>(path)) {}
  explicit Bytes(std::span<const uint8_t> memory) : memory_(memory) {}
  int64_t size() const { return file_ ? file_->size() : static_cast<int64_t>(memory_.size()); }
  // The caller stays within size().
  void read(int64_t offset, std::span<uint8_t> out) const {
    if (file_) return file_->read_at(offset, out);
    const auto from = memory_.subspan(offset, out.size());
    std::copy(from.begin(), from.end(), out.begin());
  }

 private:
  std::unique_ptr<base::File> file_;
  std::span<const uint8_t> memory_;
};

class LegacyPth final : public PthFile {
 public:
  LegacyPth(Bytes bytes, std::string name, size_t start)
      : bytes_(std::move(bytes)), name_(std::move(name)), start_(start) {}

  const std::string& name() const override { return name_; }
  int64_t num_bytes() const override { return bytes_.size(); }

  PthPickle unpickle(PickleOptions options) override {
    types_.clear();
    records_.clear();
    const int64_t count = std::min(bytes_.size(), kMaxPickle);
    PthPickle pickle;
    pickle.charge.take(count, name_);
    pickle.bytes.resize(count);
    bytes_.read(0, pickle.bytes);
    options.max_bytes = kMaxPickle;
    options.max_values = kFreeValues + count / kBytesPerValue;
    if (start_ == 0) {
      if (bytes_.size() > kMaxPickle)
        refuse(base::text(": is a pickle of ", bytes_.size(), " bytes, at most ", kMaxPickle,
                          " are accepted"));
      pickle.root = parse_pickle(pickle.bytes, options, name_);
      return pickle;
    }
    options.on_persistent = [this](const PickleValue& id) { note_storage(id); };
    std::span<const uint8_t> rest = std::span<const uint8_t>(pickle.bytes).subspan(start_);
    check_machine(rest);
    pickle.root = take_pickle(rest, options, name_);
    find_storages(rest, count);
    return pickle;
  }

  Tensor load(std::string_view key, const StorageType& type, int64_t count,
              const std::string& where) override {
    const auto found = records_.find(std::string(key));
    if (found == records_.end())
      fail(Status::kFormat, where, "has no storage \"", printable(key), "\"");
    const Record& record = found->second;
    if (record.type != type.name || record.count != count)
      fail(Status::kFormat, where, "its storage has ", count, " elements of ", type.name,
           ", the file ", record.count, " of ", record.type);
    int64_t at = record.offset;
    return load_elements(type, count, base::text(name_, ", storage \"", printable(key), "\""),
                         [&](std::span<uint8_t> out) {
                           bytes_.read(at, out);
                           at += static_cast<int64_t>(out.size());
                         });
  }

 private:
  struct Record {
    std::string type;
    int64_t offset = 0, count = 0;  // elements of the storage
  };

  [[noreturn]] void refuse(std::string_view what) const { fail(Status::kFormat, name_, what); }

  void check_machine(std::span<const uint8_t>& rest) const {
    const PickleRef version = take_pickle(rest, {}, name_);
    const int64_t* number = version->as<int64_t>();
    if (!number) refuse(": its version is no number");
    if (*number != kProtocolVersion)
      fail(Status::kVersion, name_, ": has the version ", *number,
           " of the layout of PyTorch before 1.6, expected ", kProtocolVersion);
    const PickleRef facts = take_pickle(rest, {}, name_);
    const PickleDict* dict = facts->as<PickleDict>();
    if (!dict) refuse(": says nothing about the machine that wrote it");
    for (const auto& [key, value] : dict->items) {
      const auto* text = key->as_text();
      const bool* little = value->as<bool>();
      if (text && *text == "little_endian" && little && !*little)
        fail(Status::kUnsupported, name_,
             ": holds data of byte order \"big\", only little is supported");
    }
  }

  // ("storage", type, key, place, count, the part of another storage or None).
  void note_storage(const PickleValue& id) {
    const auto* tuple = id.as<PickleTuple>();
    if (!tuple || tuple->items.size() < 5) return;
    const auto* global = tuple->items[1]->as<PickleGlobal>();
    const auto* opaque = tuple->items[1]->as<PickleOpaque>();
    const auto* key = tuple->items[2]->as_text();
    if (key && (global || opaque))
      types_.emplace(std::string(*key), std::string(global ? global->name : opaque->name));
  }

  // `rest` begins with the keys and is the end of the first `count` bytes.
  void find_storages(std::span<const uint8_t> rest, int64_t count) {
    const PickleRef keys = take_pickle(rest, {}, name_);
    const auto* list = keys->as<PickleList>();
    if (!list) refuse(": has no list of its storages");
    int64_t at = count - static_cast<int64_t>(rest.size());
    for (const PickleRef& item : list->items) {
      const auto* key = item->as_text();
      const auto type = key ? types_.find(std::string(*key)) : types_.end();
      const int32_t item_size = type == types_.end() ? 0 : storage_item_size(type->second);
      if (item_size == 0)
        refuse(
            base::text(": has a storage \"", key ? printable(*key) : "?", "\" of no known type"));
      Record record{type->second, at, take_length(at)};
      record.offset = at;
      const std::string what = base::text(name_, ", storage \"", printable(*key), "\"");
      const int64_t bytes = base::checked_mul(record.count, item_size, what);
      if (bytes > bytes_.size() - at)
        refuse(base::text(": the storage \"", printable(*key), "\" has ", record.count,
                          " elements, but the file is cut"));
      at += bytes;
      records_.emplace(std::string(*key), record);
    }
    if (at != bytes_.size())
      refuse(base::text(": ", bytes_.size() - at, " surplus bytes after the storages"));
  }

  int64_t take_length(int64_t& at) const {
    uint8_t raw[8];
    if (bytes_.size() - at < static_cast<int64_t>(sizeof raw)) refuse(": is cut");
    bytes_.read(at, raw);
    at += static_cast<int64_t>(sizeof raw);
    const auto length = load_little<int64_t>(raw, 0);
    if (length < 0) refuse(base::text(": a storage of ", length, " elements"));
    return length;
  }

  Bytes bytes_;
  std::string name_;
  size_t start_;  // offset of the version's pickle; 0: the file has only the object
  std::map<std::string, std::string> types_;  // storage types by key
  std::map<std::string, Record> records_;
};

}  // namespace

size_t legacy_pth_start(std::string_view start) {
  // 0x1950a86a20f9469cfc6c as written by protocol 2 and later, and by earlier ones.
  constexpr std::string_view kMagics[] = {"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                                          "L119547037146038801333356L\n."};
  constexpr size_t kLatest = 16;  // the magic follows the protocol and a frame of protocol 4
  for (const std::string_view magic : kMagics)
    if (const size_t at = start.find(magic); at < kLatest) return at + magic.size();
  return 0;
}

std::unique_ptr<PthFile> open_legacy_pth(const std::string& path, size_t start) {
  return std::make_unique<LegacyPth>(Bytes(path), path, start);
}

std::unique_ptr<PthFile> legacy_pth_of(std::span<const uint8_t> bytes, std::string name,
                                       size_t start) {
  return std::make_unique<LegacyPth>(Bytes(bytes), std::move(name), start);
}

}  // namespace gnnmg::io
