// Ranks meet each other while one of them waits for work that may take longer than ranks wait for
// each other, such as that of a slow disk. A thread of its own does the work (base/background.h).
#pragma once

#include <chrono>
#include <functional>

#include "base/cancel.h"
#include "comm/collectives.h"

namespace gnnmg::train {

// Collective: returns once no rank is `busy`. Until then the ranks meet once in each `slice`. An
// empty `busy` counts as false.
void meet_while(comm::Collectives& comm, const std::function<comm::Wait()>& wait,
                const base::CancelToken& cancel, std::chrono::milliseconds slice,
                const std::function<bool()>& busy);

}  // namespace gnnmg::train
