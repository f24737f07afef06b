// Loss of power: a file table that works on real files and remembers what had been synced, so that
// the folder can be laid out again as it might be found after the machine went down.
//
// The model is that of a journalling file system at its worst: of a file's bytes only those are
// sure that an fsync of the file covered; of a folder's entries only those that an fsync of the
// folder covered. Later entries (a new file, a rename, a removal) have reached the disk up to some
// point and in order; later bytes in part, or as zeros.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"

namespace gnnmg::test {

class PowerLoss {
 public:
  // Watches `root`, whose present contents count as synced. After `calls` calls that change
  // anything the power is gone: that call and all later ones fail with EIO. 0: it stays.
  PowerLoss(const std::string& root, int64_t calls);
  ~PowerLoss();
  PowerLoss(const PowerLoss&) = delete;
  PowerLoss& operator=(const PowerLoss&) = delete;

  bool lost() const;
  // Lays out below `target`, an empty folder, what a machine may find there when it comes up
  // again. The seed chooses among the outcomes; seed 0 keeps nothing that was not synced, seed 1
  // everything.
  void restart(uint64_t seed, const std::string& target) const;

 private:
  const base::FileTable* previous_;
};

}  // namespace gnnmg::test
