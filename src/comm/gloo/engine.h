// One rank's end of a Gloo communicator.
#pragma once

#include <memory>

#include "comm/gloo/groups.h"
#include "comm/gloo/introduction.h"

namespace gnnmg::comm::gloo {

// `groups` holds the connected process group of `rank`. Returns once all ranks have verified each
// other's proofs; Error(kAuth) if a proof is wrong, which ends the communicator.
std::unique_ptr<Collectives> make_engine(std::shared_ptr<Groups> groups, int rank,
                                         const Proofs& proofs, const Wait& wait);

}  // namespace gnnmg::comm::gloo
