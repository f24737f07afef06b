// Identity of a machine. Names do not suffice: they repeat, and containers have their own.
#pragma once

#include <string>

namespace gnnmg::comm {

// Returns the random id that the kernel draws at boot: the same in all processes of a machine, also
// in containers, and different on every other machine. Empty if the kernel has none.
std::string machine_id();

}  // namespace gnnmg::comm
