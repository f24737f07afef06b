#include "nn/model/file_parameters.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "nn/state/convert.h"
#include "nn/state/module_names.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

io::StateFile named(std::vector<base::Tensor> tensors, const auto& key_of) {
  io::StateFile state;
  for (size_t i = 0; i < tensors.size(); ++i)
    state.tensors.emplace_back(key_of(i), std::move(tensors[i]));
  return state;
}

base::Tensor take(const io::StateFile& state, const std::string& key) {
  const base::Tensor* found = state.find(key);
  if (!found) base::fail(base::Status::kInternal, "a conversion lost ", key);
  return *found;
}

}  // namespace

FileParameters::FileParameters(const Model& model, const FileForm& form)
    : model_(model), other_framework_(form.other_framework) {
  io::StateFile state;
  for (const NamedTensor& parameter : model.parameters()) {
    const auto owner = std::make_shared<at::Tensor>(parameter.tensor);
    state.tensors.emplace_back(
        parameter.key,
        base::Tensor({owner->data_ptr(), dtype_of(*owner), shape_of(*owner)}, owner));
  }
  if (other_framework_) state = to_other_framework(model.config(), state, Numbers::kKept);
  io::StateFile renamed = state;
  std::vector<size_t> order(state.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (form.torch_modules) order = to_torch_modules(renamed, model.config());
  if (form.loaded_names) order = to_file_names(renamed, model.file_names(), other_framework_);
  const FileNames& names = model.file_names();
  if (!form.other_framework && !form.torch_modules && !form.loaded_names && !names.keys.empty() &&
      !names.other_framework && names.lost.empty()) {
    io::StateFile loaded = state;
    loaded_in_other_order_ = !std::ranges::is_sorted(to_file_names(loaded, names, false));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    list_.push_back({renamed.tensors[i].first, renamed.tensors[i].second.shape()});
    converted_.push_back(state.tensors[order[i]].first);
  }
}

std::vector<base::Tensor> FileParameters::to_file(std::vector<base::Tensor> own) const {
  io::StateFile state = named(std::move(own), [&](size_t i) { return model_.parameters()[i].key; });
  if (other_framework_) state = to_other_framework(model_.config(), state, Numbers::kKept);
  std::vector<base::Tensor> out;
  for (const std::string& key : converted_) out.push_back(take(state, key));
  return out;
}

std::vector<base::Tensor> FileParameters::to_model(std::vector<base::Tensor> file) const {
  io::StateFile state = named(std::move(file), [&](size_t i) { return converted_[i]; });
  if (other_framework_) state = from_other_framework(model_.config(), state, Numbers::kKept);
  std::vector<base::Tensor> out;
  for (const NamedTensor& parameter : model_.parameters())
    out.push_back(take(state, parameter.key));
  return out;
}

}  // namespace gnnmg::nn
