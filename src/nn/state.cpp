// State dicts of models: out in the framework's order of modules, in strictly.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "data/arrays.h"
#include "nn/convert.h"
#include "nn/gin_class.h"
#include "nn/layer_names.h"
#include "nn/model.h"
#include "nn/module_names.h"
#include "nn/torch_tensor.h"

namespace gnnmg::nn {
namespace {

constexpr std::string_view kModulePrefix = "module.";
constexpr std::string_view kCounter = "num_batches_tracked";
constexpr std::string_view kVariance = "running_var";

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

using Given = std::map<std::string, const base::Tensor*>;

// A tensor of a state dict: the numbers are not read.
struct Expected {
  std::string key;
  base::DType dtype;
  base::Shape shape;
  bool counter() const { return key.ends_with(kCounter); }
  bool variance() const { return key.ends_with(kVariance); }
  bool accepts(base::DType given) const {
    return counter() ? !base::is_floating(given) && given != base::DType::kBool
                     : base::is_floating(given);
  }
};

std::vector<Expected> expected_of(const io::StateFile& state) {
  std::vector<Expected> all;
  for (const auto& [key, tensor] : state.tensors)
    all.push_back({key, tensor.dtype(), tensor.shape()});
  return all;
}

bool same_numbers(const base::Tensor& a, const base::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.view().num_bytes()) == 0;
}

void rename(Given& given, const std::string& from, const std::string& to) {
  given[to] = given.at(from);
  given.erase(from);
}

// Gives tensors under the keys of older versions of the frameworks those that they have now. Sums
// that are made for that go to `made`.
void rename_older_keys(Given& given, const std::vector<Expected>& expected,
                       std::list<base::Tensor>& made) {
  std::set<std::string> wanted;
  for (const Expected& entry : expected) wanted.insert(entry.key);
  for (const Expected& entry : expected) {
    const size_t length = entry.key.rfind('.', entry.key.rfind('.') - 1);
    if (length == std::string::npos) continue;
    const std::string stem = entry.key.substr(0, length), name = entry.key.substr(length + 1);
    const bool missing = !given.contains(entry.key);
    const std::string plain = stem + ".bias";
    // PyG's GATConv before 2.5 has its one matrix under two names.
    if (name == "lin.weight" && missing && given.contains(stem + ".lin_src.weight")) {
      const auto target = given.find(stem + ".lin_dst.weight");
      if (target != given.end()) {
        if (!same_numbers(*given.at(stem + ".lin_src.weight"), *target->second)) continue;
        given.erase(target);
      }
      rename(given, stem + ".lin_src.weight", entry.key);
    }
    // DGL's SAGEConv before 1.0 has one bias beside its linear layers, and GATConv before 1.1 too
    // where the residual is a linear layer.
    if ((name == "fc_self.bias" || name == "res_fc.bias") && missing && !wanted.contains(plain) &&
        given.contains(plain))
      rename(given, plain, entry.key);
    // Still older ones have one in each linear layer.
    const std::string second = stem + ".fc_neigh.bias";
    if (name == "fc_self.bias" && !missing && !wanted.contains(second) && given.contains(second)) {
      const base::Tensor &a = *given.at(entry.key), &b = *given.at(second);
      if (!(a.shape() == b.shape()) || a.dtype() != b.dtype() || !base::is_floating(a.dtype()))
        continue;
      made.push_back(base::Tensor::empty(a.dtype(), a.shape()));
      view_of(made.back().view()).copy_(view_of(a.view()) + view_of(b.view()));
      given[entry.key] = &made.back();
      given.erase(second);
    }
  }
}

// Numbers that no model computes with: what is not finite, or would not be as the model has it, and
// what cannot be below zero. A training that diverged leaves such, and a file that is damaged.
void check_numbers(const Expected& entry, const base::Tensor& tensor) {
  const int64_t count = tensor.shape().num_elements();
  const int64_t width = std::max<int64_t>(1, tensor.shape().row_elements());
  const auto* const bytes = static_cast<const std::byte*>(tensor.data());
  const int64_t bad = data::find_not_finite(bytes, tensor.dtype(), count,
                                            /*as_f32=*/entry.dtype != base::DType::kF64);
  if (bad >= 0)
    data::fail_not_finite(entry.key, bad / width, bad % width,
                          bytes + bad * base::dtype_size(tensor.dtype()), tensor.dtype());
  if (!entry.counter() && !entry.variance()) return;
  const at::Tensor values = view_of(tensor.view()).to(at::kDouble).contiguous();
  const double* const numbers = values.const_data_ptr<double>();
  const int64_t below =
      std::find_if(numbers, numbers + count, [](double n) { return n < 0; }) - numbers;
  if (below < count)
    base::fail(base::Status::kRange, entry.key, ", row ", below / width, ", column ", below % width,
               ": ", numbers[below], ", expected ", entry.counter() ? "a count" : "a variance",
               " of at least 0");
}

// The tensor of each expected one, in that order; null for counters that are missing.
struct Matched {
  std::vector<const base::Tensor*> tensors;
  std::list<base::Tensor> made;
  FileNames names;
};

Matched match(const io::StateFile& state, const std::vector<Expected>& expected,
              Framework framework, const ModelConfig& config) {
  bool prefixed = !state.tensors.empty();
  for (const auto& [key, tensor] : state.tensors) prefixed &= key.starts_with(kModulePrefix);
  Given given;
  std::map<const base::Tensor*, FileNames::Place> origin;
  for (size_t i = 0; i < state.tensors.size(); ++i) {
    const auto& [key, tensor] = state.tensors[i];
    const std::string bare = key.substr(prefixed ? kModulePrefix.size() : 0);
    origin[&tensor] = {bare, i};
    given[bare] = &tensor;
  }
  std::vector<std::string> keys;
  for (const Expected& entry : expected) keys.push_back(entry.key);
  Matched matched;
  matched.names.ordered = state.ordered;
  adopt_gin_class(given, keys, matched.made);
  adopt_network_names(given, keys, config);
  adopt_layer_names(given, layer_list(framework), keys);
  adopt_norm_names(given, keys);
  rename_older_keys(given, expected, matched.made);
  std::string missing, unexpected, misshapen;
  for (const Expected& entry : expected) {
    const auto found = given.find(entry.key);
    if (found == given.end()) {
      if (!entry.counter()) append(missing, entry.key);
      matched.tensors.push_back(nullptr);
      continue;
    }
    const base::Tensor& tensor = *found->second;
    if (!(tensor.shape() == entry.shape))
      append(misshapen, base::text(entry.key, " is ", tensor.shape().to_string(), ", expected ",
                                   entry.shape.to_string()));
    else if (!entry.accepts(tensor.dtype()))
      append(misshapen,
             base::text(entry.key, " has elements of type ", base::dtype_name(tensor.dtype()),
                        ", expected ", base::dtype_name(entry.dtype)));
    matched.tensors.push_back(&tensor);
    given.erase(found);
    if (const auto key = origin.find(&tensor); key != origin.end()) {
      matched.names.keys[entry.key] = key->second;
      origin.erase(key);
    }
  }
  for (const auto& [key, tensor] : given) {
    const auto own = origin.find(tensor);
    append(unexpected, own == origin.end() ? key : own->second.key);
  }
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
  for (size_t i = 0; i < expected.size(); ++i)
    if (matched.tensors[i]) check_numbers(expected[i], *matched.tensors[i]);
  if (!origin.empty()) matched.names.lost = origin.begin()->second.key;
  return matched;
}

// The entries of a model's state in memory of the host, where they lie on a device: parameters,
// which are views of one flat tensor, as views of one copy of it. Without `numbers` only the
// memory.
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
  // Back to the model.
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
  const std::vector<NamedTensor>& order = state_tensors();
  std::vector<Expected> expected;
  for (const NamedTensor& entry : order)
    expected.push_back({entry.key, dtype_of(entry.tensor), shape_of(entry.tensor)});
  const Matched matched = match(state, expected, config().framework, config());
  const c10::NoGradGuard no_grad;
  use_device();
  std::optional<HostState> host;
  if (device()) host.emplace(*this, false);
  const std::vector<at::Tensor> targets = host ? host->entries : tensors_of(*this);
  for (size_t i = 0; i < order.size(); ++i) {
    if (matched.tensors[i])
      targets[i].copy_(view_of(matched.tensors[i]->view()));
    else
      targets[i].zero_();
  }
  if (host) host->put(*this);
  file_names_ = matched.names;
}

void Model::load_state_of_other_framework(const io::StateFile& state) {
  if (has_gin_class(config())) {
    load_state(state);
    file_names_.other_framework = true;
    return;
  }
  const bool dgl = config().framework == Framework::kDgl;
  const std::vector<Expected> expected =
      expected_of(to_other_framework(config(), this->state(), Numbers::kShapes));
  const Matched matched = match(state, expected, dgl ? Framework::kPyg : Framework::kDgl, config());
  io::StateFile other;
  for (size_t i = 0; i < expected.size(); ++i)
    if (matched.tensors[i]) other.tensors.emplace_back(expected[i].key, *matched.tensors[i]);
  load_state(from_other_framework(config(), other));
  file_names_ = matched.names;
  file_names_.other_framework = true;
}

}  // namespace gnnmg::nn
