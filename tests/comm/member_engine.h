// The engine of a member's communicators: one file per engine.
#pragma once

#include <memory>

#include "comm/processes.h"

namespace gnnmg::test::member {

std::shared_ptr<comm::Processes> join(const comm::JoinConfig& config, const comm::Wait& wait);
std::shared_ptr<comm::ThreadGroup> make_group(const std::shared_ptr<comm::Processes>& job,
                                              int num_ranks, int first_device,
                                              const comm::Wait& wait);
// Starts everything that is created on first use and never freed, before a test counts threads and
// files.
void warm_up();
// Runs every collective once with the engine; throws for a wrong result.
void check_everything(comm::Collectives& comm);

}  // namespace gnnmg::test::member
