#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "io/bytes.h"
#include "io/optimizer_pth.h"
#include "io/pickle.h"
#include "io/pickle_expect.h"
#include "io/pickled_array.h"
#include "io/pth_arrays.h"
#include "io/pth_file.h"
#include "io/state_file.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr std::string_view kRebuild = "torch._utils";
constexpr int64_t kFreeCopies = int64_t{1} << 20;
constexpr size_t kMostPassedOver = 64;

bool accepted(std::string_view module, std::string_view name) {
  if (module == "collections") return name == "OrderedDict" || name == "defaultdict";
  if (module == kRebuild)
    return name == "_rebuild_tensor_v2" || name == "_rebuild_tensor" ||
           name == "_rebuild_parameter";
  if (module == "torch") return name == "Size" || find_storage_type(name);
  return accept_numpy_globals(module, name);
}

// The entries of a dict of any kind, or null.
const PickleDict* as_dict(const PickleRef& value) {
  if (const auto* object = value->as<PickleObject>())
    return object->module == "collections" ? &object->items : nullptr;
  return value->as<PickleDict>();
}

// True for an unsupported tensor: sparse, quantized, of a subclass.
bool is_other_tensor(const PickleRef& value) {
  const auto* opaque = value->as<PickleOpaque>();
  return opaque && opaque->module.starts_with("torch.") && opaque->name.starts_with("_rebuild");
}

bool is_torch_tensor(const PickleRef& value) {
  const auto* object = value->as<PickleObject>();
  return (object && object->module == kRebuild) || is_other_tensor(value);
}

// True if one of torch's tensors lies in the dicts and lists of a value.
bool holds_torch_tensors(const PickleRef& value) {
  if (const PickleDict* dict = as_dict(value))
    return std::ranges::any_of(dict->items,
                               [](const auto& item) { return holds_torch_tensors(item.second); });
  if (const auto* list = value->as<PickleList>())
    return std::ranges::any_of(list->items, holds_torch_tensors);
  return is_torch_tensor(value);
}

// A module or an optimizer may have no tensor, as SGD without a momentum.
bool is_none(const PickleRef& value) { return value->as<PickleNone>(); }

// Python's name for the type of a value; that of NumPy's arrays and of all dicts.
std::string type_of(const PickleRef& value) {
  if (as_dict(value)) return "a dict";
  return is_pickled_array(*value) ? "a NumPy array" : io::kind_of(*value);
}

// True for the result of an optimizer's state_dict().
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

// A key as a part of a path, if it can be one.
std::optional<std::string> key_text(const PickleRef& key) {
  if (const auto* text = key->as_text()) return std::string(*text);
  if (const int64_t* number = key->as<int64_t>()) return std::to_string(*number);
  return std::nullopt;
}

// Returns the items of a list or a tuple, or null.
const std::vector<PickleRef>* as_sequence(const PickleRef& value) {
  if (const auto* list = value->as<PickleList>()) return &list->items;
  const auto* tuple = value->as<PickleTuple>();
  return tuple ? &tuple->items : nullptr;
}

// Calls take(key, value) for the entries of a dict, and for the items of a list or a tuple with
// their positions, until it returns true. The key is empty if it can be no part of a path.
template <typename F>
bool any_entry(const PickleRef& value, F&& take) {
  if (const auto* items = as_sequence(value)) {
    for (size_t i = 0; i < items->size(); ++i)
      if (take(std::to_string(i), (*items)[i])) return true;
  } else if (const PickleDict* dict = as_dict(value)) {
    for (const auto& [key, item] : dict->items)
      if (take(key_text(key).value_or(""), item)) return true;
  }
  return false;
}

// True for the key of a module's extra state, which may be a dict of tensors itself.
bool is_extra_state(std::string_view key) {
  return key == "_extra_state" || key.ends_with("._extra_state");
}

class PthReader {
 public:
  explicit PthReader(std::unique_ptr<PthFile> file)
      : file_(std::move(file)), name_(file_->name()) {}

  StateFile read(std::string_view path_in_file) {
    StateFile state = read_state(path_in_file);
    state.metadata = file_->metadata();
    return state;
  }

