// Data that processes exchange before they make a communicator, for every engine.
#pragma once

#include <string>
#include <vector>

#include "comm/processes.h"

namespace gnnmg::comm {

struct Shares {
  uint64_t number = 0;             // number of the communicator in the job
  std::vector<int> first_ranks;    // one per process, then the world size
  std::vector<std::string> words;  // one per process: data of its engine
};

// Names of the engines for ranks on the CPU and on devices.
inline constexpr const char* kOnHost = "Gloo";
inline constexpr const char* kOnDevices = "NCCL";

// Collective. Throws the obstacle of a process, on the other processes as Error(kAborted);
// kMismatch on all if fields or engines differ.
Shares exchange_shares(Processes& processes, const Share& share, const char* engine,
                       const std::string& words, const Wait& wait);

}  // namespace gnnmg::comm
