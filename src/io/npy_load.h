// The data after a .npy header, from any source, for .npy files and for entries of .npz archives.
// Only for files of this room.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "io/npy.h"

namespace gnnmg::io {

// Calls `read` for consecutive pieces of the data until it has all `header.num_bytes()`.
base::Tensor load_npy_data(const NpyHeader& header, U2 u2, std::string_view name,
                           const std::function<void(std::span<uint8_t>)>& read);

}  // namespace gnnmg::io
