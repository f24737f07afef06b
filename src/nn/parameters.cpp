#include "nn/parameters.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"

namespace gnnmg::nn {

ParameterSet::ParameterSet(const std::vector<ParameterSpec>& specs, at::ScalarType type,
                           uint64_t seed) {
  int64_t total = 0;
  for (const ParameterSpec& spec : specs) {
    int64_t size = 1;
    for (int64_t length : spec.shape) size = base::checked_mul(size, length, spec.key);
    total = base::checked_add(total, size, "number of parameters");
  }
  base::checked_mul(total, 2 * static_cast<int64_t>(c10::elementSize(type)), "parameters");
  at::Tensor values = at::empty({total}, at::TensorOptions(at::kDouble));
  double* value = values.mutable_data_ptr<double>();
  for (size_t i = 0; i < specs.size(); ++i) {
    int64_t size = 1;
    for (int64_t length : specs[i].shape) size *= length;
    if (specs[i].bound > 0) {
      base::Stream words(base::stream_key(seed, base::Purpose::kInitialWeights, i), 0);
      for (int64_t j = 0; j < size; ++j)
        *value++ = (2 * ((words.next() + 0.5) * 0x1p-32) - 1) * specs[i].bound;
    } else {
      value = std::fill_n(value, size, specs[i].fill);
    }
  }
  flat_ = values.to(type);
  gradients_ = at::zeros({total}, at::TensorOptions(type));
  int64_t offset = 0;
  for (const ParameterSpec& spec : specs) {
    int64_t size = 1;
    for (int64_t length : spec.shape) size *= length;
    at::Tensor parameter = flat_.narrow(0, offset, size).view(spec.shape).detach();
    parameter.set_requires_grad(true);
    parameter.mutable_grad() = gradients_.narrow(0, offset, size).view(spec.shape);
    named_.push_back({spec.key, parameter});
    offset += size;
  }
}

at::Tensor ParameterSet::find(const std::string& key) const {
  for (const NamedTensor& entry : named_)
    if (entry.key == key) return entry.tensor;
  return {};
}

}  // namespace gnnmg::nn
