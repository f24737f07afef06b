#include "ptx/run.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gnnmg::ptx {
namespace {

constexpr uint32_t kAll = ~0u;

uint32_t bit(int lane) { return 1u << lane; }

// Returns some of a mask's lanes, at least one.
uint32_t some_of(uint32_t mask, std::minstd_rand& random) {
  const uint32_t some =
      mask & (static_cast<uint32_t>(random()) ^ static_cast<uint32_t>(random()) << 16);
  return some != 0 ? some : mask;
}

class Runner {
 public:
  explicit Runner(Launch& launch) : launch_(launch), code_(launch.kernel.code) {}

  // Runs a warp until none of its lanes is ready, or for that many instructions.
  void run(Warp& warp, int64_t budget) {
    while (warp.ready != 0 && budget > 0) {
      const uint32_t group = choose(warp);
      budget -= follow(warp, group, budget);
    }
  }

 private:
  bool apart() const { return launch_.running.order == Order::kApart; }

  // Selects lanes at the same place.
  uint32_t choose(Warp& warp) {
    int32_t at = -1;
    if (apart()) {
      auto turn =
          static_cast<int>(launch_.random() % static_cast<unsigned>(std::popcount(warp.ready)));
      on_lanes(warp.ready, [&](int lane) {
        if (turn-- == 0) at = warp.place[static_cast<size_t>(lane)];
      });
    } else {
      on_lanes(warp.ready, [&](int lane) {
        const int32_t place = warp.place[static_cast<size_t>(lane)];
        if (at < 0 || place < at) at = place;
      });
    }
    uint32_t group = 0;
    on_lanes(warp.ready, [&](int lane) {
      if (warp.place[static_cast<size_t>(lane)] == at) group |= bit(lane);
    });
    if (apart() && launch_.random() % 8 == 0) group = some_of(group, launch_.random);
    return group;
  }

  void put(Warp& warp, uint32_t lanes, int32_t place) {
    on_lanes(lanes, [&](int lane) { warp.place[static_cast<size_t>(lane)] = place; });
  }

  // Runs the lanes of `group` as long as they stay together and no other lanes of the warp reach
  // their place. Returns the number of instructions.
  int64_t follow(Warp& warp, uint32_t group, int64_t budget) {
    int32_t at = warp.place[static_cast<size_t>(std::countr_zero(group))];
    int32_t others = INT32_MAX;
    if (!apart())
      on_lanes(warp.ready & ~group,
               [&](int lane) { others = std::min(others, warp.place[static_cast<size_t>(lane)]); });
    int64_t done = 0;
    while (done < budget && at < others) {
      const Instruction& what = code_[static_cast<size_t>(at)];
      ++done;
      uint32_t mask = group;
      if (what.guard >= 0) {
        const uint64_t* const guard = warp.lanes(what.guard);
        on_lanes(group, [&](int lane) {
          if ((guard[lane] & 1) == (what.guard_negated ? 1u : 0u)) mask &= ~bit(lane);
        });
      }
      if (what.control == Control::kNone) {
        if (mask != 0) what.run(warp, what, mask);
        ++at;
        continue;
      }
      if (what.control == Control::kBranch) {
        if (mask == group) {
          const bool back = what.target <= at;
          at = what.target;
          if (back &&
              (apart() || launch_.num_instructions + done > launch_.running.most_instructions))
            break;
        } else if (mask == 0) {
          ++at;
        } else {
          put(warp, group & ~mask, at + 1);
          put(warp, mask, what.target);
          return count(done);
        }
        continue;
      }
      put(warp, group & ~mask, at + 1);
      put(warp, mask, at);
      if (mask == 0) {
        at += 1;
        continue;
      }
      stop(warp, what, mask);
      return count(done);
    }
    put(warp, group, at);
    return count(done);
  }

  int64_t count(int64_t done) {
    launch_.num_instructions += done;
    if (launch_.num_instructions > launch_.running.most_instructions)
      throw Error(launch_.kernel.name + " does not come to its end");
    return done;
  }

