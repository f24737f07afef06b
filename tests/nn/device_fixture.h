// Models and mini-batches on GPUs (support/test_gpus.h), and passes there beside the CPU's.
#pragma once

#include <array>
#include <vector>

#include "nn/device.h"
#include "nn/model_world.h"

namespace gnnmg::nn {

// What the GPUs may differ by from the CPU, in shares of the largest number. The fakes multiply
// matrices by the CPU's own functions, real ones add up in another order.
constexpr double kF64 = 1e-10;
extern const double kF32;

// Two GPUs with a queue each, which LibTorch's work of this thread goes into; where there is one,
// that twice.
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

// Everything that a pass reads, copied from the host to a device. Must stay until backward() has
// run. The graph and graph_ptr are the host's.
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
// A block alone, for functions; `kept` owns its memory.
sample::BlockView block_on(const Device& device, const sample::BlockView& host,
                           std::vector<at::Tensor>& kept);

// What a training pass leaves, on the host: logits, the flat gradient of their sum with fixed
// weights, and the statistics of batch norms, [passes, width].
struct PassResult {
  at::Tensor logits, gradients, statistics;
};
PassResult training_pass(Model& model, const ForwardArgs& args);

// A training pass and a forward pass alone of a clone on the device against the CPU's: within
// `tolerance` of the largest number of each parameter's gradient, and the same bits twice.
void expect_same_on_device(const Model& on_cpu, const ForwardArgs& host, const Device& device,
                           double tolerance);

}  // namespace gnnmg::nn
