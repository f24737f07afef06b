// The communicator of a world of one: every operation is a copy.
#pragma once

#include <memory>

#include "comm/group_state.h"

namespace gnnmg::comm {

// `state` may be shared with code that ends the communicator from outside.
std::unique_ptr<Collectives> make_single(std::shared_ptr<GroupState> state);

}  // namespace gnnmg::comm