  void stop(Warp& warp, const Instruction& what, uint32_t mask) {
    if (what.control == Control::kExit) {
      warp.ready &= ~mask;
      warp.ended |= mask;
      warp.block->num_alive -= std::popcount(mask);
      meet(warp);
    } else if (what.control == Control::kBlock) {
      warp.ready &= ~mask;
      warp.waits_for_block |= mask;
    } else {
      on_lanes(mask, [&](int lane) {
        if (!(members(warp, what, lane) & bit(lane)))
          fail(warp, what, lane, "is not among the lanes that it waits for");
      });
      warp.ready &= ~mask;
      warp.waits_for_lanes |= mask;
      meet(warp);
    }
  }

  static uint32_t members(Warp& warp, const Instruction& what, int lane) {
    return static_cast<uint32_t>(warp.lanes(what.members)[lane]);
  }

  // Resumes lanes that wait for each other once all have arrived.
  void meet(Warp& warp) {
    for (uint32_t open = warp.waits_for_lanes; open != 0;) {
      const int lane = std::countr_zero(open);
      const int32_t at = warp.place[static_cast<size_t>(lane)];
      const Instruction& what = code_[static_cast<size_t>(at)];
      const uint32_t wanted = members(warp, what, lane), alive = wanted & ~warp.ended;
      open &= ~bit(lane);
      if ((alive & warp.waits_for_lanes) != alive) continue;
      bool same = true;
      on_lanes(alive, [&](int other) {
        same = same && warp.place[static_cast<size_t>(other)] == at &&
               members(warp, what, other) == wanted;
      });
      if (!same) continue;
      what.run(warp, what, alive);
      put(warp, alive, at + 1);
      warp.waits_for_lanes &= ~alive;
      warp.ready |= alive;
      open &= ~alive;
    }
  }

