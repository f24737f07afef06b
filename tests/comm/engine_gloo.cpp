// Tests over Gloo, as between processes.
#include "comm/engine.h"
#include "comm/gloo/thread_group.h"

namespace gnnmg::test {

std::shared_ptr<comm::ThreadGroup> make_ranks(int world_size) {
  return comm::gloo::make_thread_group(world_size, comm::make_local_board());
}
// LibTorch keeps its last 2000 operations, and 120 bytes for each thread that has ended one, which
// is one per rank and communicator.
const double kKeptBytes = 220;

}  // namespace gnnmg::test
