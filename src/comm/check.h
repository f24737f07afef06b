// Checks of the arguments of collectives, and the calls as ranks compare them: the same for every
// engine. The checks throw before anything is sent, so the communicator stays usable.
#pragma once

#include <span>

#include "comm/group_state.h"

namespace gnnmg::comm {

Call check_reduce(const base::TensorView& tensor, ReduceOp op);
Call check_broadcast(const base::TensorView& tensor, int root, int world_size);
Call check_gather(const base::TensorView& input, std::span<const base::TensorView> outputs,
                  int rank, int world_size);
Call check_exchange(std::span<const base::TensorView> inputs,
                    std::span<const base::TensorView> outputs, int rank, int world_size);
void check_world(int world_size);

}  // namespace gnnmg::comm
