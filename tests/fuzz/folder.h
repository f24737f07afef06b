// A folder for readers that depend on the names of files. The files are really written, in memory
// if the system has such a place, and removed at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gnnmg::test {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) /
                       fs::path("gnnmg-fuzz-XXXXXX");
    if (!mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  void clear() const {
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry);
  }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
  }

 private:
  fs::path path_;
};

}  // namespace gnnmg::test
