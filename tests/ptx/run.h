// Runs a kernel of a program on the host as a GPU would: blocks, warps and lanes, each lane with
// its own place in the code. Faults that a GPU reports, or that silently give a wrong result, are
// an Error here: accesses outside of memory or misaligned, reads of unwritten memory, lanes that
// wait for lanes that never arrive, or that read from one that did not arrive.
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

// Memory that kernels may use, by host address.
struct Range {
  uint64_t begin = 0, end = 0;
  uint8_t* written = nullptr;  // 1 for each written byte; null: all are written
};

struct Grid {
  int64_t blocks = 1;
  int threads = 1;
};

// The order in which lanes, warps and blocks run.
enum class Order {
  kTogether,  // lanes of a warp in lockstep as far as possible, block after block
  kApart      // random: lanes diverge whenever they may, warps and blocks take turns at any place
};

struct Running {
  Order order = Order::kTogether;
  uint64_t seed = 0;
  // Limit in instructions of warps, beyond which a kernel counts as hung.
  int64_t most_instructions = int64_t{1} << 40;
};

struct Block {
  int64_t number = 0;
  std::vector<uint8_t> shared;
  std::vector<struct Warp> warps;
  int64_t num_alive = 0;  // running threads
};

// One launch.
struct Launch {
  const Kernel& kernel;
  const Grid grid;
  const std::vector<uint8_t> parameters;
  const std::vector<Range>& memory;  // ordered by address
  const Running running;
  std::vector<const Range*> last_ranges{};  // memory that each instruction accessed last
  std::minstd_rand random{1};
  int64_t num_instructions = 0;
};

struct Warp {
  Launch* launch = nullptr;
  Block* block = nullptr;
  int number = 0;
  std::vector<uint64_t> registers{};  // registers of all lanes, one after another
  // Lanes that can run, wait for others of the warp, wait for others of the block, have ended.
  uint32_t ready = 0, waits_for_lanes = 0, waits_for_block = 0, ended = 0;
  std::array<int32_t, kLanes> place{};  // positions in the code

  uint64_t* lanes(int32_t number_of) { return registers.data() + int64_t{number_of} * kLanes; }
};

// Returns the number of instructions of warps. Throws an Error with kernel, line, block and thread.
int64_t run(const Kernel& kernel, Grid grid, std::vector<uint8_t> parameters,
            const std::vector<Range>& memory, const Running& running);

// Returns the host address of a lane's access of `bytes` bytes, after checking it.
uint8_t* reach_slowly(Warp& warp, const Instruction& what, int lane, uint64_t address,
                      int64_t bytes, bool writes);
[[noreturn]] void fail(const Warp& warp, const Instruction& what, int lane, const std::string& why);

}  // namespace gnnmg::ptx
