#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/memory_charge.h"
#include "io/bytes.h"
#include "io/npy_load.h"
#include "io/optimizer_pth.h"
#include "io/pickle.h"
#include "io/pth_arrays.h"
#include "io/state_file.h"
#include "io/zip.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr std::string_view kRebuild = "torch._utils";
constexpr int64_t kMaxPickle = int64_t{64} << 20;
constexpr int64_t kNewestFormat = 10;  // of PyTorch 2.11
// Values of the pickle that no tensor of the file accounts for: options, histories, counters.
constexpr int64_t kFreeValues = int64_t{1} << 20;
constexpr int64_t kValuesPerRecord = 64;
constexpr int64_t kFreeCopies = int64_t{1} << 20;

struct StorageType {
  std::string_view name;
  NpyKind kind;
  int32_t item_size;
  U2 u2 = U2::kInteger;
};
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

const StorageType* find_storage_type(std::string_view name) {
  const auto* found = std::find_if(std::begin(kStorageTypes), std::end(kStorageTypes),
                                   [&](const StorageType& type) { return type.name == name; });
  return found == std::end(kStorageTypes) ? nullptr : found;
}

bool accepted(std::string_view module, std::string_view name) {
  if (module == "collections") return name == "OrderedDict";
  if (module == kRebuild) return name == "_rebuild_tensor_v2" || name == "_rebuild_parameter";
  if (module == "torch") return name == "Size" || find_storage_type(name);
  return false;
}

// The entries of a dict of either kind, or null.
const PickleDict* as_dict(const PickleRef& value) {
  if (const auto* object = value->as<PickleObject>())
    return object->is("collections", "OrderedDict") ? &object->items : nullptr;
  return value->as<PickleDict>();
}

bool is_tensor(const PickleRef& value) {
  const auto* object = value->as<PickleObject>();
  return object && object->module == kRebuild;
}

bool is_state_dict(const PickleRef& value) {
  const PickleDict* dict = as_dict(value);
  return dict && std::all_of(dict->items.begin(), dict->items.end(),
                             [](const auto& item) { return is_tensor(item.second); });
}

int64_t num_tensors(const PickleRef& value) {
  const PickleDict* dict = as_dict(value);
  return !dict ? 0 : std::count_if(dict->items.begin(), dict->items.end(), [](const auto& item) {
    return is_tensor(item.second);
  });
}

// What a value is, as Python calls it.
std::string kind_of(const PickleRef& value) {
  if (value->as<PickleNone>()) return "None";
  if (value->as<bool>()) return "a bool";
  if (value->as<int64_t>()) return "an int";
  if (value->as<double>()) return "a float";
  if (value->as_text()) return "a str";
  if (value->as<PickleList>()) return "a list";
  if (value->as<PickleTuple>()) return "a tuple";
  if (as_dict(value)) return "a dict";
  const auto* object = value->as<PickleObject>();
  const auto* global = value->as<PickleGlobal>();
  if (object) return base::text("a ", object->module, ".", object->name);
  return global ? base::text("the name ", global->module, ".", global->name) : "a storage";
}

// What state_dict() of an optimizer gives.
bool is_optimizer(const PickleRef& value) {
  const PickleDict* dict = as_dict(value);
  const auto has = [dict](std::string_view name) {
    return std::any_of(dict->items.begin(), dict->items.end(), [name](const auto& item) {
      const auto* key = item.first->as_text();
      return key && *key == name;
    });
  };
  return dict && has("state") && has("param_groups");
}

// A key as a part of a path, where it can be one.
std::optional<std::string> key_text(const PickleRef& key) {
  if (const auto* text = key->as_text()) return std::string(*text);
  if (const int64_t* number = key->as<int64_t>()) return std::to_string(*number);
  return std::nullopt;
}

class PthReader {
 public:
  explicit PthReader(const ZipReader& archive) : archive_(archive), name_(archive.name()) {
    find_folder();
    const std::string version = small_record("version");
    const std::string order = archive_.find(folder_ + "byteorder") ? small_record("byteorder") : "";
    if (!order.empty() && order != "little")
      fail(Status::kUnsupported, name_, ": holds data of byte order \"", printable(order),
           "\", only little is supported");
    const std::string digits = version.substr(0, version.find('\n'));
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      fail(Status::kFormat, name_, ": its version \"", printable(version), "\" is no number");
    if (std::stoll(digits) > kNewestFormat)
      fail(Status::kVersion, name_, ": has format version ", digits, ", the newest known is ",
           kNewestFormat);
  }

