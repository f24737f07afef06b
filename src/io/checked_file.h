// Files whose sums are known: what is returned is what was summed, each byte read once.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/checksum.h"
#include "io/state_file.h"

namespace gnnmg::io {

FileSum sum_of(std::span<const uint8_t> bytes);

// Error(kChecksum) naming the file when it is not what was written.
void check_bytes(const std::string& path, int64_t found, const FileSum& written);
void check_sum(const std::string& path, const FileSum& found, const FileSum& written);

// read_safetensors() of such a file: kChecksum when it is not what was written, however else it may
// be wrong.
StateFile read_checked_safetensors(const std::string& path, const FileSum& written);

}  // namespace gnnmg::io
