#include <algorithm>
#include <limits>
#include <numeric>

#include "base/file.h"
#include "base/memory_charge.h"
#include "io/checked_file.h"
#include "io/json_events.h"
#include "io/json_writer.h"
#include "io/npy_load.h"

namespace gnnmg::io {
namespace {

using base::DType;
using base::fail;
using base::Status;

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kSafetensorsHeaderLimit = 100'000'000;  // limit of the format
constexpr size_t kMaxMetadata = 65'536;
constexpr std::string_view kMetadata = "__metadata__";

struct Type {
  std::string_view name;
  NpyKind kind;
  int32_t item_size;
};
constexpr Type kTypes[] = {
    {"F64", NpyKind::kFloat, 8},     {"F32", NpyKind::kFloat, 4},    {"F16", NpyKind::kFloat, 2},
    {"BF16", NpyKind::kUnsigned, 2}, {"I64", NpyKind::kSigned, 8},   {"I32", NpyKind::kSigned, 4},
    {"I16", NpyKind::kSigned, 2},    {"I8", NpyKind::kSigned, 1},    {"U64", NpyKind::kUnsigned, 8},
    {"U32", NpyKind::kUnsigned, 4},  {"U16", NpyKind::kUnsigned, 2}, {"U8", NpyKind::kUnsigned, 1},
    {"BOOL", NpyKind::kBool, 1},
};

struct Entry {
  std::string name;
  const Type* type = nullptr;
  base::Shape shape;
  int64_t begin = -1, end = -1;  // offsets in the data
};

// Processes the header's JSON as it is parsed, without building a tree.
class HeaderHandler : public JsonHandler {
 public:
  // `name` is the file's; `header_name` names the header in errors. `charge` counts the memory of
  // the entries.
  HeaderHandler(std::string_view name, std::string_view header_name, std::vector<Entry>& entries,
                std::map<std::string, std::string>& metadata, base::MemoryCharge& charge)
      : JsonHandler(header_name),
        file_(name),
        entries_(entries),
        metadata_(metadata),
        charge_(charge) {}

  bool null() { refuse("null is not expected"); }
  bool boolean(bool) { refuse("true or false is not expected"); }
  bool number_integer(int64_t) { refuse("a negative number is not expected"); }
  bool number_float(double, const std::string& text) {
    refuse(base::text("the number ", printable(text), " is no 64-bit integer"));
  }
  bool number_unsigned(uint64_t number) {
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      refuse(base::text("the number ", number, " does not fit 63 bits"));
    const auto value = static_cast<int64_t>(number);
    if (place_ == Place::kShape) {
      if (dims_.size() == base::kMaxDims)
        fail(Status::kUnsupported, where(), ": has more than ", base::kMaxDims, " dimensions");
      dims_.push_back(value);
    } else if (place_ == Place::kOffsets && num_offsets_ < 2) {
      (num_offsets_++ == 0 ? entries_.back().begin : entries_.back().end) = value;
    } else {
      refuse("a number is not expected here");
    }
    return true;
  }
  bool string(std::string& value) {
    if (place_ == Place::kMetadata) {
      if (metadata_.size() == kMaxMetadata)
        refuse(base::text("more than ", kMaxMetadata, " metadata are not accepted"));
      charge_.take(kNode + static_cast<int64_t>(key_.size() + value.size()), file_);
      if (!metadata_.emplace(key_, std::move(value)).second)
        refuse(base::text("the metadata key \"", printable(key_), "\" occurs twice"));
    } else if (place_ == Place::kEntry && key_ == "dtype") {
      const Type* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const Type& known) { return known.name == value; });
      if (type == std::end(kTypes))
        refuse(base::text("the type \"", printable(value), "\" is not supported"));
      entries_.back().type = type;
    } else {
      refuse("a text is not expected here");
    }
    return true;
  }
  bool key(std::string& value) {
    key_ = std::move(value);
    if (place_ == Place::kEntry) {
      bool* seen = key_ == "dtype"          ? &has_dtype_
                   : key_ == "shape"        ? &has_shape_
                   : key_ == "data_offsets" ? &has_offsets_
                                            : nullptr;
      if (!seen) refuse(base::text("the key \"", printable(key_), "\" is unknown"));
      if (*seen) refuse(base::text("the key \"", key_, "\" occurs twice"));
      *seen = true;
    }
    return true;
  }
  bool start_object(size_t) {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == kMetadata) {
      if (has_metadata_) refuse("the metadata occur twice");
      has_metadata_ = true;
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      make_room();
      charge_.take(static_cast<int64_t>(key_.size()), file_);
      entries_.emplace_back().name = std::move(key_);
      has_dtype_ = has_shape_ = has_offsets_ = false;
      place_ = Place::kEntry;
    } else {
      refuse("an object is not expected here");
    }
    return true;
  }
  bool end_object() {
    if (place_ == Place::kEntry && !(has_dtype_ && has_shape_ && has_offsets_))
      refuse("lacks one of dtype, shape and data_offsets");
    place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
    return true;
  }
  bool start_array(size_t) {
    if (place_ == Place::kEntry && key_ == "shape")
      place_ = Place::kShape;
    else if (place_ == Place::kEntry && key_ == "data_offsets")
      place_ = Place::kOffsets;
    else
      refuse("a list is not expected here");
    dims_.clear();
    num_offsets_ = 0;
    return true;
  }
  bool end_array() {
    if (place_ == Place::kShape) {
      int64_t total = 1;
      for (const int64_t size : dims_) total = base::checked_mul(total, size, where());
      entries_.back().shape = base::Shape(dims_);
    } else if (num_offsets_ != 2) {
      refuse("data_offsets are not two numbers");
    }
    place_ = Place::kEntry;
    return true;
  }

 private:
  enum class Place { kStart, kTop, kEntry, kShape, kOffsets, kMetadata, kEnd };

  std::string where() const {
    const bool in_entry =
        place_ == Place::kEntry || place_ == Place::kShape || place_ == Place::kOffsets;
    return in_entry ? base::text(file_, ", tensor \"", printable(entries_.back().name), "\"")
                    : std::string(name_);
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(Status::kFormat, where(), ": ", what);
  }

  void make_room() {
    if (entries_.size() < entries_.capacity()) return;
    const size_t had = entries_.capacity(), capacity = std::max<size_t>(16, had + had / 2);
    charge_.take(static_cast<int64_t>(capacity * sizeof(Entry)), file_);
    entries_.reserve(capacity);
    charge_.give_back(static_cast<int64_t>(had * sizeof(Entry)));
  }

  // Overhead of a map entry with two texts: their objects, three pointers, a color, three blocks.
  static constexpr int64_t kNode = 2 * sizeof(std::string) + 4 * sizeof(void*) + 3 * 16;

  std::string_view file_;
  std::vector<Entry>& entries_;
  std::map<std::string, std::string>& metadata_;
  base::MemoryCharge& charge_;
  Place place_ = Place::kStart;
  std::string key_;
  bool has_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  std::vector<int64_t> dims_;
  int num_offsets_ = 0;
};

