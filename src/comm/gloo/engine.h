// One rank's end of a Gloo communicator.
#pragma once

#include <memory>

#include "comm/gloo/groups.h"

namespace gnnmg::comm::gloo {

// `groups` holds the connected process group of `rank`.
std::unique_ptr<Collectives> make_engine(std::shared_ptr<Groups> groups, int rank);

}  // namespace gnnmg::comm::gloo
