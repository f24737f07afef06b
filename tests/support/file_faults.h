// Faults of the file system: while a FileFaults lives, the library's file table counts every call
// and lets those fail, come short or be interrupted that the plan names.
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
  FileCall call = FileCall::kAny;  // which calls are counted for `fail_at`
  int64_t fail_at = 0;             // the n-th such call fails, from 1; 0: none
  bool for_ever = false;           // and all such calls after it
  int error = EIO;                 // errno of a failing call
  int64_t chunk = 0;               // reads and writes move at most so many bytes; 0: no limit
  bool interrupts = false;         // every open, read, write and sync is interrupted once first
};

// One at a time in a process; restores the table that was there before. A failing close still
// closes, as Linux does.
class FileFaults {
 public:
  explicit FileFaults(const FilePlan& plan = {});
  ~FileFaults();
  FileFaults(const FileFaults&) = delete;
  FileFaults& operator=(const FileFaults&) = delete;

  int64_t count(FileCall call) const;
  // Whether `fail_at` was reached.
  bool struck() const;

 private:
  const base::FileTable* previous_;
};

// Runs `body` with the n-th call of the kind failing, n = 1, 2, ... until a run meets no fault.
// `check(n, threw)` is called after each of them, with the faults gone; `body` may throw
// base::Error only. Returns the number of runs that met a fault.
int64_t fail_each_file_call(FilePlan plan, const std::function<void()>& body,
                            const std::function<void(int64_t, const base::Error*)>& check);

}  // namespace gnnmg::test
