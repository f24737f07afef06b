// A reader for a subset of Python's pickle. It builds the library's own values and cannot run code:
// names are cases in a switch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace gnnmg::io {

struct PickleValue;
// A pickle may refer to a value twice; both references then share it. Values form no cycles and
// must not be changed.
using PickleRef = std::shared_ptr<PickleValue>;

struct PickleNone {};
// Texts are views of the pickle, which must outlive them, or live as long as the pickle's value.
struct PickleText {
  std::string_view text;
};  // UTF-8
struct PickleBytes {
  std::string_view bytes;
};  // bytes and bytearray; str of Python 2
// A list, or the items of a set.
struct PickleList {
  std::vector<PickleRef> items;
};
struct PickleTuple {
  std::vector<PickleRef> items;
};
struct PickleDict {
  std::vector<std::pair<PickleRef, PickleRef>> items;
};  // insertion order, including repeated keys
struct PickleGlobal {
  std::string_view module, name;
};
struct PicklePersistent {
  PickleRef id;
};
// A global that is not accepted, or an object called or constructed by its name; only the name is
// kept.
struct PickleOpaque {
  std::string_view module, name;
};
// An accepted global applied to arguments (called or constructed); `state` is BUILD's argument,
// `items` those of SETITEMS, `list` those of APPENDS.
struct PickleObject {
  std::string_view module, name;
  PickleRef arguments;  // a tuple
  PickleRef state;      // or null
  PickleDict items;
  PickleList list;
  bool is(std::string_view of_module, std::string_view of_name) const {
    return module == of_module && name == of_name;
  }
};

struct PickleValue {
  // The large kinds are boxed, so that millions of numbers stay small.
  std::variant<PickleNone, bool, int64_t, double, PickleText, PickleBytes, PickleList, PickleTuple,
               PickleDict, PicklePersistent, std::unique_ptr<PickleGlobal>,
               std::unique_ptr<PickleObject>, std::unique_ptr<PickleOpaque>>
      value;

  // The value as a T, or null for another type: value->as<PickleObject>().
  template <typename T>
  const T* as() const {
    if constexpr (std::is_same_v<T, PickleGlobal> || std::is_same_v<T, PickleObject> ||
                  std::is_same_v<T, PickleOpaque>) {
      const auto* box = std::get_if<std::unique_ptr<T>>(&value);
      return box ? box->get() : nullptr;
    } else {
      return std::get_if<T>(&value);
    }
  }
  // The bytes of a str of Python 2 or 3; null for another type.
  const std::string_view* as_text() const;

  // Used by the reader: size of the value with shared parts counted each time, nesting depth, and
  // whether it is part of another value and must not change any more.
  uint32_t weight = 1;
  uint16_t depth = 1;
  bool placed = false;
};

using PickleNames = std::function<bool(std::string_view module, std::string_view name)>;

struct PickleOptions {
  // The accepted globals. Any other is Error(kFormat) naming it, or a PickleOpaque with
  // `opaque_others`. Integers of more than 64 bits are then opaque, too.
  PickleNames accept;
  bool opaque_others = false;
  // Gets the id of each object outside the pickle, in the order of the pickle, even if an opaque
  // value drops it.
  std::function<void(const PickleValue& id)> on_persistent = {};
  int64_t max_bytes = int64_t{1} << 31;  // size of the pickle
  // Limit of values made, of entries of stack and memo, and of values in the result, counted at
  // each reference (64 bytes of text count as one more).
  int64_t max_values = int64_t{64} << 20;
  int max_depth = 200;  // nesting of the result
  // Limit of memory for the values and their construction: this many times the pickle's size, plus
  // one mebibyte. The graphs of Planetoid, lists of small integers, need up to 13 times.
  int64_t max_growth = 16;
};

// Reads the opcodes of protocols 0 to 5 that state dicts and files of arrays use. Error(kFormat)
// naming `name`, opcode and byte; reference cycles, surplus bytes and pickles that need more memory
// than the options allow are refused. The memory counts toward the thread's budget while the result
// lives. `bytes` must outlive it.
PickleRef parse_pickle(std::span<const uint8_t> bytes, const PickleOptions& options,
                       std::string_view name);

// parse_pickle() of a pickle that other bytes follow: `bytes` are then the bytes after it. Its
// memory limit depends on its own size, not on theirs.
PickleRef take_pickle(std::span<const uint8_t>& bytes, const PickleOptions& options,
                      std::string_view name);

}  // namespace gnnmg::io
