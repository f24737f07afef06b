// A reader for a subset of Python's pickle. It builds values of ours and can run nothing: names are
// cases in a switch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gnnmg::io {

struct PickleValue;
using PickleRef = std::shared_ptr<PickleValue>;

struct PickleNone {};
struct PickleBytes {
  std::string bytes;
};  // Python 2 str, or bytes
struct PickleList {
  std::vector<PickleRef> items;
};
struct PickleTuple {
  std::vector<PickleRef> items;
};
struct PickleDict {
  std::vector<std::pair<PickleRef, PickleRef>> items;
};  // in order of insertion
struct PickleGlobal {
  std::string module, name;
};
struct PicklePersistent {
  PickleRef id;
};
// An accepted global applied to arguments; `state` is what BUILD gave it, `items` what SETITEMS
// did.
struct PickleObject {
  std::string module, name;
  PickleRef arguments;  // a tuple
  PickleRef state;      // or null
  PickleDict items;
};

struct PickleValue {
  std::variant<PickleNone, bool, int64_t, double, std::string, PickleBytes, PickleList, PickleTuple,
               PickleDict, PickleGlobal, PicklePersistent, PickleObject>
      value;
};

struct PickleOptions {
  // Which globals may appear; anything else is Error(kFormat) naming it.
  std::function<bool(std::string_view module, std::string_view name)> accept;
  int64_t max_bytes = int64_t{1} << 31;    // of the pickle
  int64_t max_values = int64_t{64} << 20;  // memo and stack entries
  int max_depth = 200;                     // nesting of the result
};

// Protocols 0 to 2 as far as state dicts and Planetoid files use them, by a list of opcodes.
// Error(kFormat) naming `name`, opcode and byte. Memory stays within a bounded multiple of the
// input; reference cycles are refused.
PickleRef parse_pickle(std::span<const uint8_t> bytes, const PickleOptions& options,
                       std::string_view name);

}  // namespace gnnmg::io
