#include "train/step/captured/history.h"

#include <ATen/ops/empty_like.h>

namespace gnnmg::train {

StepHistory::StepHistory(nn::Model& model, QueuedUpdates& updates)
    : model_(model), updates_(updates), good_(weights().clone()) {
  for (Arrays* kept : {&before_[0], &before_[1], &now_})
    for (const at::Tensor& array : updates_.arrays()) kept->push_back(at::empty_like(array));
}

void StepHistory::keep(int64_t step) { copy(before_[step % 2], updates_.arrays()); }

void StepHistory::restore(int64_t step) { copy(updates_.arrays(), before_[step % 2]); }

void StepHistory::look_back(int64_t step, const std::function<void()>& look) {
  copy(now_, updates_.arrays());
  restore(step);
  look();
  copy(updates_.arrays(), now_);
}

void StepHistory::restore_good() { copy(weights(), good_); }

void StepHistory::follow_weights() { copy(good_, weights()); }

void StepHistory::copy(const Arrays& to, const Arrays& from) const {
  for (size_t i = 0; i < to.size(); ++i) copy(to[i], from[i]);
}

void StepHistory::copy(const at::Tensor& to, const at::Tensor& from) const {
  const nn::Device& device = *model_.device();
  device.table->copy(device.queue, to.mutable_data_ptr(), from.const_data_ptr(),
                     static_cast<int64_t>(to.nbytes()));
}

}  // namespace gnnmg::train
