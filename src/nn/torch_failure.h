// What LibTorch throws, as the library says it.
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

// Memory is short where LibTorch's allocators say so, and where CUDA or one of its libraries has
// none for what it makes at its first use: kernels, handles, workspaces.
TorchFailure failure_of(const c10::Error& error);

}  // namespace gnnmg::nn
