// The LibTorch of this process and whether it will do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gnnmg::capi {

struct FoundTorch {
  uint64_t abi_version = 0;  // major, minor, patch in the upper three bytes; 0: older than 2.11
  std::vector<std::string> paths;    // path of each libtorch_cpu.so that is loaded
  std::vector<std::string> missing;  // names that the library imports and no one has
};
FoundTorch find_torch();
// The same with the missing symbols, which takes a millisecond.
FoundTorch find_torch_and_missing();

// Error(kDependency) with both versions and the paths, or with a name that is missing.
void check_torch(const FoundTorch& found);

int32_t torch_version(const FoundTorch& found);  // encoded like GNNMG_VERSION

}  // namespace gnnmg::capi
