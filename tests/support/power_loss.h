// Loss of power: a file table that works on real files and records the synced data, so that the
// folder can be recreated in a possible state after a power loss.
//
// The model is a journaling file system at its worst: only those bytes of a file are durable that
// an fsync of the file covered, and only those entries of a folder that an fsync of the folder
// covered. Later entries (a new file, a rename, a removal) have reached the disk up to some point
// and in order; later bytes in part, or as zeros.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"

namespace gnnmg::test {

class PowerLoss {
 public:
  // Watches `root`, whose present contents count as synced. After `calls` calls that change
  // anything the power fails: that call and all later ones fail with EIO. 0: never.
  PowerLoss(const std::string& root, int64_t calls);
  ~PowerLoss();
  PowerLoss(const PowerLoss&) = delete;
  PowerLoss& operator=(const PowerLoss&) = delete;

  bool lost() const;
  // Creates in `target`, an empty folder, a possible state after a restart. The seed selects the
  // state; seed 0 keeps nothing that was not synced, seed 1 everything.
  void restart(uint64_t seed, const std::string& target) const;

 private:
  const base::FileTable* previous_;
};

}  // namespace gnnmg::test
