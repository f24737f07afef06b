// The place of a folder of parts: a file system, or servers that have it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gnnmg::data::parts {

// A file of the folder. One thread at a time.
class SourceFile {
 public:
  virtual ~SourceFile() = default;
  virtual const std::string& path() const = 0;  // name in error texts
  virtual int64_t size() const = 0;
  // Fills `out` from byte `offset`. Error(kIo) where the file is too short, and the errors of
  // asking.
  virtual void read_at(int64_t offset, std::span<uint8_t> out) const = 0;
};

// Any thread.
class Source {
 public:
  virtual ~Source() = default;
  virtual const std::string& name() const = 0;  // name in error texts
  // Error(kNotFound), kIo, and the errors of asking.
  virtual std::unique_ptr<SourceFile> open(const std::string& file) const = 0;
  // Throws where it is sure that nobody can open parts here, naming the content and the remedy:
  // Error(kNotFound) where there is no folder, or it holds no data; kFormat where it holds
  // other data, or parts that are not complete; kIo.
  virtual void expect_parts() const = 0;

  // All of a file. Error(kFormat) where it has more than `limit` bytes.
  std::vector<uint8_t> read(const std::string& file, int64_t limit) const;
};

// A folder in a file system.
std::shared_ptr<const Source> folder_source(std::string folder);

}  // namespace gnnmg::data::parts
