// Files of a folder of parts, written and read from beginning to end with their sums.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/native_metadata.h"
#include "data/parts_metadata.h"
#include "data/parts_source.h"
#include "io/checksum.h"

namespace gnnmg::data::parts {

// Sums of each kSumBytes of the bytes added.
class PieceSums {
 public:
  void add(std::span<const uint8_t> bytes);
  int64_t bytes() const { return bytes_; }
  // The sums of whole pieces so far; after finish() also of the last.
  const std::vector<std::string>& sums() const { return sums_; }
  void finish();

 private:
  int64_t bytes_ = 0;
  std::unique_ptr<io::Sha256> sum_ = std::make_unique<io::Sha256>();
  std::vector<std::string> sums_;
};

// A new .npy file, or any other, that appears under its name when it is complete.
class SummedFile {
 public:
  // `file` is relative to `folder`.
  SummedFile(const std::string& folder, std::string file);
  // The header of a .npy file; its data must follow.
  void write_header(base::DType dtype, const base::Shape& shape);
  void write(const void* data, int64_t size);
  FileFacts commit();

 private:
  void flush();

  std::string name_;
  base::AtomicFile file_;
  PieceSums sums_;
  std::vector<uint8_t> buffer_;
};

// The data of a .npy file, compared with its facts and with the type and shape expected. Bytes are
// checked at the end of each piece. Errors name the file: kFormat, kChecksum, kIo.
class CheckedFile {
 public:
  CheckedFile(const Source& source, const FileFacts& facts, const native::Array& expected);
  void read(void* data, int64_t size);
  // All data must have been read.
  void finish();
  const std::string& path() const { return file_->path(); }

 private:
  void fill();
  void check_sums();

  std::unique_ptr<SourceFile> file_;
  const FileFacts& facts_;
  int64_t next_ = 0;  // byte of the file
  PieceSums sums_;
  std::vector<uint8_t> buffer_;
  size_t used_ = 0;  // bytes of buffer_
};

}  // namespace gnnmg::data::parts
