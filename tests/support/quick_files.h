// Files that count as synced at once, for tests without power losses, because disks are slow.
#pragma once

#include "base/file.h"

namespace gnnmg::test {

// Applies to the whole process while it lives.
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
