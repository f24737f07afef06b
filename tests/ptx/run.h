// Runs a kernel of a program on the host as a GPU would: blocks, warps and lanes, each lane with a
// place of its own in the code. What a GPU answers with an error, or lets pass with a wrong result,
// is an Error here: accesses outside of memory or not aligned, memory that is read and was never
// written, lanes that wait for lanes that never come, or that read from one that did not come.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ptx/program.h"

namespace gnnmg::ptx {

template <typename F>
void on_lanes(uint32_t mask, const F& f) {
  if (mask == ~0u)
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  else
    for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

// Memory that kernels may use, by addresses of the host.
struct Range {
  uint64_t begin = 0, end = 0;
  uint8_t* written = nullptr;  // 1 for each byte that something was written to; null: all of them
};

struct Grid {
  int64_t blocks = 1;
  int threads = 1;
};

// In which order lanes, warps and blocks come on.
enum class Order {
  kTogether,  // lanes of a warp side by side wherever their ways meet, block after block
  kApart      // at random: lanes part whenever they may, warps and blocks take turns at any place
};

struct Running {
  Order order = Order::kTogether;
  uint64_t seed = 0;
  int64_t most_instructions = int64_t{1} << 40;  // of warps, behind which a kernel is taken to hang
};

struct Block {
  int64_t number = 0;
  std::vector<uint8_t> shared;
  std::vector<struct Warp> warps;
  int64_t num_alive = 0;  // threads
};

// One launch.
struct Launch {
  const Kernel& kernel;
  const Grid grid;
  const std::vector<uint8_t> parameters;
  const std::vector<Range>& memory;  // in order of their addresses
  const Running running;
  std::vector<const Range*> last_ranges{};  // that each instruction touched
  std::minstd_rand random{1};
  int64_t num_instructions = 0;
};

struct Warp {
  Launch* launch = nullptr;
  Block* block = nullptr;
  int number = 0;
  std::vector<uint64_t> registers{};  // of each all lanes
  // Lanes that can go on, wait for others of the warp, wait for others of the block, have ended.
  uint32_t ready = 0, waits_for_lanes = 0, waits_for_block = 0, ended = 0;
  std::array<int32_t, kLanes> place{};  // in the code

  uint64_t* lanes(int32_t number_of) { return registers.data() + int64_t{number_of} * kLanes; }
};

// How many instructions of warps that were. Throws Error, which names kernel, line, block and
// thread.
int64_t run(const Kernel& kernel, Grid grid, std::vector<uint8_t> parameters,
            const std::vector<Range>& memory, const Running& running);

// Where a lane's access of `bytes` bytes lies in the host's memory, and whether it may be.
uint8_t* reach_slowly(Warp& warp, const Instruction& what, int lane, uint64_t address,
                      int64_t bytes, bool writes);
[[noreturn]] void fail(const Warp& warp, const Instruction& what, int lane, const std::string& why);

}  // namespace gnnmg::ptx
