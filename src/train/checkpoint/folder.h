// Checkpoints on disk. A checkpoint is a folder of files that other tools read, complete or absent.
// write_checkpoint() makes it durable: the files are synced, then the folder is renamed and its
// parent synced (base/atomic_folder.h).
//
//   model.safetensors      weights and buffers, by the model's keys
//   optimizer.safetensors  state of the optimizer, by parameter; absent before the first step
//   best.safetensors       weights of the best validation; absent without a validation
//   average.safetensors    average of the weights; absent before it begins
//   state.json             position in training
//   manifest.json          written last: format version, size and SHA-256 of the other files
//
// A series is a folder of checkpoints, numbered as they are written and named after number and step
// ("000007-step-1200"), beside `latest` and `best`, small files with the name of one. Without
// torch.
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
  io::StateFile optimizer;  // no file if it has no tensors
  io::StateFile best;       // no file if it has no tensors
  io::StateFile average;    // no file if it has no tensors
  std::string state;        // text of state.json
};

// Returns once the checkpoint is durable. `path` must not exist. Errors of AtomicFolder and
// AtomicFile, and kNan naming a weight that is not finite; nothing stays then.
void write_checkpoint(const std::string& path, const CheckpointFiles& files);
// Compares the sums with the returned bytes. kChecksum naming a changed file, kFormat for an
// invalid manifest, kVersion for a later format, kNotFound without a checkpoint, kNan as above.
CheckpointFiles read_checkpoint(const std::string& path);

// A random id drawn when a training begins; the state of each of its checkpoints has it.
std::string draw_training_id();
// Training id in the text of a state.json; empty if the library that wrote it had none. kFormat
// naming `name` if it is invalid.
std::string training_id_in(std::string_view state, std::string_view name);

class CheckpointSeries {
 public:
  // Keeps the last `keep` (at least 1), the best, and protected ones. Makes the folder with the
  // first checkpoint. `training`: id of the training.
  CheckpointSeries(std::string folder, int32_t keep, std::string training = {})
      : folder_(std::move(folder)), keep_(keep), training_(std::move(training)) {}

  // kMismatch if the folder has checkpoints of another training, or without an id: they would be
  // removed one by one. Checks until the first add().
  void check_folder() const;
  // Writes a checkpoint, then `latest`, and `best` if it is the best; then removes old ones.
  // Returns its path. kMismatch as above; kIo if another writer has added a newer one since; kRange
  // after the last possible number.
  std::string add(int64_t step, const CheckpointFiles& files, bool best);
  void protect(std::string name) { protected_.push_back(std::move(name)); }
  const std::string& folder() const { return folder_; }

 private:
  void prune() const;

  std::string folder_;
  int32_t keep_;
  std::string training_;
  std::vector<std::string> protected_;
  std::string last_;  // last name that this series began to write; empty: none
};

struct LoadedCheckpoint {
  std::string path;
  std::string name;    // name in the requested folder; empty: that folder itself
  std::string digest;  // SHA-256 of its manifest, which covers all contents
  CheckpointFiles files;
};
// `path` is a checkpoint, or a folder of them: then the newest valid one, with a log message for
// each newer one that is incomplete, of a later format, or not finite. kNotFound if there is none,
// kChecksum if none is complete; kVersion or kNan if that is the newest one's fault and no other is
// complete.
LoadedCheckpoint find_checkpoint(const std::string& path, base::Log& log);
// Opens the checkpoint that find_checkpoint() found under this name on another machine. kMismatch
// if it is absent here or has another manifest.
LoadedCheckpoint open_checkpoint(const std::string& path, const std::string& name,
                                 const std::string& digest);

}  // namespace gnnmg::train
