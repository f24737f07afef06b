// Reading whole tensors that lie in mapped files.
#pragma once

#include "base/tensor.h"

namespace gnnmg::base {

// Returns the tensor in memory that cannot vanish: the tensor itself, or, if it is mapped, a copy
// read from its file, because a mapping whose file shrinks ends the program. Concurrent callers
// share one copy. Error(kIo) if the file has become too short, kNoMemory if there is no room for
// the copy.
Tensor in_memory(const Tensor& tensor);

}  // namespace gnnmg::base
