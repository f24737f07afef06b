// Checks of the arguments of collectives, the same for every engine. They throw before anything is
// sent, so the communicator stays usable.
#pragma once

#include <span>

#include "comm/collectives.h"

namespace gnnmg::comm {

void check_reduce(const base::TensorView& tensor, ReduceOp op);
void check_root(int root, int world_size);
void check_gather(const base::TensorView& input, std::span<const base::TensorView> outputs,
                  int rank, int world_size);
void check_exchange(std::span<const base::TensorView> inputs,
                    std::span<const base::TensorView> outputs, int rank, int world_size);
void check_world(int world_size);

}  // namespace gnnmg::comm
