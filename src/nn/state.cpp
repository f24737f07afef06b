// State dicts of models: out in PyG's order of modules, in strictly.
#include <c10/core/GradMode.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "nn/model.h"
#include "nn/torch_tensor.h"

namespace gnnmg::nn {
namespace {

constexpr std::string_view kModulePrefix = "module.";
constexpr std::string_view kCounter = "num_batches_tracked";

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

// PyG's GATConv before 2.5 has its one matrix under two names, lin_src and lin_dst. Gives it the
// name that it has now, where both hold the same numbers.
void rename_older_keys(std::map<std::string_view, const base::Tensor*>& given,
                       const std::vector<NamedTensor>& expected) {
  constexpr std::string_view kEnd = ".lin.weight";
  for (const NamedTensor& entry : expected) {
    if (!entry.key.ends_with(kEnd) || given.contains(entry.key)) continue;
    const std::string stem = entry.key.substr(0, entry.key.size() - kEnd.size());
    const auto source = given.find(stem + ".lin_src.weight");
    if (source == given.end()) continue;
    const base::Tensor* weight = source->second;
    const auto target = given.find(stem + ".lin_dst.weight");
    if (target != given.end()) {
      const base::Tensor& other = *target->second;
      if (other.dtype() != weight->dtype() || !(other.shape() == weight->shape()) ||
          std::memcmp(other.data(), weight->data(), other.view().num_bytes()) != 0)
        continue;
      given.erase(target);
    }
    given.erase(stem + ".lin_src.weight");
    given[entry.key] = weight;
  }
}

}  // namespace

io::StateFile Model::state() const {
  io::StateFile state;
  copy_state(state);
  return state;
}

void Model::copy_state(io::StateFile& state) const {
  const std::vector<NamedTensor>& order = state_tensors();
  if (state.tensors.empty())
    for (const NamedTensor& entry : order) {
      const at::IntArrayRef sizes = entry.tensor.sizes();
      state.tensors.emplace_back(
          entry.key,
          base::Tensor::empty(dtype_of(entry.tensor), base::Shape({sizes.data(), sizes.size()})));
    }
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < order.size(); ++i)
    view_of(state.tensors[i].second.view()).copy_(order[i].tensor);
}

void Model::load_state(const io::StateFile& state) {
  bool prefixed = !state.tensors.empty();
  for (const auto& [key, tensor] : state.tensors) prefixed &= key.starts_with(kModulePrefix);
  std::map<std::string_view, const base::Tensor*> given;
  std::string missing, unexpected, misshapen;
  for (const auto& [key, tensor] : state.tensors)
    given[std::string_view(key).substr(prefixed ? kModulePrefix.size() : 0)] = &tensor;

  rename_older_keys(given, state_tensors());

  std::vector<std::pair<at::Tensor, const base::Tensor*>> copies;
  for (const NamedTensor& entry : state_tensors()) {
    const auto found = given.find(entry.key);
    const bool counter = entry.key.ends_with(kCounter);
    if (found == given.end()) {
      if (!counter) append(missing, entry.key);
      copies.emplace_back(entry.tensor, nullptr);
      continue;
    }
    const base::Tensor& tensor = *found->second;
    const base::Shape expected({entry.tensor.sizes().data(), entry.tensor.sizes().size()});
    if (!(tensor.shape() == expected))
      append(misshapen, base::text(entry.key, " is ", tensor.shape().to_string(), ", expected ",
                                   expected.to_string()));
    else if (base::is_floating(tensor.dtype()) == counter)
      append(misshapen,
             base::text(entry.key, " has elements of type ", base::dtype_name(tensor.dtype()),
                        ", expected ", base::dtype_name(dtype_of(entry.tensor))));
    copies.emplace_back(entry.tensor, &tensor);
    given.erase(found);
  }
  for (const auto& [key, tensor] : given) append(unexpected, std::string(key));
  if (!missing.empty() || !unexpected.empty() || !misshapen.empty()) {
    std::string list;
    const auto section = [&](std::string_view title, const std::string& items) {
      if (!items.empty()) list += base::text(list.empty() ? "" : "; ", title, ": ", items);
    };
    section("missing", missing);
    section("unexpected", unexpected);
    section("of the wrong shape or type", misshapen);
    base::fail(base::Status::kFormat, "the state does not fit the model: ", list);
  }
  const c10::NoGradGuard no_grad;
  for (auto& [target, source] : copies) {
    if (source)
      target.copy_(view_of(source->view()));
    else
      target.zero_();
  }
}

}  // namespace gnnmg::nn
