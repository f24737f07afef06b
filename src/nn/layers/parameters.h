// The parameters and buffers of a model: declared once by the layers that use them, then made as
// views of one flat tensor, with their gradients as views of another.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "nn/config/config.h"

namespace gnnmg::nn {

struct NamedTensor {
  std::string key;
  at::Tensor tensor;
};

struct Linear {
  at::Tensor weight, bias;  // [out, in], [out] or undefined
};

// A parameter or buffer to be made, and the location for its tensor.
struct ParameterSpec {
  enum class Kind { kParameter, kBuffer, kAlias };
  Kind kind = Kind::kParameter;
  std::string key = {};
  std::vector<int64_t> shape = {};
  double bound = 0;      // above 0: values uniform in +-bound
  double deviation = 0;  // above 0: normal distribution
  double fill = 0;       // otherwise this value
  bool integer = false;  // an i64 buffer
  at::Tensor* slot = nullptr;
};

// Collects the tensors of a model in the order of its state dict. The slots must not move until a
// ParameterSet has been made from the list.
class ParameterList {
 public:
  explicit ParameterList(Init init) : init_(init) {}

  // Adds `name` and a dot as a prefix to keys that are declared while it lives.
  class Scope {
   public:
    Scope(ParameterList& list, const std::string& name);
    ~Scope() { list_.prefix_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ParameterList& list_;
    size_t length_;
  };

  // Uniform in +-bound, whatever the configured distribution.
  void uniform(const std::string& key, std::vector<int64_t> shape, double bound, at::Tensor* slot);
  // Normal around 0, whatever the configured distribution.
  void normal(const std::string& key, std::vector<int64_t> shape, double deviation,
              at::Tensor* slot);
  void constant(const std::string& key, std::vector<int64_t> shape, double value, at::Tensor* slot);
  void buffer(const std::string& key, std::vector<int64_t> shape, double value, at::Tensor* slot);
  void counter(const std::string& key, at::Tensor* slot);  // i64, 0-d
  // Gives the tensor in `slot`, declared before, a second name. On loading the name read last wins.
  void alias(const std::string& key, at::Tensor* slot);

  // A linear layer with the configured distribution; weight [out, in].
  void weight(const std::string& key, int64_t out, int64_t in, at::Tensor* slot);
  void bias(const std::string& key, int64_t out, int64_t in, at::Tensor* slot);
  void linear(const std::string& name, int64_t out, int64_t in, bool with_bias, Linear& slots);
  // Glorot's uniform distribution for the last two lengths of the shape, or, if DGL's is
  // configured, a normal one with gain sqrt 2 and these fans.
  void glorot(const std::string& key, std::vector<int64_t> shape, int64_t fan_in, int64_t fan_out,
              at::Tensor* slot);

  Init init() const { return init_; }
  const std::vector<ParameterSpec>& specs() const { return specs_; }

 private:
  void add(ParameterSpec spec, const std::string& key);
  Init init_;
  std::string prefix_;
  std::vector<ParameterSpec> specs_;
};

class ParameterSet {
 public:
  ParameterSet() = default;
  // Fills the slots with tensors on `device`. Value j of parameter i comes from stream (seed,
  // initial weights, i), for f32 and f64 alike. Sizes are checked before any allocation.
  ParameterSet(const ParameterList& list, at::ScalarType type, uint64_t seed,
               at::Device device = at::kCPU);

  const std::vector<NamedTensor>& named() const { return named_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  // Parameters, buffers and second names in the order of the list.
  const std::vector<NamedTensor>& state() const { return state_; }
  // The parameters one after another, the frozen ones last.
  const at::Tensor& flat() const { return flat_; }
  // Gradients of the others, in the same layout.
  const at::Tensor& flat_gradients() const { return gradients_; }
  const std::vector<bool>& frozen() const { return frozen_; }
  // Moves the parameters to new memory; their tensors are the same objects. Gradients become zero.
  void freeze(const std::vector<bool>& frozen);

 private:
  at::Tensor flat_, gradients_;
  std::vector<NamedTensor> named_, buffers_, state_;
  std::vector<bool> frozen_;
};

}  // namespace gnnmg::nn
