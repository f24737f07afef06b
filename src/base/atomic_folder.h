// Folders that appear under their name whole or not at all, and disappear in the same way.
#pragma once

#include <string>

namespace gnnmg::base {

// Writes a folder of files. Files go into `temporary()`, a hidden folder in the same parent as the
// target; commit() syncs it, renames it to the target and syncs the parent. Without a commit the
// temporary folder and its files are removed. A lock (flock) is held during the writing and
// distinguishes the folder from one of a dead process, on any machine and in any container. The
// writer syncs the files (AtomicFile does) and creates no subfolders. Error(kInvalidArgument) if
// `path` exists; kIo with errno and path on any failure.
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

// Removes a folder of plain files: first its name, in one step, then its contents. Error(kNotFound)
// if it does not exist, kIo with errno and path on any failure.
void remove_folder(const std::string& path);
// Removes the unfinished folders of dead processes in `parent`: hidden folders of AtomicFolder and
// remove_folder() that nobody has locked. A folder stays if the file system has no locks or if it
// cannot be removed.
void remove_leftovers(const std::string& parent) noexcept;

}  // namespace gnnmg::base