  Launch& launch_;
  const std::vector<Instruction>& code_;
};

uint64_t value_of(Special special, const Launch& launch, const Warp& warp, int lane) {
  const auto l = static_cast<uint32_t>(lane);
  switch (special) {
    case Special::kLane:
      return l;
    case Special::kThread:
      return static_cast<uint64_t>(warp.number) * kLanes + l;
    case Special::kBlock:
      return static_cast<uint64_t>(warp.block->number);
    case Special::kThreads:
      return static_cast<uint64_t>(launch.grid.threads);
    case Special::kBlocks:
      return static_cast<uint64_t>(launch.grid.blocks);
    case Special::kLanesFrom:
      return kAll << l;
    case Special::kLanesUpTo:
      return kAll >> (31 - l);
  }
  return 0;
}

void begin(Launch& launch, Block& block, int64_t number) {
  const bool again = !block.warps.empty();
  block.number = number;
  block.shared.assign(static_cast<size_t>(launch.kernel.shared_bytes), 0xFF);  // unwritten
  block.num_alive = launch.grid.threads;
  block.warps.resize(static_cast<size_t>((launch.grid.threads + kLanes - 1) / kLanes));
  for (size_t w = 0; w < block.warps.size(); ++w) {
    Warp& warp = block.warps[w];
    warp.launch = &launch;
    warp.block = &block;
    warp.number = static_cast<int>(w);
    const int lanes = std::min(kLanes, launch.grid.threads - static_cast<int>(w) * kLanes);
    warp.ready = lanes == kLanes ? kAll : bit(lanes) - 1;
    warp.ended = ~warp.ready;
    warp.waits_for_lanes = warp.waits_for_block = 0;
    warp.place.fill(0);
    if (!again) {  // registers that no instruction wrote are not zero
      warp.registers.assign(static_cast<size_t>(launch.kernel.num_registers) * kLanes,
                            0xFFF5'A5A5'FFA5'A5A5);
      for (const auto& [to, value] : launch.kernel.constants)
        std::fill_n(warp.lanes(to), kLanes, value);
    }
    for (const auto& [to, special] : launch.kernel.specials)
      for (int lane = 0; lane < kLanes; ++lane)
        warp.lanes(to)[lane] = value_of(special, launch, warp, lane);
  }
}

// Resumes threads that wait for their block once all have arrived. Returns false if none could.
bool meet(Launch& launch, Block& block) {
  int64_t waiting = 0;
  for (const Warp& warp : block.warps) waiting += std::popcount(warp.waits_for_block);
  if (waiting == 0 || waiting < block.num_alive) return false;
  uint64_t any = 0;
  const Instruction* first = nullptr;
  for (Warp& warp : block.warps) {
    const Instruction* of_warp = nullptr;
    on_lanes(warp.waits_for_block, [&](int lane) {
      const Instruction& what =
          launch.kernel.code[static_cast<size_t>(warp.place[static_cast<size_t>(lane)])];
      if (of_warp != nullptr && of_warp != &what)
        fail(warp, what, lane,
             "waits for its block at another barrier than other lanes of its warp");
      of_warp = &what;
      if (first == nullptr) first = &what;
      if (warp.lanes(what.in[0])[lane] != block.warps[0].lanes(first->in[0])[0] && first != &what)
        fail(warp, what, lane, "waits at another barrier than other warps of its block");
      if (what.in[1] >= 0) any |= warp.lanes(what.in[1])[lane] & 1;
    });
  }
  for (Warp& warp : block.warps) {
    on_lanes(warp.waits_for_block, [&](int lane) {
      int32_t& place = warp.place[static_cast<size_t>(lane)];
      const Instruction& what = launch.kernel.code[static_cast<size_t>(place++)];
      if (what.out[0] >= 0) warp.lanes(what.out[0])[lane] = any;
    });
    warp.ready |= warp.waits_for_block;
    warp.waits_for_block = 0;
  }
  return true;
}

[[noreturn]] void hangs(Launch& launch, Block& block) {
  for (Warp& warp : block.warps)
    for (const uint32_t waiting : {warp.waits_for_lanes, warp.waits_for_block})
      if (waiting != 0) {
        const int lane = std::countr_zero(waiting);
        const int32_t at = warp.place[static_cast<size_t>(lane)];
        fail(warp, launch.kernel.code[static_cast<size_t>(at)], lane,
             "waits for others that never come");
      }
  throw Error(launch.kernel.name + ": a block hangs");
}

constexpr size_t kResident = 3;  // blocks that take turns
constexpr int64_t kTurn = 200;   // most instructions of a turn

void run_together(Launch& launch) {
  Runner runner(launch);
  Block block;
  for (int64_t number = 0; number < launch.grid.blocks; ++number) {
    begin(launch, block, number);
    while (block.num_alive > 0) {
      for (Warp& warp : block.warps) runner.run(warp, INT64_MAX);
      if (block.num_alive > 0 && !meet(launch, block)) hangs(launch, block);
    }
  }
}

void run_apart(Launch& launch) {
  Runner runner(launch);
  std::vector<std::unique_ptr<Block>> resident;
  int64_t next = 0;
  while (next < launch.grid.blocks || !resident.empty()) {
    while (resident.size() < kResident && next < launch.grid.blocks) {
      resident.push_back(std::make_unique<Block>());
      begin(launch, *resident.back(), next++);
    }
    const size_t turn = launch.random() % resident.size();
    Block& block = *resident[turn];
    std::vector<Warp*> ready;
    for (Warp& warp : block.warps)
      if (warp.ready != 0) ready.push_back(&warp);
    if (!ready.empty()) {
      const auto budget = static_cast<int64_t>(1 + launch.random() % kTurn);
      runner.run(*ready[launch.random() % ready.size()], budget);
    } else if (block.num_alive > 0 && !meet(launch, block)) {
      hangs(launch, block);
    }
    if (block.num_alive == 0) resident.erase(resident.begin() + static_cast<int64_t>(turn));
  }
}

const Range* range_of(const std::vector<Range>& memory, uint64_t address) {
  auto after = std::upper_bound(memory.begin(), memory.end(), address,
                                [](uint64_t at, const Range& range) { return at < range.begin; });
  if (after == memory.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

void fail(const Warp& warp, const Instruction& what, int lane, const std::string& why) {
  throw Error(warp.launch->kernel.name + ", line " + std::to_string(what.line) + ", thread " +
              std::to_string(warp.number * kLanes + lane) + " of block " +
              std::to_string(warp.block->number) + " (of " +
              std::to_string(warp.launch->grid.blocks) + " of " +
              std::to_string(warp.launch->grid.threads) + "): " + why);
}

uint8_t* reach_slowly(Warp& warp, const Instruction& what, int lane, uint64_t address,
                      int64_t bytes, bool writes) {
  const auto size = static_cast<uint64_t>(bytes);
  if (address % size != 0)
    fail(warp, what, lane,
         std::to_string(bytes) + " bytes at " + hexadecimal(address) + ", which is not aligned");
  if (what.space == Space::kParam) {
    auto& parameters = const_cast<std::vector<uint8_t>&>(warp.launch->parameters);
    if (writes || address + size > parameters.size())
      fail(warp, what, lane, "no parameter is there");
    return parameters.data() + address;
  }
  if (what.space == Space::kShared) {
    std::vector<uint8_t>& shared = warp.block->shared;
    address &= 0xFFFFFFFF;
    if (address + size > shared.size())
      fail(warp, what, lane,
           std::to_string(bytes) + " bytes at " + std::to_string(address) + " of " +
               std::to_string(shared.size()) + " of shared memory");
    return shared.data() + address;
  }
  Launch& launch = *warp.launch;
  const Range*& range = launch.last_ranges[static_cast<size_t>(&what - launch.kernel.code.data())];
  if (range == nullptr || address < range->begin || address >= range->end)
    range = range_of(launch.memory, address);
  if (range == nullptr || size > range->end - address)
    fail(warp, what, lane,
         std::string(writes ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " +
             hexadecimal(address) + ", where no memory of the device's is" +
             (range == nullptr ? "" : " after the first of them"));
  if (range->written != nullptr) {
    uint8_t* const written = range->written + (address - range->begin);
    if (writes) {
      std::memset(written, 1, size);
    } else if (std::memchr(written, 0, size) != nullptr) {
      for (uint64_t i = 0; i < size; ++i)
        if (written[i] == 0 && (what.used_bytes >> i & 1))
          fail(warp, what, lane,
               "reads " + std::to_string(bytes) + " bytes at " + hexadecimal(address) + ", byte " +
                   std::to_string(i) + " of which nobody wrote");
    }
  }
  return reinterpret_cast<uint8_t*>(address);
}

int64_t run(const Kernel& kernel, Grid grid, std::vector<uint8_t> parameters,
            const std::vector<Range>& memory, const Running& running) {
  if (grid.blocks <= 0 || grid.threads <= 0 || grid.threads > 1024 ||
      (kernel.max_threads > 0 && grid.threads > kernel.max_threads))
    throw Error(kernel.name + ": " + std::to_string(grid.blocks) + " blocks of " +
                std::to_string(grid.threads) + " threads, of " +
                std::to_string(kernel.max_threads) + " at most");
  if (static_cast<int64_t>(parameters.size()) != kernel.all_parameter_bytes)
    throw Error(kernel.name + ": parameters of another size");
  Launch launch{kernel, grid, std::move(parameters), memory, running};
  launch.last_ranges.resize(kernel.code.size());
  launch.random.seed(static_cast<uint32_t>(running.seed * 2 + 1));
  if (running.order == Order::kTogether)
    run_together(launch);
  else
    run_apart(launch);
  return launch.num_instructions;
}

}  // namespace gnnmg::ptx
