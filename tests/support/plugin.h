// The path of the plug-in for tests of GPUs.
#pragma once

#include <cstdlib>
#include <string>

namespace gnnmg::test {

// Returns the plug-in of this build; for a package (tests/gpu/pack.sh), which is elsewhere, the one
// in GNNMG_TEST_PLUGIN.
inline std::string plugin_path() {
  const char* given = std::getenv("GNNMG_TEST_PLUGIN");
  return given != nullptr ? given : GNNMG_CUDA_PLUGIN;
}

}  // namespace gnnmg::test
