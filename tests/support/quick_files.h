// Files that count as synced at once, for tests in which nothing loses power: disks take their
// time.
#pragma once

#include "base/file.h"

namespace gnnmg::test {

// While it lives, for the whole process.
class QuickFiles {
 public:
  QuickFiles() : table_(base::system_files()) {
    table_.fsync = [](int) { return 0; };
    before_ = base::set_file_table(&table_);
  }
  ~QuickFiles() { base::set_file_table(before_); }
  QuickFiles(const QuickFiles&) = delete;
  QuickFiles& operator=(const QuickFiles&) = delete;

 private:
  base::FileTable table_;
  const base::FileTable* before_;
};

}  // namespace gnnmg::test
