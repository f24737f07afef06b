// Makes the processes of a training equal. When a group of ranks is made, all take over position,
// weights, optimizer state and best weights of rank 0. After that, weights cross the ranks only if
// the host has changed them.
#pragma once

#include <functional>

#include "comm/collectives.h"
#include "train/job/job.h"

namespace gnnmg::train {

// Collective, on every rank. Job and training of a process change on its first rank (`leads`) only,
// and only once everything has arrived; those of rank 0 stay.
void take_over(const Job& job, Training& training, comm::Collectives& comm, bool leads,
               const std::function<comm::Wait()>& wait);

// Collective, on every rank: each process's model, and `replica` of this rank, get the weights of
// rank 0's model.
void take_over_weights(const Job& job, Training& training, nn::Model& replica,
                       comm::Collectives& comm, bool leads,
                       const std::function<comm::Wait()>& wait);

}  // namespace gnnmg::train
