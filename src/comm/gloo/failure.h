// Converts exceptions of LibTorch and Gloo to errors of the library: only their texts name the
// refused resource.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace gnnmg::comm::gloo {

// `what` and the first line of the text; LibTorch's C++ trace follows it. kNoMemory for a lack of
// memory or threads, kUnavailable for a lack of descriptors, an Error of the library unchanged, and
// `otherwise` for the rest.
base::Error failure_of(const std::exception_ptr& thrown, const std::string& what, int rank,
                       base::Status otherwise);

}  // namespace gnnmg::comm::gloo
