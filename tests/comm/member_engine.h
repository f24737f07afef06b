// What a member's communicators are: a file an engine.
#pragma once

#include <memory>

#include "comm/processes.h"

namespace gnnmg::test::member {

std::shared_ptr<comm::Processes> join(const comm::JoinConfig& config, const comm::Wait& wait);
std::shared_ptr<comm::ThreadGroup> make_group(const std::shared_ptr<comm::Processes>& job,
                                              int num_ranks, int first_device,
                                              const comm::Wait& wait);
// Before anything is counted: what is started on first use and stays for good.
void warm_up();
// Every collective once, for the engine at hand; throws where one is wrong.
void check_everything(comm::Collectives& comm);

}  // namespace gnnmg::test::member