// The tensors must cover the data from the first byte to the last, in some order.
void check_ranges(const std::vector<Entry>& entries, int64_t data_size, std::string_view name) {
  std::vector<uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(entries[a].begin, entries[a].end) <
           std::pair(entries[b].begin, entries[b].end);
  });
  int64_t expected = 0;
  for (const uint32_t i : order) {
    const Entry& entry = entries[i];
    const auto refuse = [&](const auto&... what) {
      fail(Status::kFormat, name, ", tensor \"", printable(entry.name), "\": ", what...);
    };
    if (entry.begin != expected)
      refuse("begins at byte ", entry.begin, " of the data, expected ", expected,
             entry.begin > expected ? " (a hole)" : " (an overlap)");
    const int64_t bytes =
        base::checked_mul(entry.shape.num_elements(), entry.type->item_size, name);
    if (entry.end < entry.begin || entry.end - entry.begin != bytes)
      refuse("has the range ", entry.begin, " to ", entry.end, ", expected ", bytes,
             " bytes by shape and type");
    if (entry.end > data_size)
      refuse("ends at byte ", entry.end, " of the data, which has ", data_size);
    expected = entry.end;
  }
  if (expected != data_size)
    fail(Status::kFormat, name, ": ", data_size - expected, " surplus bytes after the last tensor");
}

// `fetch(offset, out)` fills `out` from a file of `size` bytes. It is called for each byte once, in
// order.
template <typename Fetch>
StateFile load(int64_t size, std::string_view name, const Fetch& fetch) {
  if (size < kLengthBytes) fail(Status::kFormat, name, ": is cut: it has ", size, " bytes");
  uint8_t raw[kLengthBytes];
  fetch(0, std::span<uint8_t>(raw));
  const auto length = load_little<uint64_t>(raw, 0);
  if (length > kSafetensorsHeaderLimit || static_cast<int64_t>(length) > size - kLengthBytes)
    fail(Status::kFormat, name, ": announces a header of ", length, " bytes, the file has ", size,
         " and at most ", kSafetensorsHeaderLimit, " are accepted");
  const auto data_offset = kLengthBytes + static_cast<int64_t>(length);

  StateFile state;
  state.ordered = false;
  std::vector<Entry> entries;
  base::MemoryCharge kept;
  {
    base::MemoryCharge read;
    read.take(static_cast<int64_t>(length), name);
    std::vector<uint8_t> header(length);
    fetch(kLengthBytes, std::span<uint8_t>(header));
    const std::string header_name = base::text(name, ", header");
    HeaderHandler handler(name, header_name, entries, state.metadata, kept);
    parse_json_events(header, header_name, handler);
  }
  check_ranges(entries, size - data_offset, name);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].name == entries[i - 1].name)
      fail(Status::kFormat, name, ": holds the tensor \"", printable(entries[i].name), "\" twice");

  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  state.tensors.reserve(entries.size());
  for (Entry& entry : entries) {
    NpyHeader array;
    array.kind = entry.type->kind;
    array.item_size = entry.type->item_size;
    array.shape.assign(entry.shape.dims.begin(), entry.shape.dims.begin() + entry.shape.num_dims);
    int64_t at = data_offset + entry.begin;
    base::Tensor tensor = load_npy_data(
        array, entry.type->name == "BF16" ? U2::kBFloat16 : U2::kInteger,
        base::text(name, ", tensor \"", printable(entry.name), "\""), [&](std::span<uint8_t> out) {
          fetch(at, out);
          at += static_cast<int64_t>(out.size());
        });
    state.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  std::sort(state.tensors.begin(), state.tensors.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return state;
}

// A file that is read from beginning to end while its checksum is computed.
class SummedFile {
 public:
  explicit SummedFile(const std::string& path) : file_(path) {}
  int64_t size() const { return file_.size(); }
  void read(int64_t offset, std::span<uint8_t> out) {
    file_.read_at(offset, out);
    sum_.add(out);
    at_ = offset + static_cast<int64_t>(out.size());
  }
  // Reads the rest.
  FileSum finish() {
    std::vector<uint8_t> piece(1 << 20);
    while (at_ < size())
      read(at_, std::span(piece).first(std::min<int64_t>(std::ssize(piece), size() - at_)));
    return {at_, sum_.finish()};
  }

 private:
  const base::File file_;
  Sha256 sum_;
  int64_t at_ = 0;
};

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF64:
      return "F64";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kI64:
      return "I64";
    case DType::kI32:
      return "I32";
    case DType::kU8:
      return "U8";
    case DType::kBool:
      break;
  }
  return "BOOL";
}

}  // namespace

