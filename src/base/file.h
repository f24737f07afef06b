// Files, behind one table of system calls, so that tests can make the n-th call fail, be short, or
// lose power.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gnnmg::base {

// Every system call on files that the library makes. Signatures and errno as POSIX has them.
struct FileTable {
  int (*open)(const char* path, int flags, mode_t mode);
  int (*close)(int fd);
  ssize_t (*pread)(int fd, void* buffer, size_t size, off_t offset);
  ssize_t (*write)(int fd, const void* buffer, size_t size);
  int (*fstat)(int fd, struct stat* info);
  int (*fsync)(int fd);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
  int (*mkdir)(const char* path, mode_t mode);
  int (*flock)(int fd, int operation);
};
const FileTable& system_files() noexcept;
// Replaces the table for the whole process and returns the old one; null: the system's. For tests.
const FileTable* set_file_table(const FileTable* table) noexcept;
const FileTable& files() noexcept;

// Throws Error "<path>: <doing>: <text of errno>": kNotFound, kNoMemory or kIo as errno says.
[[noreturn]] void fail_io(int error, const std::string& path, std::string_view doing);

// A file open for reading. All errors are Error(kIo) with errno and path, or kNotFound; a path that
// is no regular file is Error(kIo) too, at once, also for a pipe that nobody writes to. EINTR and
// short reads are resumed. Reads look at the thread's CancelScope.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // Fills `out` from `offset`; kIo "ends at byte ...", where it really ends, when the file is too
  // short.
  void read_at(int64_t offset, std::span<uint8_t> out) const;
  // As much as there is, up to out.size(); returns the count.
  int64_t read_some(int64_t offset, std::span<uint8_t> out) const;
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

// Whole file as bytes; kFormat when it is larger than `limit`.
std::vector<uint8_t> read_file(const std::string& path, int64_t limit);

// A read-only private mapping of a whole file. Reading beyond the end of a file that has shrunk
// meanwhile would be a bus error, at whatever moment it shrinks: who copies out of it reads file()
// at the same offsets instead, and who must hand ranges out calls `check_size` before.
class MappedFile {
 public:
  static std::shared_ptr<MappedFile> open(const std::string& path);
  // The mapped file that `owner` shares in, if it is one: of a tensor that is a view of a file.
  static const MappedFile* behind(const std::shared_ptr<void>& owner) noexcept;
  ~MappedFile();
  std::span<const uint8_t> bytes() const { return {data_, static_cast<size_t>(file_.size())}; }
  const std::string& path() const { return file_.path(); }
  const File& file() const { return file_; }
  // Error(kIo) when the file no longer has the size it had when it was mapped.
  void check_size() const;
  // The copy of bytes [begin, begin + size) that somebody holds, else that which `make` makes. Who
  // asks while it is being made waits for it. Any thread.
  std::shared_ptr<void> shared_copy(int64_t begin, int64_t size,
                                    const std::function<std::shared_ptr<void>()>& make) const;

 private:
  // Known by its type to behind().
  struct Deleter {
    MappedFile* file;
    void operator()(MappedFile* mapped) const { delete mapped; }
  };
  explicit MappedFile(const std::string& path) : file_(path) {}
  File file_;
  const uint8_t* data_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int64_t, int64_t>, std::weak_ptr<void>> copies_;  // by begin and size
};

// Writes a new file: to `path`.gnnmg-tmp-<random>, then, on commit(), fsync, rename to `path`,
// fsync of the folder. Without a commit the temporary file is removed; that of a process that was
// killed is removed by the next one that writes to `path`, which knows it by the lock that nobody
// holds on it any more, where the file system has such locks. kIo with errno and path on any
// failure; when only the last step failed, the new file is in place but may not outlive a loss of
// power. A new file has the permissions that the umask leaves, one that replaces another has the
// other's. Where `path` is a link, what it leads to is replaced, and the link stays; or it is
// refused, with kIo, in folders whose contents are the library's own.
class AtomicFile {
 public:
  enum class Links { kFollow, kRefuse };
  explicit AtomicFile(const std::string& path, Links links = Links::kFollow);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::span<const uint8_t> bytes);
  void write(std::string_view text) {
    write({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  // What has been written so far, which takes as long as the disk takes: for those who have to know
  // that before they commit.
  void sync();
  void commit();

 private:
  bool create();

  std::string path_, temporary_;
  int fd_ = -1;
  int lock_ = -1;  // a second descriptor of the temporary file, until that has its name
  bool synced_ = false;
};

bool exists(const std::string& path) noexcept;
bool is_directory(const std::string& path) noexcept;
// The same for what may be missing, of a data set for example: false only where nothing is there.
// Something that cannot be reached, as a link that leads nowhere, is kNotFound or kIo, naming the
// link and what it leads to.
bool is_present(const std::string& path);
bool is_present_directory(const std::string& path);
// Makes the folder, which then outlives a loss of power; fine if it is there already.
void make_directory(const std::string& path);
// The same of several in one folder.
void make_directories(const std::string& folder, const std::vector<std::string>& names);
// What the folder lists outlives a loss of power.
void sync_folder(const std::string& path);
// Names in a folder, sorted, without "." and "..".
std::vector<std::string> list_directory(const std::string& path);
// The same without names that begin with a dot, which are files of a system: macOS puts a "._NAME"
// beside each NAME.
std::vector<std::string> list_visible(const std::string& path);
std::string join_path(const std::string& folder, std::string_view name);
// `name` must stay inside its folder: not absolute, no "..", no NUL; Error(kFormat) naming `where`
// otherwise.
void check_relative_name(std::string_view name, std::string_view where);

}  // namespace gnnmg::base
