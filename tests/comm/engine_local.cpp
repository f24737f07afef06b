// Tests through memory.
#include "comm/engine.h"

namespace gnnmg::test {

std::shared_ptr<comm::ThreadGroup> make_ranks(int world_size) {
  return comm::ThreadGroup::create(world_size);
}
const double kKeptBytes = 0;

}  // namespace gnnmg::test
