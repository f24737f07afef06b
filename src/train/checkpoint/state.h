// The JSON part of a checkpoint: everything about training except the tensors.
#pragma once

#include <string>
#include <string_view>

#include "data/fingerprint.h"
#include "train/job/job.h"

namespace gnnmg::train {

// `data`: fingerprint of the job's data set and split. `training`: the id that training_id_in()
// reads. `ranks`: of all processes together.
std::string write_state(const Job& job, int ranks, const data::Fingerprint& data,
                        const std::string& training, const Position& position);
// Reads a position. kFormat names a missing or wrong member, kRange one outside the job's plan.
// kMismatch lists all differences from the saved job that change its mini-batches or the model made
// of them: data, seed, batch size, order, sampler, the model's settings, loss, optimizer, the world
// size if a plan depends on it, and, once there is a validation, the metric of the best. A
// checkpoint of an older library may lack some of these, and the log says so. Number of epochs,
// rates, schedule and everything else are the job's; so is the number of mini-batches a step,
// unless the job leaves it open.
Position read_state(const Job& job, int ranks, const data::Fingerprint& data, std::string_view text,
                    std::string_view name);

}  // namespace gnnmg::train
