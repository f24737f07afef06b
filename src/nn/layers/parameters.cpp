#include "nn/layers/parameters.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/philox.h"
#include "nn/layers/parameter_limit.h"
#include "nn/torch/failure.h"

namespace gnnmg::nn {
namespace {

using ParameterKind = ParameterSpec::Kind;

int64_t elements(const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (int64_t length : shape) size *= length;
  return size;
}

thread_local int64_t parameter_limit = std::numeric_limits<int64_t>::max();

double glorot_bound(int64_t a, int64_t b) { return std::sqrt(6 / static_cast<double>(a + b)); }

}  // namespace

ParameterLimit::ParameterLimit(int64_t most) noexcept
    : outer_(std::exchange(parameter_limit, most)) {}
ParameterLimit::~ParameterLimit() { parameter_limit = outer_; }
void ParameterLimit::check(int64_t parameters) {
  if (parameters > parameter_limit)
    base::fail(base::Status::kFormat, "the settings describe a model of ", parameters,
               " parameters, and the file's tensors are those of at most ", parameter_limit);
}

ParameterList::Scope::Scope(ParameterList& list, const std::string& name)
    : list_(list), length_(list.prefix_.size()) {
  list_.prefix_ += name + ".";
}

void ParameterList::add(ParameterSpec spec, const std::string& key) {
  spec.key = prefix_ + key;
  specs_.push_back(std::move(spec));
}

void ParameterList::uniform(const std::string& key, std::vector<int64_t> shape, double bound,
                            at::Tensor* slot) {
  add({.shape = std::move(shape), .bound = bound, .slot = slot}, key);
}

void ParameterList::normal(const std::string& key, std::vector<int64_t> shape, double deviation,
                           at::Tensor* slot) {
  add({.shape = std::move(shape), .deviation = deviation, .slot = slot}, key);
}

void ParameterList::constant(const std::string& key, std::vector<int64_t> shape, double value,
                             at::Tensor* slot) {
  add({.shape = std::move(shape), .fill = value, .slot = slot}, key);
}

void ParameterList::buffer(const std::string& key, std::vector<int64_t> shape, double value,
                           at::Tensor* slot) {
  add({.kind = ParameterKind::kBuffer, .shape = std::move(shape), .fill = value, .slot = slot},
      key);
}

void ParameterList::counter(const std::string& key, at::Tensor* slot) {
  add({.kind = ParameterKind::kBuffer, .shape = {}, .integer = true, .slot = slot}, key);
}

void ParameterList::alias(const std::string& key, at::Tensor* slot) {
  add({.kind = ParameterKind::kAlias, .slot = slot}, key);
}

void ParameterList::weight(const std::string& key, int64_t out, int64_t in, at::Tensor* slot) {
  double bound = 1 / std::sqrt(static_cast<double>(in));
  if (init_ == Init::kGlorot) bound = glorot_bound(in, out);
  if (init_ == Init::kDgl) bound = std::sqrt(2.0) * glorot_bound(in, out);
  add({.shape = {out, in}, .bound = bound, .slot = slot}, key);
}

void ParameterList::bias(const std::string& key, int64_t out, int64_t in, at::Tensor* slot) {
  const double bound = init_ == Init::kGlorot ? 0 : 1 / std::sqrt(static_cast<double>(in));
  add({.shape = {out}, .bound = bound, .slot = slot}, key);
}

void ParameterList::linear(const std::string& name, int64_t out, int64_t in, bool with_bias,
                           Linear& slots) {
  weight(name + ".weight", out, in, &slots.weight);
  if (with_bias) bias(name + ".bias", out, in, &slots.bias);
}

void ParameterList::glorot(const std::string& key, std::vector<int64_t> shape, int64_t fan_in,
                           int64_t fan_out, at::Tensor* slot) {
  const size_t n = shape.size();
  ParameterSpec spec{.shape = shape, .slot = slot};
  if (init_ == Init::kDgl)
    spec.deviation = 2 / std::sqrt(static_cast<double>(fan_in + fan_out));
  else
    spec.bound = glorot_bound(shape[n - 2], shape[n - 1]);
  add(std::move(spec), key);
}

namespace {

at::Tensor with_memory(int64_t parameters, int64_t bytes, const std::function<at::Tensor()>& make) {
  try {
    return make();
  } catch (const c10::OutOfMemoryError&) {
    throw;  // a GPU's allocator names the GPU and its memory
  } catch (const c10::Error& error) {
    if (failure_of(error).status != base::Status::kNoMemory) throw;
    base::fail(base::Status::kNoMemory, "no memory for the ", parameters,
               " parameters of the model, ", bytes,
               " bytes with their gradients; make it narrower, or with fewer layers");
  }
}

}  // namespace

ParameterSet::ParameterSet(const ParameterList& list, at::ScalarType type, uint64_t seed,
                           at::Device device) {
  int64_t total = 0;
  for (const ParameterSpec& spec : list.specs()) {
    if (spec.kind != ParameterKind::kParameter) continue;
    int64_t size = 1;
    for (int64_t length : spec.shape) size = base::checked_mul(size, length, spec.key);
    total = base::checked_add(total, size, "number of parameters");
  }
  ParameterLimit::check(total);
  const int64_t bytes =
      base::checked_mul(total, 8 + 2 * static_cast<int64_t>(c10::elementSize(type)), "parameters");
  at::Tensor values = with_memory(total, bytes, [&] {
    gradients_ = at::zeros({total}, at::TensorOptions(type).device(device));
    return at::empty({total}, at::TensorOptions(at::kDouble));
  });
  double* value = values.mutable_data_ptr<double>();
  uint64_t number = 0;
  for (const ParameterSpec& spec : list.specs()) {
    if (spec.kind != ParameterKind::kParameter) continue;
    const int64_t size = elements(spec.shape);
    base::Stream words(base::stream_key(seed, base::Purpose::kInitialWeights, number++), 0);
    if (spec.bound > 0) {
      for (int64_t j = 0; j < size; ++j)
        *value++ = (2 * ((words.next() + 0.5) * 0x1p-32) - 1) * spec.bound;
    } else if (spec.deviation > 0) {
      for (int64_t j = 0; j < size; ++j) *value++ = words.normal() * spec.deviation;
    } else {
      value = std::fill_n(value, size, spec.fill);
    }
  }
  flat_ = with_memory(total, bytes, [&] { return values.to(type).to(device); });
  int64_t offset = 0;
  for (const ParameterSpec& spec : list.specs()) {
    if (spec.kind == ParameterKind::kBuffer) {
      *spec.slot = at::full(spec.shape, spec.fill,
                            at::TensorOptions(spec.integer ? at::kLong : type).device(device));
      buffers_.push_back({spec.key, *spec.slot});
    } else if (spec.kind == ParameterKind::kParameter) {
      const int64_t size = elements(spec.shape);
      at::Tensor parameter = flat_.narrow(0, offset, size).view(spec.shape).detach();
      parameter.set_requires_grad(true);
      parameter.mutable_grad() = gradients_.narrow(0, offset, size).view(spec.shape);
      offset += size;
      *spec.slot = parameter;
      named_.push_back({spec.key, parameter});
    }
    state_.push_back({spec.key, *spec.slot});
  }
  frozen_.resize(named_.size());
}

void ParameterSet::freeze(const std::vector<bool>& frozen) {
  if (frozen == frozen_) return;
  const c10::NoGradGuard no_grad;
  int64_t trained = 0;
  for (size_t i = 0; i < named_.size(); ++i)
    if (!frozen[i]) trained += named_[i].tensor.numel();
  const at::Tensor flat = at::empty_like(flat_);
  const at::Tensor gradients = at::zeros({trained}, flat_.options());
  int64_t next = 0, next_frozen = trained;
  for (size_t i = 0; i < named_.size(); ++i) {
    at::Tensor& parameter = named_[i].tensor;
    const int64_t size = parameter.numel();
    int64_t& offset = frozen[i] ? next_frozen : next;
    const at::Tensor place = flat.narrow(0, offset, size).view(parameter.sizes());
    place.copy_(parameter);
    parameter.set_data(place);
    parameter.set_requires_grad(!frozen[i]);
    parameter.mutable_grad() =
        frozen[i] ? at::Tensor() : gradients.narrow(0, offset, size).view(parameter.sizes());
    offset += size;
  }
  flat_ = flat;
  gradients_ = gradients;
  frozen_ = frozen;
}

}  // namespace gnnmg::nn
