// This machine's GPUs and NCCL for trainers.
#include <chrono>
#include <thread>

#include "comm/background.h"
#include "train/device_fixture.h"

namespace gnnmg::test {

Gpus::Gpus(int wanted) : gpus_(test_gpus(wanted)) {}

void Gpus::expect_clean() const {
  for (int i = 0; i < 10'000 && comm::pending_background() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(comm::pending_background(), 0);
}

}  // namespace gnnmg::test
