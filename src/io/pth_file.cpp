#include "io/pth_file.h"

#include <algorithm>

#include "base/file.h"
#include "io/bytes.h"
#include "io/npy_load.h"
#include "io/zip.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr int64_t kNewestFormat = 10;  // PyTorch 2.11
constexpr int64_t kValuesPerRecord = 64;
constexpr int64_t kMaxExtraBytes = int64_t{16} << 20;

constexpr StorageType kStorageTypes[] = {
    {"FloatStorage", NpyKind::kFloat, 4},
    {"DoubleStorage", NpyKind::kFloat, 8},
    {"HalfStorage", NpyKind::kFloat, 2},
    {"BFloat16Storage", NpyKind::kUnsigned, 2, U2::kBFloat16},
    {"LongStorage", NpyKind::kSigned, 8},
    {"IntStorage", NpyKind::kSigned, 4},
    {"ShortStorage", NpyKind::kSigned, 2},
    {"CharStorage", NpyKind::kSigned, 1},
    {"ByteStorage", NpyKind::kUnsigned, 1},
    {"BoolStorage", NpyKind::kBool, 1},
};

// Type of storages that a file may have but the library cannot read as tensors.
struct OtherType {
  std::string_view name;
  int32_t item_size;
};
constexpr OtherType kOtherTypes[] = {{"ComplexFloatStorage", 8}, {"ComplexDoubleStorage", 16},
                                     {"QInt8Storage", 1},        {"QUInt8Storage", 1},
                                     {"QInt32Storage", 4},       {"UntypedStorage", 1}};

class ZipPth final : public PthFile {
 public:
  explicit ZipPth(ZipReader archive) : archive_(std::move(archive)) {
    find_folder();
    const std::string version = small_record("version");
    const std::string order = archive_.find(folder_ + "byteorder") ? small_record("byteorder") : "";
    if (!order.empty() && order != "little")
      fail(Status::kUnsupported, name(), ": holds data of byte order \"", printable(order),
           "\", only little is supported");
    const std::string digits = version.substr(0, version.find('\n'));
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      refuse(base::text(": its version \"", printable(version), "\" is no number"));
    if (std::stoll(digits) > kNewestFormat)
      fail(Status::kVersion, name(), ": has format version ", digits, ", the newest known is ",
           kNewestFormat);
  }

  const std::string& name() const override { return archive_.name(); }
  int64_t num_bytes() const override { return archive_.num_bytes(); }

  std::map<std::string, std::string> metadata() const override {
    const std::string start = folder_ + std::string(kExtraRecords);
    std::map<std::string, std::string> texts;
    int64_t total = 0;
    for (const ZipEntry& entry : archive_.entries()) {
      if (!entry.name.starts_with(start)) continue;
      total = base::checked_add(total, entry.size, name());
      if (total > kMaxExtraBytes)
        refuse(base::text(": its records \"", kExtraRecords, "...\" have more than ",
                          kMaxExtraBytes, " bytes"));
      texts.emplace(entry.name.substr(start.size()), as_text(archive_.read(entry)));
    }
    return texts;
  }

  PthPickle unpickle(PickleOptions options) override {
    const ZipEntry& entry = record("data.pkl");
    options.max_bytes = kMaxPickle;
    options.max_values =
        kFreeValues + kValuesPerRecord * static_cast<int64_t>(archive_.entries().size());
    if (entry.size > kMaxPickle)
      refuse(base::text(": data.pkl has ", entry.size, " bytes, at most ", kMaxPickle,
                        " are accepted"));
    PthPickle pickle;
    pickle.charge.take(entry.size, name());
    pickle.bytes = archive_.read(entry);
    pickle.root = parse_pickle(pickle.bytes, options, name() + ", data.pkl");
    return pickle;
  }

