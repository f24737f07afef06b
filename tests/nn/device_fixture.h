// Models and mini-batches on GPUs (support/test_gpus.h), and passes compared with the CPU's.
#pragma once

#include <array>
#include <vector>

#include "nn/model_world.h"
#include "nn/torch/device.h"

namespace gnnmg::nn {

// The tolerance between GPUs and the CPU, relative to the largest number. Fake GPUs multiply
// matrices by the CPU's own functions; real ones add in another order.
constexpr double kF64 = 1e-10;
extern const double kF32;

// Two GPUs with one queue each, which take LibTorch's work of this thread; a single GPU serves as
// both.
class TestDevices {
 public:
  TestDevices();
  ~TestDevices();
  TestDevices(const TestDevices&) = delete;
  TestDevices& operator=(const TestDevices&) = delete;
  const Device& operator[](size_t i) const { return devices_[i]; }

 private:
  std::array<Device, 2> devices_;
};

// The input of a pass, copied from the host to a device. Must stay until backward() has run. The
// graph and graph_ptr are the host's.
class DeviceBatch {
 public:
  DeviceBatch(const ForwardArgs& host, const Device& device);
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;
  const ForwardArgs& args() const { return args_; }

 private:
  template <typename T>
  const T* put(const T* host, int64_t count);

  const at::Device device_;
  std::vector<at::Tensor> kept_;
  std::vector<sample::BlockView> blocks_;
  std::vector<EdgeValues> edges_;
  SparseView sparse_;
  ForwardArgs args_;
};
// Copies a single block, for functions; `kept` owns its memory.
sample::BlockView block_on(const Device& device, const sample::BlockView& host,
                           std::vector<at::Tensor>& kept);

// The results of a training pass, on the host: logits, the flat gradient of their sum with fixed
// weights, and the statistics of batch norms, [passes, width].
struct PassResult {
  at::Tensor logits, gradients, statistics;
};
PassResult training_pass(Model& model, const ForwardArgs& args);

// Compares a training pass and a forward pass of a clone on the device with the CPU's: within
// `tolerance` of the largest number of each parameter's gradient, and with the same bits in two
// runs.
void expect_same_on_device(const Model& on_cpu, const ForwardArgs& host, const Device& device,
                           double tolerance);

}  // namespace gnnmg::nn