  std::string find_optimizer() {
    const PthPickle pickle = unpickle();
    const PickleDict* dict = as_dict(pickle.root);
    if (!dict || is_optimizer(pickle.root)) return {};
    std::string found, names;
    int64_t count = 0;
    const auto look_at = [&](const std::string& name, const PickleRef& value) {
      if (!is_optimizer(value)) return;
      found = name;
      if (count++ < 8) names += base::text(names.empty() ? "" : ", ", printable(found, 40));
    };
    for (const auto& [key, value] : dict->items) {
      const std::optional<std::string> name = key_text(key);
      if (!name) continue;
      look_at(*name, value);
      if (const auto* list = value->as<PickleList>())  // Lightning's form
        for (size_t i = 0; i < list->items.size(); ++i)
          look_at(base::text(*name, ".", i), list->items[i]);
    }
    if (count > 1)
      refuse(base::text(": holds ", count, " states of optimizers, expected one: ", names));
    return found;
  }

  using ArrayOf = std::function<Tensor(const PickleValue& value, const std::string& where)>;
  std::vector<std::pair<std::string, Tensor>> arrays(const PickleNames& accept,
                                                     const ArrayOf& array_of) {
    const PthPickle pickle =
        file_->unpickle({.accept = [&](std::string_view module, std::string_view name) {
          return accepted(module, name) || accept(module, name);
        }});
    const PickleDict* dict = as_dict(pickle.root);
    if (!dict) refuse(base::text(": holds ", type_of(pickle.root), ", expected a dict"));
    std::vector<std::pair<std::string, Tensor>> all;
    for (const auto& [key, value] : dict->items) {
      const std::optional<std::string> name = key_text(key);
      if (!name) refuse(": a key of the dict is no text");
      where_ = base::text(", tensor \"", printable(*name), "\": ");
      all.emplace_back(*name,
                       is_torch_tensor(value)
                           ? tensor_of(value)
                           : array_of(*value, base::text(name_, ", \"", printable(*name), "\"")));
    }
    return all;
  }

  std::vector<std::string> keys(std::string_view path) {
    const PthPickle pickle = unpickle();
    PickleRef found;
    const PickleDict* dict = descend(pickle.root, path, found) ? as_dict(found) : nullptr;
    std::vector<std::string> all;
    if (dict)
      for (const auto& [key, value] : dict->items) all.push_back(key_text(key).value_or("?"));
    return all;
  }

 private:
  // Objects of a checkpoint other than tensors are ignored: they become opaque.
  PthPickle unpickle() { return file_->unpickle({.accept = accepted, .opaque_others = true}); }

  StateFile read_state(std::string_view path_in_file) {
    const PthPickle pickle = unpickle();
    arrays_ = !holds_torch_tensors(pickle.root);
    if (path_in_file.empty()) return build(*as_dict(guess(pickle.root)));
    if (const PickleRef found = walk(pickle.root, path_in_file)) return build(*as_dict(found));
    return read_below(pickle.root, path_in_file);
  }

  // A file without any of torch's tensors may hold NumPy's arrays in their place.
  bool is_tensor(const PickleRef& value) const {
    return is_torch_tensor(value) || (arrays_ && is_array_of_numbers(*value));
  }
  bool is_state_dict(const PickleRef& value) const {
    const PickleDict* dict = as_dict(value);
    return dict && std::ranges::all_of(dict->items, [this](const auto& item) {
             return is_tensor(item.second) || is_none(item.second);
           });
  }
  int64_t num_tensors(const PickleRef& value) const {
    const PickleDict* dict = as_dict(value);
    if (!dict) return 0;
    return std::ranges::count_if(dict->items,
                                 [this](const auto& item) { return is_tensor(item.second); });
  }
  bool has_tensors(const PickleRef& value) const { return num_tensors(value) > 0; }
  bool has_tensors_alone(const PickleRef& value) const {
    return has_tensors(value) && is_state_dict(value);
  }

  // One storage of the file, loaded.
  struct Storage {
    const StorageType* type = nullptr;
    Tensor elements;  // one dimension
  };

  [[noreturn]] void refuse(std::string_view what) const { fail(Status::kFormat, name_, what); }

  // Dicts that hold tensors.
  struct StateDicts {
    std::vector<PickleRef> found;
    std::string names;  // paths of the first eight
    int64_t num_tensors = 0;
  };
  // On the first level that has any such.
  using Test = bool (PthReader::*)(const PickleRef&) const;
  StateDicts dicts_in(const PickleRef& root, Test is_one) const {
    StateDicts all;
    std::vector<std::pair<std::string, PickleRef>> level{{"", root}}, next;
    for (; !level.empty() && all.found.empty(); level = std::exchange(next, {}))
      for (const auto& [path, value] : level) {
        if (is_optimizer(value)) continue;
        const std::string& before = path;
        any_entry(value, [&](const std::string& key, const PickleRef& item) {
          const PickleDict* dict = as_dict(item);
          if (!dict || dict->items.empty() || is_extra_state(key)) return false;
          const std::string own =
              base::text(before, before.empty() ? "" : ".", key.empty() ? "?" : printable(key, 40));
          if (!(this->*is_one)(item)) {
            next.emplace_back(own, item);
            return false;
          }
          all.found.push_back(item);
          all.num_tensors += num_tensors(item);
          if (all.found.size() <= 8) all.names += (all.names.empty() ? "" : ", ") + own;
          return false;
        });
      }
    return all;
  }
  // Prefers dicts of tensors alone to those that hold other values too.
  StateDicts state_dicts_in(const PickleRef& root) const {
    StateDicts pure = dicts_in(root, &PthReader::has_tensors_alone);
    return pure.found.empty() ? dicts_in(root, &PthReader::has_tensors) : pure;
  }