  StateFile read(std::string_view path_in_file) {
    const Pickle pickle = unpickle();
    if (path_in_file.empty()) return build(*as_dict(guess(pickle.root)));
    if (const PickleRef found = walk(pickle.root, path_in_file)) return build(*as_dict(found));
    return read_below(pickle.root, path_in_file);
  }

  std::string find_optimizer() const {
    const Pickle pickle = unpickle();
    const PickleDict* dict = as_dict(pickle.root);
    if (!dict || is_optimizer(pickle.root)) return {};
    std::string found, names;
    int64_t count = 0;
    for (const auto& [key, value] : dict->items) {
      const std::optional<std::string> name = key_text(key);
      if (!name || !is_optimizer(value)) continue;
      found = *name;
      if (count++ < 8) names += base::text(names.empty() ? "" : ", ", printable(found, 40));
    }
    if (count > 1)
      refuse(base::text(": holds ", count, " states of optimizers, expected one: ", names));
    return found;
  }

  using Names = std::function<bool(std::string_view module, std::string_view name)>;
  using ArrayOf = std::function<Tensor(const PickleValue& value, const std::string& where)>;
  std::vector<std::pair<std::string, Tensor>> arrays(const Names& accept, const ArrayOf& array_of) {
    const Pickle pickle = unpickle([&](std::string_view module, std::string_view name) {
      return accepted(module, name) || accept(module, name);
    });
    const PickleDict* dict = as_dict(pickle.root);
    if (!dict) refuse(base::text(": holds ", kind_of(pickle.root), ", expected a dict"));
    std::vector<std::pair<std::string, Tensor>> all;
    for (const auto& [key, value] : dict->items) {
      const std::optional<std::string> name = key_text(key);
      if (!name) refuse(": a key of the dict is no text");
      where_ = base::text(", tensor \"", printable(*name), "\": ");
      all.emplace_back(*name,
                       is_tensor(value)
                           ? tensor_of(value)
                           : array_of(*value, base::text(name_, ", \"", printable(*name), "\"")));
    }
    return all;
  }

  std::vector<std::string> keys(std::string_view path) const {
    const Pickle pickle = unpickle();
    PickleRef found;
    const PickleDict* dict = descend(pickle.root, path, found) ? as_dict(found) : nullptr;
    std::vector<std::string> all;
    if (dict)
      for (const auto& [key, value] : dict->items) all.push_back(key_text(key).value_or("?"));
    return all;
  }

 private:
  struct Pickle {
    base::MemoryCharge charge;
    std::vector<uint8_t> bytes;  // what the texts are views of
    PickleRef root;
  };
  Pickle unpickle(const Names& accept = accepted) const {
    const ZipEntry& entry = record("data.pkl");
    PickleOptions options;
    options.accept = accept;
    options.max_bytes = kMaxPickle;
    options.max_values =
        kFreeValues + kValuesPerRecord * static_cast<int64_t>(archive_.entries().size());
    if (entry.size > kMaxPickle)
      fail(Status::kFormat, name_, ": data.pkl has ", entry.size, " bytes, at most ", kMaxPickle,
           " are accepted");
    Pickle pickle;
    pickle.charge.take(entry.size, name_);
    pickle.bytes = archive_.read(entry);
    pickle.root = parse_pickle(pickle.bytes, options, name_ + ", data.pkl");
    return pickle;
  }

  // What one storage of the file became.
  struct Storage {
    const StorageType* type = nullptr;
    Tensor elements;  // one dimension
  };

  [[noreturn]] void refuse(std::string_view what) const { fail(Status::kFormat, name_, what); }

