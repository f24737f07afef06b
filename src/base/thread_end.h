// The end of a thread in the middle of a call: pthread_exit() in a function of the host's, or a
// cancellation that such a function has allowed. The C library then unwinds the stack as an
// exception does, and ends the program where somebody keeps it from going on.
#pragma once

#include <cxxabi.h>

namespace gnnmg::base {

// What unwinds the stack. Whoever catches everything on a thread of the host's lets it pass first,
// with `catch (const ThreadEnd&) { throw; }`, and no destructor or noexcept function calls the
// host.
using ThreadEnd = abi::__forced_unwind;

}  // namespace gnnmg::base
