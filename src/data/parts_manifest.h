// The list of the files in a folder of parts, with their sums.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/parts_metadata.h"
#include "data/parts_source.h"

namespace gnnmg::data::parts {

// Immutable. Any thread.
class Manifest {
 public:
  // Errors as of Source::expect_parts() where the folder has none; kFormat where it is damaged;
  // kIo.
  explicit Manifest(std::shared_ptr<const Source> source);
  explicit Manifest(const std::string& folder) : Manifest(folder_source(folder)) {}
  const Source& source() const { return *source_; }
  const std::shared_ptr<const Source>& shared_source() const { return source_; }
  bool has(const std::string& file) const { return files_.contains(file); }
  // Error(kFormat) naming the file where it is not in the list.
  const FileFacts& at(const std::string& file) const;
  // The text of a JSON file, held against its sums. Error(kChecksum), kIo.
  std::vector<uint8_t> text(const std::string& file) const;
  // SHA-256 of the list itself, 64 hexadecimal digits: two folders with the same hold the same
  // bytes in every file.
  const std::string& sum() const { return sum_; }

 private:
  std::shared_ptr<const Source> source_;
  std::string sum_;
  std::map<std::string, FileFacts> files_;
};

}  // namespace gnnmg::data::parts
