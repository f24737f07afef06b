// The changes that wrappers of a model make to the keys of its state dict: "module." by
// DistributedDataParallel, "_orig_mod." by torch.compile, "model." by a class around it,
// "_checkpoint_wrapped_module." in the middle; and counters that they add, such as "n_averaged".
// They are recognized because the rest matches without them, not by their names. Free of torch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::nn {

// One way to read the keys of a state.
struct Unwrapped {
  std::string prefix;                 // common prefix of all keys, with its dot; or empty
  std::vector<std::string> inner;     // removed names in the middle of keys
  std::vector<std::string> counters;  // removed keys
  // The remaining keys in shortened form, in the state's order; key i is the state's tensor
  // numbers[i].
  std::vector<std::string> keys;
  std::vector<size_t> numbers;
  // Returns the removed parts in one line; empty if none.
  std::string note() const;
};

// Returns all ways: the unchanged one first, then those that remove more and more, up to 16 leading
// names. `underscores`: the model's own keys have names that begin with an underscore, like those
// of wrappers.
std::vector<Unwrapped> ways_to_unwrap(const io::StateFile& state, bool underscores);

// Returns the keys below each prefix that only some keys have, if these are at most `most` keys; at
// most 1000 prefixes.
std::vector<Unwrapped> parts_below_prefixes(const io::StateFile& state, size_t most);

// True if a key has a name that begins with an underscore.
bool has_underscored_name(std::string_view key);

}  // namespace gnnmg::nn
