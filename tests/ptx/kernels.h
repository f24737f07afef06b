// Has the pretended runtime of tests/fake_cuda run the plug-in's kernels, from their PTX.
#pragma once

#include <string>
#include <vector>

namespace gnnmg::ptx {

// Of device 0 as Order::kTogether has it, of device 1, and with GNNMG_PTX_APART in the environment
// of both, as kApart. Before the plug-in is opened.
void run_kernels(const std::string& file);
// What kernels did wrong since the last call.
std::vector<std::string> take_faults();
int64_t num_launches();
int64_t num_instructions();
// Names of kernels that have run, and of all there are.
std::vector<std::string> kernels_that_ran();
std::vector<std::string> all_kernels();

}  // namespace gnnmg::ptx
