// A fake /sys: files that exist while the object lives, and no others under /sys.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace gnnmg::test {

class Sysfs {
 public:
  // Contents by path.
  explicit Sysfs(std::map<std::string, std::string> files) {
    state() = {std::move(files), base::files(), {}};
    table_ = base::files();
    table_.open = [](const char* path, int flags, mode_t mode) {
      if (std::strncmp(path, "/sys/", 5) != 0) return state().real.open(path, flags, mode);
      const auto found = state().files.find(path);
      if (found == state().files.end()) {
        errno = ENOENT;
        return -1;
      }
      state().open.push_back(found->second);
      return kFirst + static_cast<int>(state().open.size()) - 1;
    };
    table_.close = [](int fd) { return fd >= kFirst ? 0 : state().real.close(fd); };
    table_.pread = [](int fd, void* buffer, size_t size, off_t offset) -> ssize_t {
      if (fd < kFirst) return state().real.pread(fd, buffer, size, offset);
      const std::string& contents = state().open[static_cast<size_t>(fd - kFirst)];
      const size_t begin = std::min(static_cast<size_t>(offset), contents.size());
      const size_t count = std::min(size, contents.size() - begin);
      std::memcpy(buffer, contents.data() + begin, count);
      return static_cast<ssize_t>(count);
    };
    table_.fstat = [](int fd, struct stat* info) {
      if (fd < kFirst) return state().real.fstat(fd, info);
      *info = {};
      info->st_mode = S_IFREG | 0444;
      info->st_size = 4096;  // the size of all files there
      return 0;
    };
    before_ = base::set_file_table(&table_);
  }
  ~Sysfs() { base::set_file_table(before_); }
  Sysfs(const Sysfs&) = delete;
  Sysfs& operator=(const Sysfs&) = delete;

 private:
  static constexpr int kFirst = 1 << 28;  // above all real descriptors
  struct State {
    std::map<std::string, std::string> files;
    base::FileTable real;
    std::vector<std::string> open;
  };
  static State& state() {
    static State state;
    return state;
  }
  base::FileTable table_;
  const base::FileTable* before_;
};

}  // namespace gnnmg::test
