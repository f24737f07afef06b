// Optimizers over a model's parameters, with one interface: torch::optim, and own kernels on a
// device.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "nn/model/model.h"
#include "train/config.h"
#include "train/device_updates.h"

namespace gnnmg::train {

// The optimizer of a model on a device, as work for its queue without waits of the host: numbers
// that change from step to step are read from the device's memory.
class QueuedUpdates {
 public:
  virtual ~QueuedUpdates() = default;
  // Sends the host's numbers to the device. Call it before the functions below.
  virtual void begin() = 0;
  // device_updates.h, with the model's gradients and parameters. `packed` has room for
  // kStepNumbersPacked elements of the model's type.
  virtual void pack(StepNumbers* step, void* packed) = 0;
  virtual void total(StepNumbers* step, const void* packed) = 0;
  virtual void scale() = 0;
  virtual void judge(StepNumbers* step) = 0;
  virtual void keep(StepNumbers* step, void* kept) = 0;
  virtual void update() = 0;
  virtual const UpdateNumbers* numbers() const = 0;  // address in the device's memory
  // The host has read these numbers of a step: state() refers to that step.
  virtual void note(const UpdateNumbers& numbers) = 0;
  // All that an update changes, but for the numbers.
  virtual std::vector<at::Tensor> arrays() const = 0;
};

// One thread at a time.
class Optimizer {
 public:
  // Works on the parameters of `model`, which must outlive it.
  static std::unique_ptr<Optimizer> create(nn::Model& model, const OptimizerConfig& config);
  virtual ~Optimizer() = default;
  // Multiplies the flat gradient by `factor` and returns the 2-norm that it has then, summed in f64
  // and in an order that does not depend on threads; not finite if an entry is not. On a device it
  // waits for the norm.
  virtual double scale_gradients(double factor);
  // For the step that follows: gradients of that norm are scaled so that it is at most `limit`.
  virtual void clip(double norm, double limit);
  virtual void step() = 0;  // one update from the current gradients
  virtual void set_learning_rate(double rate) = 0;
  virtual double learning_rate() const = 0;
  virtual const OptimizerConfig& config() const = 0;
  // The state, over all parameters that are not frozen, in the order of the flat buffers: "step"
  // (f64 [1]) except for SGD, and the tensors of state_kinds() (optimizer_file.h). They share
  // memory with the optimizer; empty before the first step.
  virtual std::vector<nn::NamedTensor> state() const = 0;
  // Copies such a state in, from any device; Error(kFormat) naming a key that is missing or
  // has another shape.
  virtual void load_state(const std::vector<nn::NamedTensor>& state) = 0;
  // Null on the CPU.
  virtual QueuedUpdates* queued() { return nullptr; }

 protected:
  explicit Optimizer(nn::Model& model) : model_(model) {}
  // The entry of that key, which has `count` values.
  static const at::Tensor& find(const std::vector<nn::NamedTensor>& state, std::string_view key,
                                int64_t count);
  nn::Model& model_;
};

// The optimizer of a model on a device; see device_updates.h.
std::unique_ptr<Optimizer> make_device_optimizer(nn::Model& model, const OptimizerConfig& config);

// Scales the flat gradient so that its 2-norm is at most `limit`; returns the norm before. Of a
// model on the CPU.
double clip_gradients(nn::Model& model, double limit);
// The two halves of clip_gradients(), as in Optimizer.
double scale_gradients(nn::Model& model, double factor);
// Scales a gradient of that norm.
void clip_to(nn::Model& model, double norm, double limit);

}  // namespace gnnmg::train
