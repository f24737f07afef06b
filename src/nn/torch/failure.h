// Converts LibTorch's errors to the library's.
#pragma once

#include <string>

#include "base/error.h"

namespace c10 {
class Error;
}

namespace gnnmg::nn {

struct TorchFailure {
  base::Status status;  // kNoMemory or kInternal
  std::string text;     // one line
};

// kNoMemory if LibTorch's allocators report it, or if CUDA or one of its libraries has no memory
// for kernels, handles or workspaces at their first use.
TorchFailure failure_of(const c10::Error& error);

}  // namespace gnnmg::nn
