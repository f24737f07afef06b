// Keys of dropout: fixed, or in device memory, which captured kernels read when they are replayed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/kernels/kernels.h"

namespace gnnmg::nn {

class DropoutKeys;

// Dropout bits depend only on (seed, epoch, mini-batch, layer, row, column).
struct DropoutKey {
  uint64_t seed = 0, epoch = 0, batch = 0;
  // For a model on a device: device memory from which kernels read the keys made from the values
  // above, layer by layer, when they run. Null: the keys are fixed at launch.
  DropoutKeys* on_device = nullptr;
};

// The key of each layer that has requested one. One thread at a time.
class DropoutKeys {
 public:
  // `memory`: [capacity][2] on the device.
  DropoutKeys(const uint32_t* memory, int64_t capacity) : memory_(memory), capacity_(capacity) {}

  // Returns the location of a layer's key, the same each time. Error(kUnsupported) for more layers
  // than the memory holds.
  const uint32_t* of(uint64_t layer);
  // Writes the keys of these layers for the device memory: out[2 * num_keys()].
  void write(const DropoutKey& key, std::span<uint32_t> out) const;
  int64_t num_keys() const { return static_cast<int64_t>(layers_.size()); }

 private:
  const uint32_t* memory_;
  int64_t capacity_;
  std::vector<uint64_t> layers_;
};

// Returns the dropout of this rate for a layer in the pass of the key.
kernels::Dropout dropout_of(const DropoutKey& key, double rate, uint64_t layer);

}  // namespace gnnmg::nn
