#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/cancel.h"

namespace gnnmg::base {
namespace {

std::atomic<const FileTable*> current_table{nullptr};

std::string system_text(int error) {
  char buffer[128];
  return strerror_r(error, buffer, sizeof buffer);
}

int retry(auto call) {
  int result;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns false if it exists already.
bool make_if_missing(const std::string& path) {
  if (files().mkdir(path.c_str(), 0777) == 0) return true;
  const int error = errno;
  if (error != EEXIST || !is_directory(path)) fail_io(error, path, "make folder");
  return false;
}

// Returns the target of a link, or an empty text if the path is no link.
std::string link_target(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return target;
}

// The failure to open the target of a link.
[[noreturn]] void fail_link(int error, const std::string& path, const std::string& target) {
  if (error != ENOENT) fail_io(error, path, text("open the link to ", target));
  throw Error(
      Status::kNotFound,
      text(path, ": open the link to ", target, ": ", system_text(error),
           "; fetch the file (git annex get, dvc pull), mount its disk, or remove the link"),
      -1, error);
}

// Follows links in the last part of a path. The final target need not exist.
std::string follow_links(std::string path) {
  constexpr int kMostLinks = 40;  // the system's limit
  for (int link = 0; link < kMostLinks; ++link) {
    const std::string target = link_target(path);
    if (target.empty()) return path;  // not a link; other errors appear when the file is opened
    path = target.starts_with('/') ? target : join_path(parent_of(path), target);
  }
  fail_io(ELOOP, path, "follow links");
}

constexpr std::string_view kTemporary = ".gnnmg-tmp-";
constexpr mode_t kOwner = 0600;

// Returns the permissions of a regular file, or nullopt if there is none.
std::optional<mode_t> mode_of_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return info.st_mode & 0777;
}

// A rename would replace a pipe or a device, such as /dev/null.
void refuse_other_kinds(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return;
  if (S_ISDIR(info.st_mode)) fail_io(EISDIR, path, "create");
  fail(Status::kIo, path, ": is a special file; expected the name of a regular file");
}

// Removes temporary files for `path` that are not locked: their writers are dead.
void remove_abandoned(const std::string& path) noexcept {
  try {
    const std::string start = text(path.substr(path.rfind('/') + 1), kTemporary);
    const std::string folder = parent_of(path);
    for (const std::string& name : list_directory(folder)) {
      if (!name.starts_with(start) || name.size() == start.size() ||
          name.find_first_not_of("0123456789", start.size()) != name.npos)
        continue;
      const std::string found = join_path(folder, name);
      const auto open = [&](int access) {
        const int flags = access | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
        return retry([&] { return files().open(found.c_str(), flags, 0); });
      };
      int fd = open(O_WRONLY);  // network file systems lock only files open for writing
      if (fd < 0 && errno == EACCES) fd = open(O_RDONLY);
      if (fd < 0) continue;
      if (files().flock(fd, LOCK_EX | LOCK_NB) == 0) files().unlink(found.c_str());
      files().close(fd);
    }
  } catch (const std::exception&) {  // leftover files only take space
  }
}

}  // namespace

void fail_io(int error, const std::string& path, std::string_view doing) {
  const Status status = error == ENOENT   ? Status::kNotFound
                        : error == ENOMEM ? Status::kNoMemory
                                          : Status::kIo;
  throw Error(status, text(path, ": ", doing, ": ", system_text(error)), -1, error);
}

const FileTable& system_files() noexcept {
  static const FileTable table{
      [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
      ::close,
      ::pread,
      ::write,
      [](int fd, struct stat* info) { return ::fstat(fd, info); },
      ::fsync,
      std::rename,
      ::unlink,
      ::mkdir,
      ::flock};
  return table;
}

const FileTable* set_file_table(const FileTable* table) noexcept {
  return current_table.exchange(table);
}

const FileTable& files() noexcept {
  const FileTable* table = current_table.load(std::memory_order_acquire);
  return table ? *table : system_files();
}

File::File(const std::string& path) : path_(path) {
  // O_NONBLOCK changes nothing for regular files and keeps pipes and devices from blocking here.
  fd_ = retry([&] { return files().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0); });
  if (fd_ < 0) {
    const int error = errno;
    const std::string target = error == ENOENT ? link_target(path) : std::string();
    if (!target.empty()) fail_link(error, path, target);
    fail_io(error, path, "open");
  }
  struct stat info;
  if (files().fstat(fd_, &info) < 0) {
    const int error = errno;
    files().close(fd_);
    fail_io(error, path, "stat");
  }
  if (!S_ISREG(info.st_mode)) {
    files().close(fd_);
    fail(Status::kIo, path, ": expected a regular file, found ",
         S_ISDIR(info.st_mode) ? "a folder" : "a special file");
  }
  size_ = info.st_size;
}

File::~File() { files().close(fd_); }

int64_t File::read_some(int64_t offset, std::span<uint8_t> out) const {
  constexpr size_t kPieceOfRead = size_t{16} << 20;  // bytes between two checks of the cancel token
  size_t done = 0;
  while (done < out.size()) {
    check_cancelled();
    const ssize_t got = files().pread(fd_, out.data() + done,
                                      std::min(out.size() - done, kPieceOfRead), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io(errno, path_, text("read at byte ", offset + done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

void File::read_at(int64_t offset, std::span<uint8_t> out) const {
  const int64_t got = read_some(offset, out);
  if (got == static_cast<int64_t>(out.size())) return;
  struct stat info;  // a read of 0 bytes means that the file ends here or earlier
  const int64_t end = got == 0 && files().fstat(fd_, &info) == 0
                          ? std::min<int64_t>(offset, info.st_size)
                          : offset + got;
  fail(Status::kIo, path_, ": ends at byte ", end, ", expected ", out.size(), " bytes from byte ",
       offset);
}

std::vector<uint8_t> read_file(const std::string& path, int64_t limit) {
  File file(path);
  if (file.size() > limit)
    fail(Status::kFormat, path, ": has ", file.size(), " bytes, at most ", limit,
         " are accepted here");
  std::vector<uint8_t> bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

std::shared_ptr<MappedFile> MappedFile::open(const std::string& path) {
  auto* const file = new MappedFile(path);
  std::shared_ptr<MappedFile> mapped(file, Deleter{file});
  if (mapped->file_.size() == 0) return mapped;
  void* data = mmap(nullptr, mapped->file_.size(), PROT_READ, MAP_PRIVATE, mapped->file_.fd(), 0);
  if (data == MAP_FAILED) fail_io(errno, path, "map into memory");
  mapped->data_ = static_cast<const uint8_t*>(data);
  return mapped;
}

const MappedFile* MappedFile::of(const std::shared_ptr<void>& owner) noexcept {
  const Deleter* deleter = std::get_deleter<Deleter>(owner);
  return deleter ? deleter->file : nullptr;
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<uint8_t*>(data_), file_.size());
}

void MappedFile::check_size() const {
  struct stat info;
  if (files().fstat(file_.fd(), &info) < 0) fail_io(errno, path(), "stat");
  if (info.st_size != file_.size())
    fail(Status::kIo, path(), ": had ", file_.size(), " bytes when it was opened and has ",
         int64_t{info.st_size}, " now");
}

std::shared_ptr<void> MappedFile::shared_copy(
    std::string_view kind, int64_t begin, int64_t size,
    const std::function<std::shared_ptr<void>()>& make) const {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<void>& slot = copies_[{std::string(kind), begin, size}];
  std::shared_ptr<void> copy = slot.lock();
  if (copy == nullptr) slot = copy = make();
  return copy;
}

void refuse_link(const std::string& path) {
  if (const std::string target = link_target(path); !target.empty())
    fail(Status::kIo, path, ": is a link, to ", target, "; expected a file of this folder");
}

AtomicFile::AtomicFile(const std::string& path, Links links) : path_(follow_links(path)) {
  if (links == Links::kRefuse) refuse_link(path);
  refuse_other_kinds(path_);
  remove_abandoned(path_);
  constexpr int kTries = 8;  // random names to try; an existing file is never touched
  int tries = 1;
  while (!create())
    if (errno != EEXIST || tries++ == kTries) fail_io(errno, path_, "create");
}

// Returns false and sets errno on failure.
bool AtomicFile::create() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) fail_io(errno, path_, "draw a name");
  temporary_ = text(path_, kTemporary, random);
  // A file that replaces another one gets its permissions once it is complete. Until then only the
  // owner may read it. The owner must be able to open an abandoned file, to test its lock and
  // remove it.
  const mode_t mode = mode_of_file(path_) ? kOwner : 0666;
  const int fd = retry([&] {
    return files().open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  });
  if (fd < 0) return false;
  const auto give_up = [&](int error) {
    files().close(fd);
    errno = error;
    return false;
  };
  // A process that removes abandoned files may have locked or removed this one in between.
  const bool locked = files().flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK) return give_up(EEXIST);
  struct stat info;
  if (locked && ::fstat(fd, &info) == 0 && info.st_nlink == 0) return give_up(EEXIST);
  // The file is closed before the rename, but the lock must hold until after it.
  lock_ = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (lock_ < 0) {
    const int error = errno;
    files().unlink(temporary_.c_str());
    return give_up(error);
  }
  fd_ = fd;
  return true;
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) files().close(fd_);
  if (!temporary_.empty()) files().unlink(temporary_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

void AtomicFile::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = files().write(fd_, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail_io(put < 0 ? errno : ENOSPC, temporary_, "write");
    synced_ = false;
    bytes = bytes.subspan(put);
  }
}

void AtomicFile::sync() {
  if (retry([&] { return files().fsync(fd_); }) < 0) fail_io(errno, temporary_, "sync");
  synced_ = true;
}

void AtomicFile::commit() {
  if (const std::optional<mode_t> mode = mode_of_file(path_); mode && mode != kOwner) {
    std::ignore = ::fchmod(fd_, *mode);  // fails on file systems without permissions
    synced_ = false;
  }
  if (!synced_) sync();
  const int closed = files().close(fd_);
  fd_ = -1;
  if (closed < 0 && errno != EINTR) fail_io(errno, temporary_, "close");
  if (files().rename(temporary_.c_str(), path_.c_str()) < 0)
    fail_io(errno, path_, "rename into place");
  temporary_.clear();
  ::close(std::exchange(lock_, -1));
  sync_folder(parent_of(path_));
}

bool exists(const std::string& path) noexcept {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool is_directory(const std::string& path) noexcept {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_present(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return true;
  const int error = errno;
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    fail_link(error, path, link_target(path));
  if (error == ENOENT || error == ENOTDIR) return false;
  fail_io(error, path, "look for it");
}

bool is_present_directory(const std::string& path) {
  return is_present(path) && is_directory(path);
}

void make_directory(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (make_if_missing(folder)) sync_folder(parent_of(folder));
}

void make_directories(const std::string& folder, const std::vector<std::string>& names) {
  bool made = false;
  for (const std::string& name : names) made |= make_if_missing(join_path(folder, name));
  if (made) sync_folder(folder);
}

void sync_folder(const std::string& path) {
  const int fd =
      retry([&] { return files().open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); });
  if (fd < 0) fail_io(errno, path, "open");
  const int synced = retry([&] { return files().fsync(fd); });
  const int error = errno;
  files().close(fd);
  if (synced < 0) fail_io(error, path, "sync");
}

std::vector<std::string> list_directory(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) fail_io(errno, path, "list");
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // readdir() reports its end and its failures alike, except for errno
    const dirent* entry = readdir(folder.get());
    if (!entry && errno != 0) fail_io(errno, path, "list");
    if (!entry) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> list_visible(const std::string& path) {
  std::vector<std::string> names = list_directory(path);
  constexpr std::string_view kLeft[] = {"Thumbs.db", "ehthumbs.db", "desktop.ini", "Desktop.ini",
                                        "__MACOSX"};
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with('.') || std::ranges::find(kLeft, name) != std::end(kLeft);
  });
  return names;
}

std::string join_path(const std::string& folder, std::string_view name) {
  return folder.empty() || folder.back() == '/' ? text(folder, name) : text(folder, "/", name);
}

void check_relative_name(std::string_view name, std::string_view where) {
  bool bad = name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos;
  for (size_t begin = 0; !bad && begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    bad = name.substr(begin, end - begin) == "..";
    begin = end + 1;
  }
  constexpr size_t kMostShown = 200;
  if (bad)
    fail(Status::kFormat, where, ": the name \"", beginning(name, kMostShown),
         name.size() > kMostShown ? "..." : "", "\" leaves its folder");
}

}  // namespace gnnmg::base
