#include "nn/ops/dropout_keys.h"

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"

namespace gnnmg::nn {

const uint32_t* DropoutKeys::of(uint64_t layer) {
  const auto place = std::ranges::find(layers_, layer) - layers_.begin();
  if (place == num_keys()) {
    if (place == capacity_)
      base::fail(base::Status::kUnsupported, "dropout of more than ", capacity_,
                 " layers whose keys lie on the device");
    layers_.push_back(layer);
  }
  return memory_ + 2 * place;
}

void DropoutKeys::write(const DropoutKey& key, std::span<uint32_t> out) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const base::Key own =
        base::stream_key(key.seed, base::Purpose::kDropout, key.epoch, key.batch, layers_[i]);
    std::ranges::copy(own, out.begin() + static_cast<std::ptrdiff_t>(2 * i));
  }
}

kernels::Dropout dropout_of(const DropoutKey& key, double rate, uint64_t layer) {
  kernels::Dropout dropout = kernels::make_dropout(rate, key.seed, key.epoch, key.batch, layer);
  if (key.on_device && dropout.active()) dropout.device_key = key.on_device->of(layer);
  return dropout;
}

}  // namespace gnnmg::nn
