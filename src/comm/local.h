// Communicators of ranks that are all in one process: they exchange through memory, without
// sockets.
#pragma once

#include <memory>

#include "comm/group_state.h"
#include "comm/processes.h"

namespace gnnmg::comm {

// `state` may be shared with code that ends the communicator from outside. `job`: kept as long as
// the group; may be null.
std::shared_ptr<ThreadGroup> make_local_group(std::shared_ptr<GroupState> state,
                                              std::shared_ptr<Processes> job = nullptr);

}  // namespace gnnmg::comm
