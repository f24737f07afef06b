// The LibTorch of this process and whether it will do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gnnmg::capi {

struct FoundTorch {
  uint64_t abi_version = 0;  // major, minor, patch in the upper three bytes; 0: older than 2.11
  std::vector<std::string> paths;  // of each libtorch_cpu.so that is loaded
};
FoundTorch find_torch();

// Error(kDependency) with both versions and the paths.
void check_torch(const FoundTorch& found);

int32_t torch_version(const FoundTorch& found);  // as GNNMG_VERSION is written

}  // namespace gnnmg::capi
