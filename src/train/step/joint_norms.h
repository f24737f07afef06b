// Whose turn it is with synchronised batch norms on GPUs. Their backward passes wait for other
// ranks in the middle, on LibTorch's threads, of which each GPU has one for the whole program: two
// such trainings on the same GPUs could hold one each, and wait for each other until their
// deadlines.
#pragma once

#include <vector>

#include "base/device.h"

namespace gnnmg::train {

// A training's turn on its GPUs, while it lives. Any thread.
class JointNormsTurn {
 public:
  // Error(kBusy) while another one has its turn on one of them.
  JointNormsTurn(const base::DeviceTable& table, const std::vector<int>& devices);
  ~JointNormsTurn();
  JointNormsTurn(const JointNormsTurn&) = delete;
  JointNormsTurn& operator=(const JointNormsTurn&) = delete;

 private:
  const base::DeviceTable& table_;
  const std::vector<int> devices_;
};

}  // namespace gnnmg::train