  PickleRef guess(const PickleRef& root) const {
    if (is_state_dict(root)) return root;
    const PickleDict* dict = as_dict(root);
    if (!dict && !as_sequence(root)) refuse(base::text(": holds ", type_of(root), kExpected));
    const StateDicts all = state_dicts_in(root);
    if (num_tensors(root) > all.num_tensors) return root;
    if (all.found.empty() && dict) refuse_without_tensors(*dict);
    if (all.found.empty()) refuse(base::text(": holds ", type_of(root), kExpected));
    if (all.found.size() > 1)
      refuse(base::text(": holds ", all.found.size(), " dicts of tensors, say which: ", all.names));
    return all.found[0];
  }

  static constexpr std::string_view kExpected =
      ", expected a dict of tensors, which torch.save(model.state_dict(), path) writes";
  // The error lists the entries, so a user sees that a whole model was saved instead of its
  // tensors.
  [[noreturn]] void refuse_without_tensors(const PickleDict& dict) const {
    constexpr size_t kMost = 4;
    std::string entries;
    for (size_t i = 0; i < std::min(dict.items.size(), kMost); ++i)
      entries +=
          base::text(i ? ", " : "", printable(key_text(dict.items[i].first).value_or("?"), 40),
                     " (", type_of(dict.items[i].second), ")");
    if (dict.items.size() > kMost)
      entries += base::text(" and ", dict.items.size() - kMost, " more");
    refuse(base::text(": holds no dict of tensors, but ", entries, kExpected));
  }

  // The state dict at a dotted path, or null; keys may hold dots themselves.
  PickleRef walk(const PickleRef& root, std::string_view path) const {
    PickleRef found;
    if (!descend(root, path, found) || is_state_dict(found) || has_tensors(found)) return found;
    refuse(base::text(": what is at \"", printable(path), "\" is ",
                      as_dict(found) ? "" : type_of(found) + ", which is ", "no dict of tensors"));
  }
  // The tensors of a state dict whose keys begin with the rest of the path. The first part of the
  // path leads to the dict, or the file has only one dict.
  StateFile read_below(const PickleRef& root, std::string_view path) {
    for (size_t dot = path.rfind('.'); dot != std::string_view::npos && dot > 0;
         dot = path.rfind('.', dot - 1)) {
      PickleRef found;
      if (descend(root, path.substr(0, dot), found) && has_tensors(found))
        return below(build(*as_dict(found)), path.substr(dot + 1), name_);
    }
    StateFile none;
    if (!as_dict(root) && !as_sequence(root)) return below(none, path, name_);
    const StateDicts all = state_dicts_in(root);
    if (num_tensors(root) > all.num_tensors) return below(build(*as_dict(root)), path, name_);
    return below(all.found.size() == 1 ? build(*as_dict(all.found[0])) : none, path, name_);
  }
  bool descend(const PickleRef& value, std::string_view path, PickleRef& found) const {
    return any_entry(value, [&](const std::string& key, const PickleRef& item) {
      if (key.empty() || !path.starts_with(key)) return false;
      if (path.size() == key.size()) {
        found = item;
        return true;
      }
      return path[key.size()] == '.' && descend(item, path.substr(key.size() + 1), found);
    });
  }

