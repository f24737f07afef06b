// The end of a thread in the middle of a call, by pthread_exit() in a function of the host or by a
// cancellation that such a function allows. The C library then unwinds the stack like an exception,
// and ends the program if a handler stops the unwinding.
#pragma once

#include <cxxabi.h>

namespace gnnmg::base {

// The exception type of the unwinding. A handler that catches everything on a host thread must
// rethrow it first, with `catch (const ThreadEnd&) { throw; }`, and no destructor or noexcept
// function may call the host.
using ThreadEnd = abi::__forced_unwind;

}  // namespace gnnmg::base
