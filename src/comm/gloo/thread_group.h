// Gloo communicators, for code inside the engine and for tests.
#pragma once

#include <memory>

#include "comm/address_board.h"
#include "comm/collectives.h"

namespace gnnmg::comm::gloo {

// Makes a group of ranks that are all in this process and find each other over `board`. Only tests
// do so: otherwise ranks of one process exchange through memory (comm/local.h).
std::shared_ptr<ThreadGroup> make_thread_group(int world_size, std::shared_ptr<AddressBoard> board);

}  // namespace gnnmg::comm::gloo
