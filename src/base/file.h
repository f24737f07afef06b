// Files over one table of system calls. Tests replace the table to make the n-th call fail, be
// short, or lose power.
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
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gnnmg::base {

// Every system call on files in the library. Signatures and errno are those of POSIX.
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
// Replaces the table of the whole process and returns the old one; null restores the system's. For
// tests.
const FileTable* set_file_table(const FileTable* table) noexcept;
const FileTable& files() noexcept;

// Throws Error "<path>: <doing>: <text of errno>" with kNotFound, kNoMemory or kIo according to
// errno.
[[noreturn]] void fail_io(int error, const std::string& path, std::string_view doing);

// A file open for reading. All errors are Error(kIo) with errno and path, or kNotFound. A path that
// is no regular file gives Error(kIo) at once, even for a pipe without a writer. EINTR and short
// reads are resumed. Reads check the thread's CancelScope.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // Fills `out` from `offset`. If the file is too short, Error(kIo) "ends at byte ..." names its
  // real end.
  void read_at(int64_t offset, std::span<uint8_t> out) const;
  // Reads up to out.size() bytes and returns the number read.
  int64_t read_some(int64_t offset, std::span<uint8_t> out) const;
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

// Returns the whole file. Error(kFormat) if it is larger than `limit` bytes.
std::vector<uint8_t> read_file(const std::string& path, int64_t limit);

// A read-only private mapping of a whole file. If the file shrinks, at any moment, a read beyond
// its new end is a bus error. So code that copies data reads file() at the same offsets instead,
// and code that hands out ranges calls check_size() first.
class MappedFile {
 public:
  static std::shared_ptr<MappedFile> open(const std::string& path);
  // Returns the mapped file that `owner` keeps alive, as in a tensor that is a view of a file;
  // otherwise null.
  static const MappedFile* of(const std::shared_ptr<void>& owner) noexcept;
  ~MappedFile();
  std::span<const uint8_t> bytes() const { return {data_, static_cast<size_t>(file_.size())}; }
  const std::string& path() const { return file_.path(); }
  const File& file() const { return file_; }
  // Throws Error(kIo) if the size of the file has changed since it was mapped.
  void check_size() const;
  // Returns the existing copy of bytes [begin, begin + size) of that kind, or makes one with
  // `make`. Callers that arrive during `make` wait for it. Any thread.
  std::shared_ptr<void> shared_copy(std::string_view kind, int64_t begin, int64_t size,
                                    const std::function<std::shared_ptr<void>()>& make) const;

 private:
  // The type by which of() recognizes mapped files.
  struct Deleter {
    MappedFile* file;
    void operator()(MappedFile* mapped) const { delete mapped; }
  };
  explicit MappedFile(const std::string& path) : file_(path) {}
  File file_;
  const uint8_t* data_ = nullptr;
  mutable std::mutex mutex_;
  // Keys: kind, begin and size.
  mutable std::map<std::tuple<std::string, int64_t, int64_t>, std::weak_ptr<void>> copies_;
};

// Writes a new file to `path`.gnnmg-tmp-<random>. commit() does fsync, renames it to `path` and
// does fsync of the folder. Without a commit the temporary file is removed. The temporary file of a
// killed process is removed by the next process that writes to `path` and finds it unlocked, on
// file systems with locks. Error(kIo) with errno and path on any failure; if only the last step
// fails, the new file is in place but may not survive a power loss. A new file gets its permissions
// from the umask; a file that replaces another one keeps the permissions of the old one. If `path`
// is a link, its target is replaced and the link stays; in folders that only the library writes to,
// links are refused with kIo.
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
  // Syncs the data written so far and takes as long as the disk does. For writers that must know
  // before commit() whether the data is durable.
  void sync();
  void commit();

 private:
  bool create();

  std::string path_, temporary_;
  int fd_ = -1;
  int lock_ = -1;  // a second descriptor of the temporary file, held until the rename
  bool synced_ = false;
};

// Error(kIo) if `path` is a link, for folders that only the library writes to.
void refuse_link(const std::string& path);

bool exists(const std::string& path) noexcept;
bool is_directory(const std::string& path) noexcept;
// True if the path exists, false if nothing is there; for files that are optional, as in a data
// set. A path that cannot be reached, such as a link to a missing file, is an Error(kNotFound or
// kIo) that names the link and its target.
bool is_present(const std::string& path);
bool is_present_directory(const std::string& path);
// Creates the folder durably. Does nothing if it exists.
void make_directory(const std::string& path);
// Creates several folders in one parent durably. Existing ones stay.
void make_directories(const std::string& folder, const std::vector<std::string>& names);
// Makes the folder's list of names durable.
void sync_folder(const std::string& path);
// Returns the names in a folder, sorted, without "." and "..".
std::vector<std::string> list_directory(const std::string& path);
// Returns the names in a folder, sorted, without those that begin with a dot, as macOS adds a
// "._NAME" to each NAME, and without the files that Windows and archives of macOS leave.
std::vector<std::string> list_visible(const std::string& path);
std::string join_path(const std::string& folder, std::string_view name);
// Checks that `name` stays inside its folder: not absolute, no "..", no NUL. Otherwise
// Error(kFormat) names `where`.
void check_relative_name(std::string_view name, std::string_view where);

}  // namespace gnnmg::base
