// The weights and the optimizer's state of earlier steps, in the device's memory: the host may ask
// for them while later steps run.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <vector>

#include "nn/model/model.h"
#include "train/optim/optimizer.h"

namespace gnnmg::train {

// For a rank whose state the host gets. Use it on the rank's thread. Copies go through the queue of
// the model.
class StepHistory {
 public:
  // Takes all memory, because a rank takes none while other ranks have kernels that wait for it.
  StepHistory(nn::Model& model, QueuedUpdates& updates);

  // Keeps the state before a step, in place of the state before step - 2.
  void keep(int64_t step);
  // Restores the state before one of the last two steps.
  void restore(int64_t step);
  // The same while look() runs; the device must be idle.
  void look_back(int64_t step, const std::function<void()>& look);

  // The weights that the last good step began with. Updates write them.
  void* good() { return good_.mutable_data_ptr(); }
  void restore_good();
  void follow_weights();  // the host has changed the weights

 private:
  using Arrays = std::vector<at::Tensor>;
  void copy(const Arrays& to, const Arrays& from) const;
  void copy(const at::Tensor& to, const at::Tensor& from) const;
  at::Tensor weights() const { return model_.flat_parameters().detach(); }

  nn::Model& model_;
  QueuedUpdates& updates_;
  at::Tensor good_;
  std::array<Arrays, 2> before_;  // [step % 2]
  Arrays now_;                    // room of look_back()
};

}  // namespace gnnmg::train
