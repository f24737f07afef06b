// A machine's share of a folder of parts: the files that every machine needs, and some of the
// parts. Header only, so that tests of every level can use it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnmg::test {

// Makes the folder `to`, with links to the files in `from`, which are on the same file system.
inline void link_parts(const std::string& from, const std::string& to,
                       const std::vector<int32_t>& parts) {
  namespace fs = std::filesystem;
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from))
    if (entry.is_regular_file())
      fs::create_hard_link(entry.path(), fs::path(to) / entry.path().filename());
  for (const int32_t part : parts) {
    char name[16];
    std::snprintf(name, sizeof name, "part-%04d", part);
    fs::create_directories(fs::path(to) / name);
    for (const auto& entry : fs::directory_iterator(fs::path(from) / name))
      fs::create_hard_link(entry.path(), fs::path(to) / name / entry.path().filename());
  }
}

}  // namespace gnnmg::test