  // All records lie in one top folder.
  void find_folder() {
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
  const ZipEntry& record(const std::string& name) const {
    const ZipEntry* entry = archive_.find(folder_ + name);
    if (!entry) refuse(base::text(": has no record \"", printable(name), "\""));
    return *entry;
  }
  std::string small_record(const std::string& name) const {
    const ZipEntry& entry = record(name);
    if (entry.size > 64) refuse(base::text(": the record \"", name, "\" is too long"));
    return std::string(as_text(archive_.read(entry)));
  }

  // Dicts of tensors, on the first level that has any.
  struct StateDicts {
    std::vector<PickleRef> found;
    std::string names;  // of the first eight, as paths
  };
  static StateDicts state_dicts_in(const PickleRef& root) {
    StateDicts all;
    std::vector<std::pair<std::string, PickleRef>> level{{"", root}}, next;
    for (; !level.empty() && all.found.empty(); level = std::exchange(next, {}))
      for (const auto& [path, value] : level) {
        if (is_optimizer(value)) continue;
        for (const auto& [key, item] : as_dict(value)->items) {
          const PickleDict* dict = as_dict(item);
          if (!dict || dict->items.empty()) continue;
          const std::string own =
              base::text(path, path.empty() ? "" : ".", printable(key_text(key).value_or("?"), 40));
          if (!is_state_dict(item)) {
            next.emplace_back(own, item);
            continue;
          }
          all.found.push_back(item);
          if (all.found.size() <= 8) all.names += (all.names.empty() ? "" : ", ") + own;
        }
      }
    return all;
  }

  PickleRef guess(const PickleRef& root) const {
    if (is_state_dict(root)) return root;
    const PickleDict* dict = as_dict(root);
    if (!dict) refuse(": holds no dict");
    const StateDicts all = state_dicts_in(root);
    if (all.found.empty()) {
      refuse_mixed(root);
      for (const auto& [key, value] : dict->items) refuse_mixed(value);
      refuse(": holds no dict of tensors");
    }
    if (all.found.size() > 1)
      refuse(base::text(": holds ", all.found.size(), " dicts of tensors, say which: ", all.names));
    return all.found[0];
  }

  // Names the first entry that is no tensor of a dict that has tensors.
  void refuse_mixed(const PickleRef& value) const {
    if (num_tensors(value) == 0) return;
    for (const auto& [key, item] : as_dict(value)->items)
      if (!is_tensor(item))
        refuse(base::text(": the entry \"", printable(key_text(key).value_or("?")),
                          "\" of the state dict is ", kind_of(item), ", expected a tensor"));
  }

  // The state dict at a dotted path, or null; keys may hold dots themselves.
  PickleRef walk(const PickleRef& root, std::string_view path) const {
    PickleRef found;
    if (!descend(root, path, found) || is_state_dict(found)) return found;
    refuse_mixed(found);
    refuse(base::text(": what is at \"", printable(path), "\" is ",
                      as_dict(found) ? "" : kind_of(found) + ", which is ", "no dict of tensors"));
  }
  // The tensors of a state dict whose keys begin with what is left of the path: the dict is at the
  // first part of it, or the only one.
  StateFile read_below(const PickleRef& root, std::string_view path) {
    for (size_t dot = path.rfind('.'); dot != std::string_view::npos && dot > 0;
         dot = path.rfind('.', dot - 1)) {
      PickleRef found;
      if (descend(root, path.substr(0, dot), found) && is_state_dict(found))
        return below(build(*as_dict(found)), path.substr(dot + 1), name_);
    }
    if (is_state_dict(root)) return below(build(*as_dict(root)), path, name_);
    StateFile none;
    if (!as_dict(root)) return below(none, path, name_);
    const StateDicts all = state_dicts_in(root);
    return below(all.found.size() == 1 ? build(*as_dict(all.found[0])) : none, path, name_);
  }
  bool descend(const PickleRef& value, std::string_view path, PickleRef& found) const {
    const PickleDict* dict = as_dict(value);
    if (!dict) return false;
    for (const auto& [key, item] : dict->items) {
      const std::optional<std::string> text = key_text(key);
      if (!text || !path.starts_with(*text)) continue;
      if (path.size() == text->size()) {
        found = item;
        return true;
      }
      if (path[text->size()] == '.' && descend(item, path.substr(text->size() + 1), found))
        return true;
    }
    return false;
  }

  StateFile build(const PickleDict& dict) {
    StateFile state;
    std::set<std::string_view> seen;
    state.tensors.reserve(dict.items.size());
    for (const auto& [key, value] : dict.items) {
      const auto* text = key->as_text();
      if (!text || !is_utf8(*text)) refuse(": a key of the state dict is no text");
      if (!seen.insert(*text).second)
        refuse(base::text(": the key \"", printable(*text), "\" occurs twice"));
      where_ = base::text(", tensor \"", printable(*text), "\": ");
      state.tensors.emplace_back(std::string(*text), tensor_of(value));
    }
    return state;
  }

  [[noreturn]] void refuse_tensor(std::string_view what) const {
    refuse(where_ + std::string(what));
  }

  const std::vector<PickleRef>& arguments_of(const PickleObject& object, size_t count) const {
    const auto& items = object.arguments->as<PickleTuple>()->items;
    if (items.size() != count)
      refuse_tensor(base::text(object.name, " has ", items.size(), " arguments, expected ", count));
    return items;
  }
  int64_t int_of(const PickleRef& value, std::string_view what) const {
    const int64_t* number = value->as<int64_t>();
    if (!number || *number < 0) refuse_tensor(base::text("its ", what, " is no size"));
    return *number;
  }
  std::vector<int64_t> ints_of(PickleRef value, std::string_view what) const {
    if (const auto* object = value->as<PickleObject>(); object && object->is("torch", "Size"))
      value = arguments_of(*object, 1)[0];
    const auto* tuple = value->as<PickleTuple>();
    if (!tuple) refuse_tensor(base::text("its ", what, " is no tuple"));
    if (tuple->items.size() > base::kMaxDims)
      fail(Status::kUnsupported, name_, where_, "has ", tuple->items.size(),
           " dimensions, at most ", base::kMaxDims, " are supported");
    std::vector<int64_t> numbers;
    for (const PickleRef& item : tuple->items) numbers.push_back(int_of(item, what));
    return numbers;
  }

  Tensor tensor_of(const PickleRef& value) {
    const PickleObject* object = value->as<PickleObject>();
    if (object && object->is(kRebuild, "_rebuild_parameter"))
      object = arguments_of(*object, 3)[0]->as<PickleObject>();
    if (!object || !object->is(kRebuild, "_rebuild_tensor_v2")) refuse_tensor("is no tensor");
    const auto& arguments = arguments_of(*object, 6);
    const Storage& storage = storage_of(arguments[0]);
    const int64_t offset = int_of(arguments[1], "offset");
    const std::vector<int64_t> sizes = ints_of(arguments[2], "size");
    const std::vector<int64_t> strides = ints_of(arguments[3], "stride");
    if (sizes.size() != strides.size()) refuse_tensor("its size and stride differ in length");
    const PickleDict* hooks = as_dict(arguments[5]);
    if (!hooks || !hooks->items.empty()) refuse_tensor("it has hooks");
    return view_of(storage.elements, offset, sizes, strides);
  }

  const Storage& storage_of(const PickleRef& value) {
    const auto* persistent = value->as<PicklePersistent>();
    const auto* id = persistent ? persistent->id->as<PickleTuple>() : nullptr;
    if (!id || id->items.size() != 5) refuse_tensor("it has no storage");
    const auto* kind = id->items[0]->as_text();
    const auto* global = id->items[1]->as<PickleGlobal>();
    const auto* key = id->items[2]->as_text();
    const StorageType* type =
        global && global->module == "torch" ? find_storage_type(global->name) : nullptr;
    if (!kind || *kind != "storage" || !type || !key || !id->items[3]->as_text())
      refuse_tensor("its storage is no known one");
    const int64_t count = int_of(id->items[4], "storage length");

    Storage& storage = storages_[std::string(*key)];
    if (storage.type) {
      if (storage.type != type || storage.elements.rows() != count)
        refuse_tensor(base::text("shares the storage \"", printable(*key),
                                 "\" but names another type or length"));
      return storage;
    }
    const ZipEntry& entry = record(base::text("data/", *key));
    const int64_t bytes = base::checked_mul(count, type->item_size, name_ + where_ + "storage");
    if (entry.size != bytes)
      refuse_tensor(base::text("its storage has ", count, " elements of ", type->item_size,
                               " bytes, the record \"", printable(entry.name), "\" ", entry.size,
                               " bytes"));
    NpyHeader array;
    array.kind = type->kind;
    array.item_size = type->item_size;
    array.shape = {count};
    ZipStream stream(archive_, entry);
    storage.elements =
        load_npy_data(array, type->u2, name_ + ", record \"" + printable(entry.name) + "\"",
                      [&](std::span<uint8_t> out) { stream.read(out); });
    stream.finish();
    storage.type = type;
    return storage;
  }

  Tensor view_of(const Tensor& elements, int64_t offset, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides) {
    int64_t total = 1;
    for (const int64_t size : sizes)
      total = base::checked_mul(total, size, name_ + where_ + "size");
    const base::Shape shape(sizes);
    const int64_t item = base::dtype_size(elements.dtype());
    auto* const start = static_cast<uint8_t*>(elements.data());
    if (total == 0) return Tensor({start, elements.dtype(), shape}, elements.owner());

    int64_t last = offset;
    bool contiguous = true;
    int64_t packed = 1;  // the stride that a packed tensor would have
    for (size_t i = sizes.size(); i-- > 0;) {
      last = base::checked_add(last, base::checked_mul(sizes[i] - 1, strides[i], name_ + where_),
                               name_ + where_);
      contiguous &= sizes[i] == 1 || strides[i] == packed;
      packed *= sizes[i];
    }
    if (last >= elements.rows())
      refuse_tensor(
          base::text("reaches element ", last, " of its storage, which has ", elements.rows()));
    if (contiguous)
      return Tensor({start + offset * item, elements.dtype(), shape}, elements.owner());

    copied_ = base::checked_add(copied_, base::checked_mul(total, item, name_ + where_), name_);
    if (copied_ > archive_.num_bytes() + kFreeCopies)
      refuse_tensor("its repeated elements would take more memory than the file accounts for");
    Tensor copy = Tensor::empty(elements.dtype(), shape);
    std::array<int64_t, base::kMaxDims> size{1, 1, 1, 1}, stride{};
    const size_t skip = base::kMaxDims - sizes.size();
    std::copy(sizes.begin(), sizes.end(), size.begin() + skip);
    std::copy(strides.begin(), strides.end(), stride.begin() + skip);
    auto* to = static_cast<uint8_t*>(copy.data());
    for (int64_t i = 0; i < size[0]; ++i)
      for (int64_t j = 0; j < size[1]; ++j)
        for (int64_t k = 0; k < size[2]; ++k)
          for (int64_t l = 0; l < size[3]; ++l, to += item)
            std::memcpy(
                to,
                start +
                    (offset + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3]) * item,
                item);
    return copy;
  }

