// Tensors that lie in mapped files, for code that reads them as a whole.
#pragma once

#include "base/tensor.h"

namespace gnnmg::base {

// The tensor, in memory that nobody can take away: itself, or a copy read from its file when it is
// mapped, since reading a mapping whose file shrinks meanwhile ends the program. All who hold a
// copy at one time hold the same one. Error(kIo) when the file has become too short, kNoMemory when
// there is no room for the copy.
Tensor in_memory(const Tensor& tensor);

}  // namespace gnnmg::base
