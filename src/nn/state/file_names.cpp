#include "nn/state/file_names.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "nn/state/module_names.h"

namespace gnnmg::nn {

std::vector<size_t> to_file_names(io::StateFile& state, const FileNames& names,
                                  bool other_framework) {
  if (names.keys.empty())
    base::fail(base::Status::kInvalidArgument,
               "loaded_names asks for the keys of the file that the weights were loaded from, and "
               "none were loaded");
  if (names.other_framework != other_framework)
    base::fail(base::Status::kInvalidArgument, "other_framework is ", other_framework ? 1 : 0,
               ", and the weights, whose keys loaded_names asks for, were loaded with ",
               names.other_framework ? 1 : 0);
  if (!names.lost.empty())
    base::fail(base::Status::kUnsupported, "the weights were loaded from a file with ", names.lost,
               ", which is no tensor of its own in the model: loaded_names cannot write it again");
  struct Kept {
    size_t from;
    const FileNames::Place* to;
  };
  std::vector<Kept> kept;
  for (size_t i = 0; i < state.tensors.size(); ++i)
    if (const auto found = names.keys.find(state.tensors[i].first); found != names.keys.end())
      kept.push_back({i, &found->second});
  if (names.ordered)
    std::ranges::stable_sort(kept, {}, [](const Kept& tensor) { return tensor.to->number; });
  io::StateFile renamed;
  renamed.metadata = state.metadata;
  for (const Kept& tensor : kept)
    renamed.tensors.emplace_back(tensor.to->key, state.tensors[tensor.from].second);
  std::vector<size_t> order(kept.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!names.ordered) order = sort_modules(renamed);
  for (size_t& i : order) i = kept[i].from;
  state = std::move(renamed);
  return order;
}

}  // namespace gnnmg::nn
