// A temporary folder for a test, removed with all its contents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::test {

class TempDir {
 public:
  TempDir();  // below $TMPDIR, or /tmp
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;
  // Writes a file and its missing folders, and returns its path.
  std::string write(std::string_view name, std::span<const uint8_t> bytes) const;
  std::string write(std::string_view name, std::string_view text) const;
  // Returns the names of all files and folders below, relative and sorted.
  std::vector<std::string> list() const;

 private:
  std::string path_;
};

// Returns the contents of a file, read without the library; throws std::runtime_error.
std::string slurp(const std::string& path);

}  // namespace gnnmg::test
