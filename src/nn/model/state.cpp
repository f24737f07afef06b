// State dicts of models: written in the framework's order of modules, read strictly.
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "nn/model/model.h"
#include "nn/state/convert.h"
#include "nn/state/gin_class.h"
#include "nn/state/state_match.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

std::vector<ExpectedTensor> expected_of(const io::StateFile& state) {
  std::vector<ExpectedTensor> all;
  for (const auto& [key, tensor] : state.tensors)
    all.push_back({key, tensor.dtype(), tensor.shape()});
  return all;
}

std::vector<ExpectedTensor> expected_by(const Model& model) {
  std::vector<ExpectedTensor> all;
  for (const NamedTensor& entry : model.state_tensors())
    all.push_back({entry.key, dtype_of(entry.tensor), shape_of(entry.tensor)});
  return all;
}

// A copy of a model's state in host memory, if it is on a device. Parameters, which are views of
// one flat tensor, become views of one copy of it. Without `numbers` only allocates memory.
struct HostState {
  at::Tensor flat;
  std::vector<at::Tensor> entries;

  HostState(const Model& model, bool numbers) {
    const at::Tensor on_device = model.flat_parameters();
    const auto host = [&](const at::Tensor& t) {
      return numbers ? t.detach().cpu() : at::empty(t.sizes(), at::TensorOptions(t.scalar_type()));
    };
    flat = host(on_device);
    for (const NamedTensor& entry : model.state_tensors()) {
      const at::Tensor& t = entry.tensor;
      entries.push_back(t.is_alias_of(on_device)
                            ? flat.narrow(0, t.storage_offset(), t.numel()).view(t.sizes())
                            : host(t));
    }
  }
  // Copies the values back to the model.
  void put(const Model& model) const {
    const at::Tensor on_device = model.flat_parameters();
    on_device.copy_(flat);
    const std::vector<NamedTensor>& order = model.state_tensors();
    for (size_t i = 0; i < order.size(); ++i)
      if (!order[i].tensor.is_alias_of(on_device)) order[i].tensor.copy_(entries[i]);
  }
};

std::vector<at::Tensor> tensors_of(const Model& model) {
  std::vector<at::Tensor> all;
  for (const NamedTensor& entry : model.state_tensors()) all.push_back(entry.tensor);
  return all;
}

}  // namespace

void Model::use_device() const {
  if (const Device* on = device()) on->table->use(on->queue);
}

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
  use_device();
  const std::vector<at::Tensor> tensors =
      device() ? HostState(*this, true).entries : tensors_of(*this);
  for (size_t i = 0; i < order.size(); ++i)
    view_of(state.tensors[i].second.view()).copy_(tensors[i]);
}

io::StateFile Model::state_of_other_framework() const {
  return to_other_framework(config(), state());
}

void Model::load_state(const io::StateFile& state) {
  copy_in(match_state(state, expected_by(*this), config().framework, config()));
}

std::string Model::load_part_of_state(const io::StateFile& state) {
  const MatchedState matched =
      match_state(state, expected_by(*this), config().framework, config(), Extent::kPart);
  copy_in(matched);
  return matched.left;
}

void Model::copy_in(const MatchedState& matched) {
  const std::vector<NamedTensor>& order = state_tensors();
  const bool whole = matched.left.empty();
  const c10::NoGradGuard no_grad;
  use_device();
  std::optional<HostState> host;
  if (device()) host.emplace(*this, !whole);
  const std::vector<at::Tensor> targets = host ? host->entries : tensors_of(*this);
  for (size_t i = 0; i < order.size(); ++i) {
    if (matched.tensors[i])
      targets[i].copy_(view_of(matched.tensors[i]->view()));
    else if (whole)
      targets[i].zero_();  // a counter
  }
  if (host) host->put(*this);
  file_names_ = matched.names;
  if (!whole) file_names_.keys.clear();  // the model's tensors are not those of one file
}

void Model::load_state_of_other_framework(const io::StateFile& state) {
  if (has_gin_class(config())) {
    load_state(state);
    file_names_.other_framework = true;
    return;
  }
  const bool dgl = config().framework == Framework::kDgl;
  const std::vector<ExpectedTensor> expected =
      expected_of(to_other_framework(config(), this->state(), Numbers::kShapes));
  const MatchedState matched =
      match_state(state, expected, dgl ? Framework::kPyg : Framework::kDgl, config());
  io::StateFile other;
  for (size_t i = 0; i < expected.size(); ++i)
    if (matched.tensors[i]) other.tensors.emplace_back(expected[i].key, *matched.tensors[i]);
  load_state(from_other_framework(config(), other));
  file_names_ = matched.names;
  file_names_.other_framework = true;
}

}  // namespace gnnmg::nn
