// What tells machines from each other, where names do not: they repeat, and containers have names
// of their own.
#pragma once

#include <string>

namespace gnnmg::comm {

// The same in all processes of a machine, also in containers, and in no other machine's: what the
// kernel drew at its start. Empty where it does not say.
std::string machine_id();

}  // namespace gnnmg::comm
