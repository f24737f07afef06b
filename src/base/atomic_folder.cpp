#include "base/atomic_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/file.h"

namespace gnnmg::base {
namespace {

[[noreturn]] void fail_io(int error, const std::string& path, std::string_view doing) {
  char buffer[128];
  const Status status = error == ENOENT   ? Status::kNotFound
                        : error == ENOMEM ? Status::kNoMemory
                                          : Status::kIo;
  throw Error(status, text(path, ": ", doing, ": ", strerror_r(error, buffer, sizeof buffer)), -1,
              error);
}

void sync_folder(const std::string& path) {
  int fd;
  do fd = files().open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) fail_io(errno, path, "open");
  int synced;
  do synced = files().fsync(fd);
  while (synced < 0 && errno == EINTR);
  const int error = errno;
  files().close(fd);
  if (synced < 0) fail_io(error, path, "sync");
}

// Parent and name.
std::pair<std::string, std::string> split(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

constexpr std::string_view kMark = ".tmp-";

std::string hidden_name(const std::string& name) {
  static std::atomic<uint64_t> counter{0};
  return text(".", name, kMark, getpid(), "-", counter.fetch_add(1));
}

// Whether hidden_name() of a process that is dead made it.
bool is_left_over(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == name.npos) return false;
  const std::string_view rest = name.substr(mark + kMark.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), process);
  const bool ours =
      error == std::errc() && process > 0 && end < rest.data() + rest.size() && *end == '-';
  return ours && process != getpid() && kill(process, 0) < 0 && errno == ESRCH;
}

// 0, or the errno of the first thing that could not be removed; its name says that it is left over.
int remove_with_contents(const std::string& folder) noexcept {
  int error = 0;
  try {
    for (const std::string& name : list_directory(folder))
      if (files().unlink(join_path(folder, name).c_str()) < 0 && error == 0) error = errno;
  } catch (const Error& e) {
    error = e.system_error();
  } catch (const std::exception&) {
    error = ENOMEM;
  }
  if (::rmdir(folder.c_str()) < 0 && error == 0) error = errno;
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
  const std::string temporary = join_path(parent_, hidden_name(name));
  if (files().mkdir(temporary.c_str(), 0777) < 0) fail_io(errno, temporary, "make folder");
  temporary_ = temporary;
}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) remove_with_contents(temporary_);
}

void AtomicFolder::commit() {
  sync_folder(temporary_);
  if (files().rename(temporary_.c_str(), path_.c_str()) < 0)
    fail_io(errno, path_, "rename into place");
  temporary_.clear();
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
    for (const std::string& name : list_directory(parent))
      if (is_left_over(name)) remove_with_contents(join_path(parent, name));
  } catch (const std::exception&) {  // whoever writes here next will say what is wrong
  }
}

}  // namespace gnnmg::base
