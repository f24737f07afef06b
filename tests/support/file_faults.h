// File system faults: while a FileFaults lives, the library's file table counts every call, and
// makes the planned calls fail, be short or be interrupted.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>

#include "base/file.h"

namespace gnnmg::test {

enum class FileCall : int {
  kAny,
  kOpen,
  kClose,
  kRead,
  kWrite,
  kStat,
  kSync,
  kRename,
  kUnlink,
  kMkdir
};

struct FilePlan {
  FileCall call = FileCall::kAny;  // kind of call that `fail_at` counts
  int64_t fail_at = 0;             // the n-th such call fails, from 1; 0: none
  bool for_ever = false;           // and all later calls of this kind
  int error = EIO;                 // errno of a failing call
  int64_t chunk = 0;               // most bytes that a read or write moves; 0: no limit
  bool interrupts = false;         // every open, read, write and sync is interrupted once first
};

// One at a time in a process; restores the previous table. A failing close still closes, as on
// Linux.
class FileFaults {
 public:
  explicit FileFaults(const FilePlan& plan = {});
  ~FileFaults();
  FileFaults(const FileFaults&) = delete;
  FileFaults& operator=(const FileFaults&) = delete;

  int64_t count(FileCall call) const;
  // True if `fail_at` was reached.
  bool struck() const;

 private:
  const base::FileTable* previous_;
};

// Runs `body` with the n-th call of the kind failing, n = 1, 2, ... until a run meets no fault.
// Calls `check(n, threw)` after each run with a fault, without faults; `body` may throw only
// base::Error. Returns the number of runs with a fault.
int64_t fail_each_file_call(FilePlan plan, const std::function<void()>& body,
                            const std::function<void(int64_t, const base::Error*)>& check);

}  // namespace gnnmg::test
