#include "support/file_faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>

namespace gnnmg::test {
namespace {

using base::FileTable;

struct Faults {
  FilePlan plan;
  FileTable table;         // the library's table
  const FileTable* below;  // the real calls
  std::array<std::atomic<int64_t>, 10> counts{};
  std::array<std::atomic<bool>, 10> interrupted{};
  std::atomic<bool> struck{false};
};

Faults* current = nullptr;

// Counts the call; returns true and sets errno if it must fail.
bool strikes(FileCall call) {
  Faults& f = *current;
  const int64_t any = ++f.counts[static_cast<int>(FileCall::kAny)];
  const int64_t own = ++f.counts[static_cast<int>(call)];
  if (f.plan.call != FileCall::kAny && f.plan.call != call) return false;
  const int64_t n = f.plan.call == FileCall::kAny ? any : own;
  if (f.plan.fail_at == 0 || n < f.plan.fail_at || (n > f.plan.fail_at && !f.plan.for_ever))
    return false;
  f.struck = true;
  errno = f.plan.error;
  return true;
}

// Returns true and sets errno to EINTR on every second call of a kind that may be interrupted.
bool interrupts(FileCall call) {
  if (!current->plan.interrupts) return false;
  std::atomic<bool>& flag = current->interrupted[static_cast<int>(call)];
  flag = !flag;
  if (flag) errno = EINTR;
  return flag;
}

size_t cut(size_t size) {
  const int64_t chunk = current->plan.chunk;
  return chunk > 0 ? std::min(size, static_cast<size_t>(chunk)) : size;
}

const FileTable kFaulty{
    [](const char* path, int flags, mode_t mode) {
      if (interrupts(FileCall::kOpen) || strikes(FileCall::kOpen)) return -1;
      return current->below->open(path, flags, mode);
    },
    [](int fd) {
      const bool fails = strikes(FileCall::kClose);
      const int result = current->below->close(fd);
      if (!fails) return result;
      errno = current->plan.error;
      return -1;
    },
    [](int fd, void* buffer, size_t size, off_t offset) -> ssize_t {
      if (interrupts(FileCall::kRead) || strikes(FileCall::kRead)) return -1;
      return current->below->pread(fd, buffer, cut(size), offset);
    },
    [](int fd, const void* buffer, size_t size) -> ssize_t {
      if (interrupts(FileCall::kWrite) || strikes(FileCall::kWrite)) return -1;
      return current->below->write(fd, buffer, cut(size));
    },
    [](int fd, struct stat* info) {
      return strikes(FileCall::kStat) ? -1 : current->below->fstat(fd, info);
    },
    [](int fd) {
      if (interrupts(FileCall::kSync) || strikes(FileCall::kSync)) return -1;
      return current->below->fsync(fd);
    },
    [](const char* from, const char* to) {
      return strikes(FileCall::kRename) ? -1 : current->below->rename(from, to);
    },
    [](const char* path) { return strikes(FileCall::kUnlink) ? -1 : current->below->unlink(path); },
    [](const char* path, mode_t mode) {
      return strikes(FileCall::kMkdir) ? -1 : current->below->mkdir(path, mode);
    },
    [](int fd, int operation) { return current->below->flock(fd, operation); }};

}  // namespace

FileFaults::FileFaults(const FilePlan& plan) {
  if (current) throw std::logic_error("one FileFaults at a time");
  current = new Faults;
  current->plan = plan;
  current->table = kFaulty;
  current->below = &base::files();
  previous_ = base::set_file_table(&current->table);
}

FileFaults::~FileFaults() {
  base::set_file_table(previous_);
  delete current;
  current = nullptr;
}

int64_t FileFaults::count(FileCall call) const { return current->counts[static_cast<int>(call)]; }

bool FileFaults::struck() const { return current->struck; }

int64_t fail_each_file_call(FilePlan plan, const std::function<void()>& body,
                            const std::function<void(int64_t, const base::Error*)>& check) {
  for (plan.fail_at = 1;; ++plan.fail_at) {
    bool struck = false;
    std::optional<base::Error> error;
    {
      FileFaults faults(plan);
      try {
        body();
      } catch (const base::Error& e) {
        error = e;
      }
      struck = faults.struck();
    }
    if (!struck) {
      if (error) throw *error;  // failed without a fault
      return plan.fail_at - 1;
    }
    check(plan.fail_at, error ? &*error : nullptr);
  }
}

}  // namespace gnnmg::test
