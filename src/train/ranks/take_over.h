// How the processes of a training come to hold the same: when a group of ranks is made, all take
// over the position, the weights, the optimiser's state and the best weights of rank 0, whatever
// they held before. After that, weights cross the ranks only where the host has changed them.
#pragma once

#include <functional>

#include "comm/collectives.h"
#include "train/job/job.h"

namespace gnnmg::train {

// Collective, on every rank. What the job and the training of a process hold changes on its first
// rank (`leads`) alone, and only once everything has come; rank 0's stays.
void take_over(const Job& job, Training& training, comm::Collectives& comm, bool leads,
               const std::function<comm::Wait()>& wait);

// Collective, on every rank: the weights of rank 0's model become those of each process's and of
// `replica`, this rank's.
void take_over_weights(const Job& job, nn::Model& replica, comm::Collectives& comm, bool leads,
                       const std::function<comm::Wait()>& wait);

}  // namespace gnnmg::train
