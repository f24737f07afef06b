// The finished files of a folder of parts that is being written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/parts_metadata.h"

namespace gnnmg::data::parts {

// A text file with a line for the arguments and a line for each finished file, which holds the
// file's facts. A line counts when it is whole. The folder is locked, where the file system has
// locks, as long as the object lives.
class Journal {
 public:
  // Makes the folder, or takes up the one that is there. Error(kMismatch) naming the difference
  // when it was begun, or is complete, with other arguments or data; kInvalidArgument when it is no
  // folder of parts; kBusy when it is locked.
  Journal(const std::string& folder, const Metadata& begun);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // True when the manifest was there at the beginning: nothing is left to do.
  bool complete() const { return complete_; }
  bool has(const std::string& file) const { return files_.contains(file); }
  // On disk when this returns.
  void add(const std::vector<FileFacts>& files);
  // All files by name.
  std::vector<FileFacts> files() const;
  // The manifest is there.
  void remove();

 private:
  void take_up(const std::string& text, const std::string& path, const Metadata& begun);
  void append(const std::string& text);

  std::string folder_;
  int lock_ = -1, fd_ = -1;
  bool complete_ = false;
  std::map<std::string, FileFacts> files_;
};

}  // namespace gnnmg::data::parts
