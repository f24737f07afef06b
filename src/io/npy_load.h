// The data behind a .npy header, from wherever it is read: what .npy files and the entries of .npz
// archives share. For this room's own files.
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
