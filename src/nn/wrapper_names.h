// What wrappers of a model put into the keys of its state dict: "module." by
// DistributedDataParallel, "_orig_mod." by torch.compile, "model." by a class around it,
// "_checkpoint_wrapped_module." in the middle; and the counters that they save beside it, as
// "n_averaged". They are known by what is left without them, not by their names. Free of torch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::nn {

// A way to read the keys of a state.
struct Unwrapped {
  std::string prefix;                 // of all keys, with its dot; or empty
  std::vector<std::string> inner;     // names in the middle of keys
  std::vector<std::string> counters;  // keys that are left out
  // The other keys, without all that, in the state's order; number i is the state's tensor
  // numbers[i].
  std::vector<std::string> keys;
  std::vector<size_t> numbers;
  // What was left out, one line; empty: nothing.
  std::string note() const;
};

// All ways, the plain one first, then those that leave out more and more, up to 16 names in front.
// `underscores`: the model's own keys have names that begin with an underscore, as those of
// wrappers do.
std::vector<Unwrapped> ways_to_unwrap(const io::StateFile& state, bool underscores);

// The keys below each prefix that some keys have and others have not, where these are at most
// `most` keys; at most 1000 prefixes.
std::vector<Unwrapped> parts_below_prefixes(const io::StateFile& state, size_t most);

// Whether a key has a name that begins with an underscore.
bool has_underscored_name(std::string_view key);

}  // namespace gnnmg::nn
