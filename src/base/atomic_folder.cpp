#include "base/atomic_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/file.h"

namespace gnnmg::base {
namespace {

// Returns -1 and sets errno on failure.
int open_folder(const std::string& path, int more_flags = 0) {
  int fd;
  do fd = files().open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | more_flags, 0);
  while (fd < 0 && errno == EINTR);
  return fd;
}

// Returns the parent and the name.
std::pair<std::string, std::string> split(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

constexpr std::string_view kMark = ".tmp-";

// The name is random, because process ids repeat on other machines and in other containers.
std::string hidden_name(const std::string& name) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) fail_io(errno, name, "draw a name");
  return text(".", name, kMark, random);
}

bool is_hidden_name(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == name.npos) return false;
  const std::string_view rest = name.substr(mark + kMark.size());
  return !rest.empty() && rest.find_first_not_of("0123456789") == rest.npos;
}

// Returns 0, or the errno of the first file that could not be removed. The hidden name marks the
// folder as a leftover. Files that another process has removed meanwhile count as removed. Links
// are removed, their targets are not.
int remove_with_contents(const std::string& folder) noexcept {
  struct stat info;
  if (::lstat(folder.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    return files().unlink(folder.c_str()) < 0 ? errno : 0;
  int error = 0;
  const auto keep_first = [&] {
    if (error == 0 && errno != ENOENT) error = errno;
  };
  try {
    for (const std::string& name : list_directory(folder))
      if (files().unlink(join_path(folder, name).c_str()) < 0) keep_first();
  } catch (const Error& e) {
    errno = e.system_error();
    keep_first();
  } catch (const std::exception&) {
    error = ENOMEM;
  }
  if (::rmdir(folder.c_str()) < 0) keep_first();
  return error;
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path_.empty() || path_ == "/")
    fail(Status::kInvalidArgument, "path \"", path, "\": expected the name of a new folder");
  if (exists(path_))
    fail(Status::kInvalidArgument, path_, ": exists already, expected the name of a new folder");
  std::string name;
  std::tie(parent_, name) = split(path_);
  constexpr int kTries = 8;  // random names to try; an existing file is never touched
  int tries = 1;
  while (!create(name))
    if (errno != EEXIST || tries++ == kTries) fail_io(errno, path_, "make folder beside it");
}

// Returns false and sets errno on failure.
bool AtomicFolder::create(const std::string& name) {
  const std::string temporary = join_path(parent_, hidden_name(name));
  if (files().mkdir(temporary.c_str(), 0777) < 0) return false;
  lock_ = open_folder(temporary);
  if (lock_ < 0) {
    const int error = errno;
    ::rmdir(temporary.c_str());
    errno = error == ENOENT ? EEXIST : error;
    return false;
  }
  // A process that removes leftovers may have locked or removed the folder in between.
  const bool locked = files().flock(lock_, LOCK_EX | LOCK_NB) == 0;
  const bool taken = !locked && errno == EWOULDBLOCK;
  struct stat info;
  if (taken || (locked && ::fstat(lock_, &info) == 0 && info.st_nlink == 0)) {
    ::close(std::exchange(lock_, -1));
    errno = EEXIST;
    return false;
  }
  temporary_ = temporary;
  return true;
}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) remove_with_contents(temporary_);
  if (lock_ >= 0) ::close(lock_);
}

void AtomicFolder::commit() {
  sync_folder(temporary_);
  if (files().rename(temporary_.c_str(), path_.c_str()) < 0)
    fail_io(errno, path_, "rename into place");
  temporary_.clear();
  ::close(std::exchange(lock_, -1));
  sync_folder(parent_);
}

void remove_folder(const std::string& path) {
  const auto [parent, name] = split(path);
  const std::string hidden = join_path(parent, hidden_name(name));
  if (files().rename(path.c_str(), hidden.c_str()) < 0) fail_io(errno, path, "remove");
  if (const int error = remove_with_contents(hidden)) fail_io(error, hidden, "remove");
}

void remove_leftovers(const std::string& parent) noexcept {
  try {
    for (const std::string& name : list_directory(parent)) {
      if (!is_hidden_name(name)) continue;
      const std::string path = join_path(parent, name);
      const int fd = open_folder(path, O_NOFOLLOW);
      if (fd < 0) continue;
      if (files().flock(fd, LOCK_EX | LOCK_NB) == 0) remove_with_contents(path);
      files().close(fd);
    }
  } catch (const std::exception&) {  // the next process that writes here reports the error
  }
}

}  // namespace gnnmg::base
