// NCCL as the table of comm/nccl/table.h.
#pragma once

#include "comm/nccl/table.h"

namespace gnnmg::cuda {

// Filled from the NCCL that the plug-in is linked with; lives as long as the process.
const comm::nccl::Table& nccl_table() noexcept;

}  // namespace gnnmg::cuda
