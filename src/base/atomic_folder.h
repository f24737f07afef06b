// A folder of files that appears under its name whole or not at all, and goes in the same way.
#pragma once

#include <string>

namespace gnnmg::base {

// Files are written into `temporary()`, a hidden folder beside the target; commit() syncs it,
// renames it to the target and syncs the parent. Without a commit the temporary folder and the
// files in it are removed. While it is written it is locked (flock), which tells it from one whose
// writer is dead, on whatever machine or in whatever container. The files must be synced by whoever
// writes them (AtomicFile does) and lie flat. kInvalidArgument when `path` exists; kIo with errno
// and path on any failure.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::string& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  const std::string& temporary() const { return temporary_; }
  void commit();

 private:
  bool create(const std::string& name);
  std::string path_, parent_, temporary_;
  int lock_ = -1;
};

// Takes a folder of plain files away: its name first, at once, then what it held. kNotFound when
// there is none, kIo with errno and path on any failure.
void remove_folder(const std::string& path);
// Removes what dead processes have left unfinished in `parent`: hidden folders of AtomicFolder and
// remove_folder that nobody has locked. Where the file system has no locks, and where one cannot be
// removed, it stays.
void remove_leftovers(const std::string& parent) noexcept;

}  // namespace gnnmg::base
