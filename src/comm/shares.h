// What processes tell each other before they make a communicator, whatever the engine.
#pragma once

#include <string>
#include <vector>

#include "comm/processes.h"

namespace gnnmg::comm {

struct Shares {
  uint64_t number = 0;             // of the communicator in the job
  std::vector<int> first_ranks;    // by process, and one more: the world
  std::vector<std::string> words;  // by process: what its engine adds
};

// Engines: of ranks on the CPU, and on devices.
inline constexpr const char* kOnHost = "Gloo";
inline constexpr const char* kOnDevices = "NCCL";

// Collective. Throws the obstacle of the process that has one, on the others as Error(kAborted);
// kMismatch on all when fields or engines differ.
Shares exchange_shares(Processes& processes, const Share& share, const char* engine,
                       const std::string& words, const Wait& wait);

}  // namespace gnnmg::comm
