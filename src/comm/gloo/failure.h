// What LibTorch and Gloo throw, as an error of ours: their texts are all that says what was short.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace gnnmg::comm::gloo {

// "what: " and the first line of the text, below which LibTorch has its C++ trace. kNoMemory for
// want of memory or threads, kUnavailable for want of descriptors, an Error of ours as it is, and
// `otherwise` for the rest.
base::Error failure_of(const std::exception_ptr& thrown, const std::string& what, int rank,
                       base::Status otherwise);

}  // namespace gnnmg::comm::gloo