StateFile read_safetensors(const std::string& path) {
  const base::File file(path);
  return load(file.size(), path,
              [&](int64_t offset, std::span<uint8_t> out) { file.read_at(offset, out); });
}

StateFile read_checked_safetensors(const std::string& path, const FileSum& written) {
  SummedFile file(path);
  check_bytes(path, file.size(),
              written);  // first, since the file may be much longer than the written one
  try {
    StateFile state = load(file.size(), path,
                           [&](int64_t offset, std::span<uint8_t> out) { file.read(offset, out); });
    check_sum(path, file.finish(), written);
    return state;
  } catch (const base::Error& error) {
    const bool of_system = error.status() == Status::kIo || error.status() == Status::kNoMemory;
    if (!of_system) check_sum(path, file.finish(), written);
    throw;
  }
}

StateFile parse_safetensors(std::span<const uint8_t> bytes, std::string_view name) {
  return load(static_cast<int64_t>(bytes.size()), name,
              [&](int64_t offset, std::span<uint8_t> out) {
                std::copy_n(bytes.begin() + offset, out.size(), out.begin());
              });
}

void write_safetensors(const std::string& path, const StateFile& state) {
  check_names(state, path);
  if (state.find(kMetadata))
    fail(Status::kInvalidArgument, path, ": a tensor must not be named \"", kMetadata, "\"");
  for (const auto& [key, value] : state.metadata)
    if (!is_utf8(key) || !is_utf8(value))
      fail(Status::kInvalidArgument, path, ": the metadata \"", printable(key), "\" are not UTF-8");
  std::vector<const std::pair<std::string, base::Tensor>*> order;
  order.reserve(state.tensors.size());
  for (const auto& named : state.tensors) order.push_back(&named);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const int64_t size_a = base::dtype_size(a->second.dtype());
    const int64_t size_b = base::dtype_size(b->second.dtype());
    return size_a != size_b ? size_a > size_b : a->first < b->first;
  });

  JsonWriter json;
  json.begin_object();
  if (!state.metadata.empty()) {
    json.key(kMetadata).begin_object();
    for (const auto& [key, value] : state.metadata) json.member(key, value);
    json.end_object();
  }
  int64_t offset = 0;
  for (const auto* named : order) {
    const base::TensorView& view = named->second.view();
    const int64_t end = offset + view.num_bytes();
    json.key(named->first).begin_object().member("dtype", type_name(view.dtype));
    json.key("shape").begin_list();
    for (int i = 0; i < view.shape.num_dims; ++i) json.value(view.shape[i]);
    json.end_list();
    json.key("data_offsets").begin_list().value(offset).value(end).end_list().end_object();
    offset = end;
  }
  std::string header = json.end_object().finish();
  header.append((kLengthBytes - header.size() % kLengthBytes) % kLengthBytes, ' ');
  if (static_cast<int64_t>(header.size()) > kSafetensorsHeaderLimit)
    fail(Status::kUnsupported, path, ": the header would have ", header.size(), " bytes, at most ",
         kSafetensorsHeaderLimit, " are allowed");

  base::AtomicFile file(path);
  std::string length;
  append_little<uint64_t>(length, header.size());
  file.write(length);
  file.write(header);
  for (const auto* named : order) {
    const base::TensorView& view = named->second.view();
    file.write({static_cast<const uint8_t*>(view.data), static_cast<size_t>(view.num_bytes())});
  }
  file.commit();
}

}  // namespace gnnmg::io