  const ZipReader& archive_;
  const std::string& name_;
  std::string folder_;  // with its slash
  std::string where_;   // ", tensor "..": " while one is built
  std::map<std::string, Storage> storages_;
  int64_t copied_ = 0;  // bytes of copies of views
};

void refuse_other_layouts(std::span<const uint8_t> start, std::string_view name) {
  constexpr std::string_view kLegacy = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  if (as_text(start).starts_with(kLegacy))
    fail(Status::kUnsupported, name,
         ": has the layout of PyTorch before 1.6, which is not supported; load it with a newer "
         "PyTorch and save it again");
}

ZipReader open_archive(const std::string& path) {
  uint8_t start[16];
  {
    const base::File file(path);
    refuse_other_layouts(std::span(start).first(file.read_some(0, start)), path);
  }
  return ZipReader::open(path);
}

}  // namespace

StateFile read_pth(const std::string& path, std::string_view path_in_file) {
  return PthReader(open_archive(path)).read(path_in_file);
}

std::string find_optimizer_pth(const std::string& path) {
  return PthReader(open_archive(path)).find_optimizer();
}

std::vector<std::string> keys_of_pth(const std::string& path, std::string_view path_in_file) {
  return PthReader(open_archive(path)).keys(path_in_file);
}

std::vector<std::pair<std::string, Tensor>> read_pth_arrays(
    const std::string& path,
    const std::function<bool(std::string_view module, std::string_view name)>& accept,
    const std::function<Tensor(const PickleValue& value, const std::string& where)>& array_of) {
  return PthReader(open_archive(path)).arrays(accept, array_of);
}

StateFile parse_pth(std::span<const uint8_t> bytes, std::string_view name,
                    std::string_view path_in_file) {
  refuse_other_layouts(bytes, name);
  const ZipReader archive(bytes, std::string(name));
  return PthReader(archive).read(path_in_file);
}

}  // namespace gnnmg::io
