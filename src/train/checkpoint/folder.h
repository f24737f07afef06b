// Checkpoints on disk. One is a folder of files that other tools read, whole or not there:
//
//   model.safetensors      weights and buffers, by the model's keys
//   optimizer.safetensors  what the optimiser has gathered, by parameter; absent before a first
//   step best.safetensors       the weights of the best validation; absent while there is none
//   state.json             the position in training
//   manifest.json          written last: format version, size and SHA-256 of each of the others
//
// A series of them lies in one folder, counted as they are written and named after the step too
// ("000007-step-1200"), beside `latest` and `best`, small files with the name of one of them.
// Without torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "io/state_file.h"

namespace gnnmg::train {

struct CheckpointFiles {
  io::StateFile model;
  io::StateFile optimizer;  // without tensors: no such file
  io::StateFile best;       // likewise
  std::string state;        // the text of state.json
};

// `path` must not exist. Errors are those of AtomicFolder and AtomicFile, and kNan naming a weight
// that is not finite, with which nobody could go on; nothing stays then.
void write_checkpoint(const std::string& path, const CheckpointFiles& files);
// Compares all sums, each with the bytes that are returned: kChecksum naming the file that is not
// what was written, kFormat for a manifest that is none, kVersion for one of a later format,
// kNotFound where there is no checkpoint, kNan as above.
CheckpointFiles read_checkpoint(const std::string& path);

// Which training a checkpoint is of: a text that all checkpoints of one have in their state, drawn
// when it begins.
std::string draw_training_id();
// What the text of a state.json has of it; empty for those of libraries that wrote none. kFormat
// naming `name` where it is something else.
std::string training_id_in(std::string_view state, std::string_view name);

class CheckpointSeries {
 public:
  // Keeps the last `keep` (at least 1), the best, and those that were named to protect().
  // Makes the folder when the first checkpoint comes. `training`: which one they are of.
  CheckpointSeries(std::string folder, int32_t keep, std::string training = {})
      : folder_(std::move(folder)), keep_(keep), training_(std::move(training)) {}

  // kMismatch when the folder has checkpoints of another training, or such as do not say of which:
  // they would be removed one by one. It is looked at until add() has written there.
  void check_folder() const;
  // Writes one, then `latest`, and `best` if it is that; then removes what is not to be kept.
  // Returns its path. kMismatch as above; kIo when somebody else has written a newer one since this
  // series' last; kRange where the newest one has the last number that there is.
  std::string add(int64_t step, const CheckpointFiles& files, bool best);
  void protect(std::string name) { protected_.push_back(std::move(name)); }
  const std::string& folder() const { return folder_; }

 private:
  void prune() const;

  std::string folder_;
  int32_t keep_;
  std::string training_;
  std::vector<std::string> protected_;
  std::string last_;  // that this series has begun to write; empty: none
};

struct LoadedCheckpoint {
  std::string path;
  std::string name;    // in the folder that was asked for; empty: that folder itself
  std::string digest;  // SHA-256 of its manifest, and so of all that is in it
  CheckpointFiles files;
};
// `path` is a checkpoint, or a folder of them: then the newest that is whole, with a word in the
// log for each newer one that is not, holds weights that are not finite, or is of a later format.
// kNotFound when there is none at all, kChecksum when none is whole, kVersion or kNan when that is
// the matter with the newest and no other is whole.
LoadedCheckpoint find_checkpoint(const std::string& path, base::Log& log);
// The one that find_checkpoint has found under this name on another machine: kMismatch when there
// is none here or its manifest is another.
LoadedCheckpoint open_checkpoint(const std::string& path, const std::string& name,
                                 const std::string& digest);

}  // namespace gnnmg::train
