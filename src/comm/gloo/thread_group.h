// Communicators over Gloo, from the inside.
#pragma once

#include <memory>

#include "comm/address_board.h"
#include "comm/collectives.h"

namespace gnnmg::comm::gloo {

// The ranks of this process alone, who find each other over `board`.
std::shared_ptr<ThreadGroup> make_thread_group(int world_size, std::shared_ptr<AddressBoard> board);

}  // namespace gnnmg::comm::gloo
