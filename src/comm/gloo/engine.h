// One rank's end of a Gloo communicator.
#pragma once

#include <memory>

#include "comm/gloo/groups.h"
#include "comm/gloo/introduction.h"

namespace gnnmg::comm::gloo {

// `groups` holds the connected process group of `rank`. Returns when all ranks have shown each
// other their proofs; Error(kAuth) when one cannot, which ends the communicator.
std::unique_ptr<Collectives> make_engine(std::shared_ptr<Groups> groups, int rank,
                                         const Proofs& proofs, const Wait& wait);

}  // namespace gnnmg::comm::gloo
