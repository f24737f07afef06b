// A temporary file without a name: data that does not fit into memory, for as long as the object
// lives. The system frees its space even if the process is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/file.h"

namespace gnnmg::base {

// Returns the folder of temporary files: $TMPDIR, or /var/tmp, which is on a disk, where /tmp may
// be memory.
std::string scratch_folder();

// Written from start to end; read at any offset that was written. One thread writes at a time, any
// number of threads read. Errors are those of File, and kIo if the disk is full.
class ScratchFile {
 public:
  // Error(kNotFound) if the folder does not exist.
  explicit ScratchFile(const std::string& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void append(std::span<const uint8_t> bytes);
  int64_t size() const { return size_; }  // bytes written
  void read_at(int64_t offset, std::span<uint8_t> out) const { reader_->read_at(offset, out); }

 private:
  int fd_ = -1;
  int64_t size_ = 0;
  std::optional<File> reader_;  // the same file
};

}  // namespace gnnmg::base
