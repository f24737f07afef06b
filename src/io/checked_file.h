// Files with known checksums. Each byte is read once, so the returned bytes are the checked ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/checksum.h"
#include "io/state_file.h"

namespace gnnmg::io {

FileSum sum_of(std::span<const uint8_t> bytes);

// Error(kChecksum) naming the file if it has changed since it was written.
void check_bytes(const std::string& path, int64_t found, const FileSum& written);
void check_sum(const std::string& path, const FileSum& found, const FileSum& written);

// read_safetensors() of such a file. A changed file is kChecksum, even if it has other faults too.
StateFile read_checked_safetensors(const std::string& path, const FileSum& written);

}  // namespace gnnmg::io
