#include "train/optim/average.h"

#include <c10/core/GradMode.h>

#include <vector>

namespace gnnmg::train {
namespace {

// Calls change(to, from) for each tensor of numbers, parameters first; copies the others.
template <typename Change>
void change_all(const nn::Model& model, const nn::Model& average, const Change& change) {
  const c10::NoGradGuard no_grad;
  if (const nn::Device* on = average.device()) on->table->use(on->queue);
  const auto change_list = [&](const std::vector<nn::NamedTensor>& to,
                               const std::vector<nn::NamedTensor>& from) {
    for (size_t i = 0; i < to.size(); ++i) {
      const at::Tensor own = to[i].tensor.detach(), other = from[i].tensor.detach();
      if (own.is_floating_point())
        change(own, other);
      else
        own.copy_(other);
    }
  };
  change_list(average.parameters(), model.parameters());
  change_list(average.buffers(), model.buffers());
}

}  // namespace

void copy_weights(const nn::Model& model, nn::Model& average) {
  change_all(model, average, [](const at::Tensor& to, const at::Tensor& from) { to.copy_(from); });
}

void average_ema(const nn::Model& model, double decay, nn::Model& average) {
  change_all(model, average,
             [decay](const at::Tensor& to, const at::Tensor& from) { to.lerp_(from, 1 - decay); });
}

void average_swa(const nn::Model& model, int64_t count, nn::Model& average) {
  change_all(model, average, [count](const at::Tensor& to, const at::Tensor& from) {
    to.add_(from.sub(to).div_(count + 1));
  });
}

}  // namespace gnnmg::train