  StateFile build(const PickleDict& dict) {
    StateFile state;
    std::set<std::string_view> seen;
    state.tensors.reserve(dict.items.size());
    for (const auto& [key, value] : dict.items) {
      if (is_none(value)) continue;
      if (!is_tensor(value)) {
        if (state.passed_over.size() == kMostPassedOver) continue;
        state.passed_over.push_back(
            base::text(printable(key_text(key).value_or("?"), 80), " (", type_of(value), ")"));
        continue;
      }
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
    numbers.reserve(tuple->items.size());
    for (const PickleRef& item : tuple->items) numbers.push_back(int_of(item, what));
    return numbers;
  }

  Tensor tensor_of(const PickleRef& value) {
    if (is_pickled_array(*value)) {
      const std::string_view where(where_);
      return pickled_array(*value, base::text(name_, where.substr(0, where.rfind(':'))));
    }
    if (is_other_tensor(value))
      refuse_tensor(base::text("is ", type_of(value),
                               ", which is not supported: save a plain dense tensor of its "
                               "numbers"));
    const PickleObject* object = value->as<PickleObject>();
    if (object && object->is(kRebuild, "_rebuild_parameter"))
      object = arguments_of(*object, 3)[0]->as<PickleObject>();
    const bool first = object && object->is(kRebuild, "_rebuild_tensor");  // PyTorch before 0.4
    if (!first && (!object || !object->is(kRebuild, "_rebuild_tensor_v2")))
      refuse_tensor("is no tensor");
    const auto& arguments = arguments_of(*object, first ? 4 : 6);
    const Storage& storage = storage_of(arguments[0]);
    const int64_t offset = int_of(arguments[1], "offset");
    const std::vector<int64_t> sizes = ints_of(arguments[2], "size");
    const std::vector<int64_t> strides = ints_of(arguments[3], "stride");
    if (sizes.size() != strides.size()) refuse_tensor("its size and stride differ in length");
    const PickleDict* hooks = first ? nullptr : as_dict(arguments[5]);
    if (!first && (!hooks || !hooks->items.empty())) refuse_tensor("it has hooks");
    return view_of(storage.elements, offset, sizes, strides);
  }

  const Storage& storage_of(const PickleRef& value) {
    const auto* persistent = value->as<PicklePersistent>();
    const auto* id = persistent ? persistent->id->as<PickleTuple>() : nullptr;
    if (value->as<PickleOpaque>())  // pickle.dump() stores a file of torch.save() as bytes
      refuse_tensor(base::text("its storage is ", type_of(value),
                               ", expected one of torch.save(): load the file in Python and write "
                               "the state dict with torch.save()"));
    if (!id || id->items.size() < 5 || id->items.size() > 6) refuse_tensor("it has no storage");
    if (id->items.size() == 6 && !id->items[5]->as<PickleNone>())
      refuse_tensor("its storage is a part of another one");
    const auto* kind = id->items[0]->as_text();
    const auto* global = id->items[1]->as<PickleGlobal>();
    const auto* key = id->items[2]->as_text();
    const StorageType* type =
        global && global->module == "torch" ? find_storage_type(global->name) : nullptr;
    if (!kind || *kind != "storage" || !type || !key || !id->items[3]->as_text())
      refuse_tensor(base::text("its storage is no known one but ", type_of(id->items[1])));
    const int64_t count = int_of(id->items[4], "storage length");

    Storage& storage = storages_[std::string(*key)];
    if (storage.type) {
      if (storage.type != type || storage.elements.rows() != count)
        refuse_tensor(base::text("shares the storage \"", printable(*key),
                                 "\" but names another type or length"));
      return storage;
    }
    storage.elements = file_->load(*key, *type, count, name_ + where_);
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
    if (copied_ > file_->num_bytes() + kFreeCopies)
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

  const std::unique_ptr<PthFile> file_;
  const std::string& name_;
  bool arrays_ = false;  // arrays of numbers are tensors
  std::string where_;    // ", tensor "..": " while one is built
  std::map<std::string, Storage> storages_;
  int64_t copied_ = 0;  // bytes of copies of views
};

}  // namespace

StateFile read_pth(const std::string& path, std::string_view path_in_file) {
  return PthReader(PthFile::open(path)).read(path_in_file);
}

std::string find_optimizer_pth(const std::string& path) {
  return PthReader(PthFile::open(path)).find_optimizer();
}

std::vector<std::string> keys_of_pth(const std::string& path, std::string_view path_in_file) {
  return PthReader(PthFile::open(path)).keys(path_in_file);
}

std::vector<std::pair<std::string, Tensor>> read_pth_arrays(
    const std::string& path,
    const std::function<bool(std::string_view module, std::string_view name)>& accept,
    const std::function<Tensor(const PickleValue& value, const std::string& where)>& array_of) {
  return PthReader(PthFile::open(path)).arrays(accept, array_of);
}

StateFile parse_pth(std::span<const uint8_t> bytes, std::string_view name,
                    std::string_view path_in_file) {
  return PthReader(PthFile::memory(bytes, std::string(name))).read(path_in_file);
}

}  // namespace gnnmg::io
