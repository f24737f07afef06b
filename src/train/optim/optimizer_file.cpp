#include "train/optim/optimizer_file.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include <cstring>
#include <set>

#include "nn/torch/tensor.h"

namespace gnnmg::train {
namespace {

using base::Status;

constexpr const char* kStepEntry = "step";

// The place of a parameter in the flat buffers, in elements.
int64_t offset_of(const nn::NamedTensor& parameter, const at::Tensor& flat) {
  const auto bytes = static_cast<const std::byte*>(parameter.tensor.const_data_ptr()) -
                     static_cast<const std::byte*>(flat.const_data_ptr());
  return bytes / static_cast<int64_t>(flat.itemsize());
}

std::string key_of(std::string_view kind, const nn::NamedTensor& parameter) {
  return base::text(kind, ".", parameter.key);
}

std::byte* element(void* data, int64_t index, base::DType dtype) {
  return static_cast<std::byte*>(data) + index * base::dtype_size(dtype);
}

// The parameters that the optimizer updates.
std::vector<nn::NamedTensor> trained_parameters(const nn::Model& model) {
  std::vector<nn::NamedTensor> trained;
  for (size_t i = 0; i < model.parameters().size(); ++i)
    if (!model.frozen()[i]) trained.push_back(model.parameters()[i]);
  return trained;
}

void append(std::string& list, std::string_view item) {
  list += base::text(list.empty() ? "" : ", ", item);
}

}  // namespace

std::vector<const char*> state_kinds(const OptimizerConfig& config) {
  std::vector<const char*> kinds;
  const auto add = [&](const char* kind, bool kept = true) {
    if (kept) kinds.push_back(kind);
  };
  switch (config.kind) {
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      add("exp_avg");
      add("exp_avg_sq");
      add("max_exp_avg_sq", config.amsgrad);
      break;
    case OptimizerKind::kSgd:
      add("momentum_buffer");
      break;
    case OptimizerKind::kRmsProp:
      add("square_avg");
      add("momentum_buffer", config.momentum > 0);
      add("grad_avg", config.centered);
      break;
    case OptimizerKind::kAdagrad:
      add("sum");
      break;
  }
  return kinds;
}

void copy_state(const Optimizer& optimizer, const nn::Model& model, io::StateFile& out) {
  const c10::NoGradGuard no_grad;
  const at::Tensor flat = model.flat_parameters();
  const std::vector<nn::NamedTensor> parameters = trained_parameters(model);
  const std::vector<nn::NamedTensor> state = optimizer.state();
  if (out.tensors.empty()) {
    for (const nn::NamedTensor& entry : state) {
      if (entry.key == kStepEntry)
        out.tensors.emplace_back(kStepEntry, base::Tensor::empty(base::DType::kF64, {1}));
      else
        for (const nn::NamedTensor& parameter : parameters)
          out.tensors.emplace_back(
              key_of(entry.key, parameter),
              base::Tensor::empty(nn::dtype_of(entry.tensor), nn::shape_of(parameter.tensor)));
    }
  }
  auto next = out.tensors.begin();
  for (const nn::NamedTensor& entry : state) {
    const at::Tensor values = entry.tensor.cpu().contiguous();
    if (entry.key == kStepEntry) {
      std::memcpy((next++)->second.data(), values.data_ptr(), sizeof(double));
      continue;
    }
    for (const nn::NamedTensor& parameter : parameters) {
      base::Tensor& copy = (next++)->second;
      std::memcpy(copy.data(), element(values.data_ptr(), offset_of(parameter, flat), copy.dtype()),
                  copy.view().num_bytes());
    }
  }
}

io::StateFile reserve_state(const OptimizerConfig& config, const nn::Model& model) {
  io::StateFile out;
  if (counts_steps(config))
    out.tensors.emplace_back(kStepEntry, base::Tensor::zeros(base::DType::kF64, {1}));
  else if (config.momentum == 0)
    return out;
  for (const char* kind : state_kinds(config))
    for (const nn::NamedTensor& parameter : trained_parameters(model))
      out.tensors.emplace_back(
          key_of(kind, parameter),
          base::Tensor::zeros(nn::dtype_of(parameter.tensor), nn::shape_of(parameter.tensor)));
  return out;
}

std::vector<nn::NamedTensor> parse_state(const io::StateFile& file, const nn::Model& model,
                                         const OptimizerConfig& config, std::string_view name) {
  if (file.tensors.empty()) return {};
  const c10::NoGradGuard no_grad;
  const at::Tensor flat = model.flat_parameters().detach();
  const std::vector<nn::NamedTensor> parameters = trained_parameters(model);
  std::set<std::string, std::less<>> unexpected;
  for (const auto& [key, tensor] : file.tensors) unexpected.insert(key);
  std::string missing, misshapen;
  const auto take = [&](const std::string& key, base::DType dtype, const base::Shape& shape,
                        void* out) {
    const base::Tensor* found = file.find(key);
    unexpected.erase(key);
    if (!found)
      append(missing, key);
    else if (found->dtype() != dtype || !(found->shape() == shape))
      append(misshapen, base::text(key, " is ", base::dtype_name(found->dtype()), " ",
                                   found->shape().to_string(), ", expected ",
                                   base::dtype_name(dtype), " ", shape.to_string()));
    else
      std::memcpy(out, found->data(), found->view().num_bytes());
  };

  std::vector<nn::NamedTensor> state;
  if (counts_steps(config)) {
    state.push_back({kStepEntry, at::full({1}, 0.0, at::kDouble)});
    take(kStepEntry, base::DType::kF64, {1}, state.back().tensor.data_ptr());
  }
  for (const char* kind : state_kinds(config)) {
    state.push_back({kind, at::empty_like(model.flat_gradients(), at::TensorOptions(at::kCPU))});
    const base::DType dtype = nn::dtype_of(flat);
    for (const nn::NamedTensor& parameter : parameters)
      take(key_of(kind, parameter), dtype, nn::shape_of(parameter.tensor),
           element(state.back().tensor.data_ptr(), offset_of(parameter, flat), dtype));
  }
  std::string all;
  const auto list = [&](const char* what, const std::string& items) {
    if (!items.empty()) all += base::text(all.empty() ? "" : "; ", what, ": ", items);
  };
  std::string others;
  for (const std::string& key : unexpected) append(others, key);
  list("missing", missing);
  list("unexpected", others);
  list("misshapen", misshapen);
  if (!all.empty()) base::fail(Status::kFormat, name, ": optimizer state: ", all);
  return state;
}

}  // namespace gnnmg::train
