// Where the plug-in lies that tests of GPUs open.
#pragma once

#include <cstdlib>
#include <string>

namespace gnnmg::test {

// That of this build; of a package (tests/gpu/pack.sh), which lies elsewhere, the one that
// GNNMG_TEST_PLUGIN names.
inline std::string plugin_path() {
  const char* given = std::getenv("GNNMG_TEST_PLUGIN");
  return given != nullptr ? given : GNNMG_CUDA_PLUGIN;
}

}  // namespace gnnmg::test
