// A message between processes: bytes in memory that is kept from message to message.
#pragma once

#include <cstdint>

#include "base/memory.h"

namespace gnnmg::dist {

using Message = base::PageVector<uint8_t>;

}  // namespace gnnmg::dist
