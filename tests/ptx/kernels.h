// Makes the fake runtime of tests/fake_cuda run the plug-in's kernels from their PTX.
#pragma once

#include <string>
#include <vector>

namespace gnnmg::ptx {

// Device 0 runs as Order::kTogether, device 1 as kApart; with GNNMG_PTX_APART in the environment
// both run as kApart. Call before the plug-in is opened.
void run_kernels(const std::string& file);
// Returns the kernels' errors since the last call.
std::vector<std::string> take_faults();
int64_t num_launches();
int64_t num_instructions();
// Return the names of kernels that have run, and of all kernels.
std::vector<std::string> kernels_that_ran();
std::vector<std::string> all_kernels();

}  // namespace gnnmg::ptx