  Tensor load(std::string_view key, const StorageType& type, int64_t count,
              const std::string& where) override {
    const ZipEntry& entry = record(base::text("data/", key));
    const int64_t bytes = base::checked_mul(count, type.item_size, where + "storage");
    if (entry.size != bytes)
      fail(Status::kFormat, where, "its storage has ", count, " elements of ", type.item_size,
           " bytes, the record \"", printable(entry.name), "\" ", entry.size, " bytes");
    ZipStream stream(archive_, entry);
    Tensor elements =
        load_elements(type, count, name() + ", record \"" + printable(entry.name) + "\"",
                      [&](std::span<uint8_t> out) { stream.read(out); });
    stream.finish();
    return elements;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const { fail(Status::kFormat, name(), what); }

  // All records are in one top folder.
  void find_folder() {
    refuse_other_archives();
    for (const ZipEntry& entry : archive_.entries()) {
      const size_t slash = entry.name.find('/');
      const std::string_view top = std::string_view(entry.name).substr(0, slash + 1);
      if (slash == std::string::npos || (!folder_.empty() && top != folder_))
        refuse(base::text(": the entry \"", printable(entry.name),
                          "\" lies outside the one folder that torch.save makes"));
      folder_ = top;
    }
    record("data.pkl");
  }
  void refuse_other_archives() const {
    const std::vector<ZipEntry>& entries = archive_.entries();
    const auto is_array = [](const ZipEntry& entry) { return entry.name.ends_with(".npy"); };
    if (!entries.empty() && std::ranges::all_of(entries, is_array))
      refuse(
          ": is an archive of NumPy's arrays (.npz), expected a file of torch.save(): write "
          "torch.save({key: torch.from_numpy(array) for key, array in numpy.load(path).items()}, "
          "\"weights.pth\")");
    const auto is_script = [](const ZipEntry& entry) {
      return entry.name.ends_with("/constants.pkl");
    };
    if (std::ranges::any_of(entries, is_script))
      refuse(
          ": is a program of TorchScript (torch.jit.save), expected a state dict: write "
          "torch.save(torch.jit.load(path).state_dict(), \"weights.pth\")");
  }
  const ZipEntry& record(const std::string& record_name) const {
    const ZipEntry* entry = archive_.find(folder_ + record_name);
    if (!entry) refuse(base::text(": has no record \"", printable(record_name), "\""));
    return *entry;
  }
  std::string small_record(const std::string& record_name) const {
    const ZipEntry& entry = record(record_name);
    if (entry.size > 64) refuse(base::text(": the record \"", record_name, "\" is too long"));
    return std::string(as_text(archive_.read(entry)));
  }

  ZipReader archive_;
  std::string folder_;  // including the slash
};

}  // namespace

bool looks_like_pickle(std::string_view start) {
  for (const std::string_view begin : {"\x80", "}q", "]q", "(dp", "(lp", "ccollections\n"})
    if (start.starts_with(begin)) return true;
  return false;
}

const StorageType* find_storage_type(std::string_view name) {
  const auto* found = std::ranges::find(kStorageTypes, name, &StorageType::name);
  return found == std::end(kStorageTypes) ? nullptr : found;
}

int32_t storage_item_size(std::string_view name) {
  if (const StorageType* known = find_storage_type(name)) return known->item_size;
  const auto* other = std::ranges::find(kOtherTypes, name, &OtherType::name);
  return other == std::end(kOtherTypes) ? 0 : other->item_size;
}

Tensor PthFile::load_elements(const StorageType& type, int64_t count, const std::string& where,
                              const std::function<void(std::span<uint8_t>)>& read) {
  NpyHeader array;
  array.kind = type.kind;
  array.item_size = type.item_size;
  array.shape = {count};
  return load_npy_data(array, type.u2, where, read);
}

std::unique_ptr<PthFile> PthFile::open(const std::string& path) {
  uint8_t bytes[64];
  std::string_view start;
  {
    const base::File file(path);
    start = as_text(std::span(bytes).first(file.read_some(0, bytes)));
  }
  const size_t legacy = legacy_pth_start(start);
  if (legacy > 0 || looks_like_pickle(start)) return open_legacy_pth(path, legacy);
  return std::make_unique<ZipPth>(ZipReader::open(path));
}

std::unique_ptr<PthFile> PthFile::memory(std::span<const uint8_t> bytes, std::string name) {
  const std::string_view start = as_text(bytes);
  const size_t legacy = legacy_pth_start(start);
  if (legacy > 0 || looks_like_pickle(start)) return legacy_pth_of(bytes, std::move(name), legacy);
  return std::make_unique<ZipPth>(ZipReader(bytes, std::move(name)));
}

}  // namespace gnnmg::io
