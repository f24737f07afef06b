// What a checkpoint says of training beside its tensors, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "data/fingerprint.h"
#include "train/job/job.h"

namespace gnnmg::train {

// `data` is the fingerprint of the job's data set and split, `training` what training_id_in() finds
// again. `ranks`: of all processes together.
std::string write_state(const Job& job, int ranks, const data::Fingerprint& data,
                        const std::string& training, const Position& position);
// Takes a position over. kFormat naming the member that is missing or wrong, kRange naming one that
// lies nowhere in the job's plan; kMismatch with one
// list of what differs between the job and the one that was saved and would make other batches of
// it, or another model of them: data, seed, batch size, order, sampler, the model's settings, loss,
// optimiser, where a plan depends on it world size, and once there is a validation what the best is
// chosen by. One of an older library may not say all of this, which the log does then. Number of
// epochs, rates, schedule and all else are the job's, and so is the number of
// mini-batches a step unless the job leaves it open.
Position read_state(const Job& job, int ranks, const data::Fingerprint& data, std::string_view text,
                    std::string_view name);

}  // namespace gnnmg::train
