// The records of a training, epoch by epoch: JSON lines and TensorBoard events.
#pragma once

#include <memory>
#include <string>

#include "train/log/append_file.h"
#include "train/log/event_file.h"
#include "train/report.h"

namespace gnnmg::train {

// One line, without its end. Figures that are not finite are null; those of a validation are left
// out where there was none.
std::string epoch_json(const EpochReport& report);

// Error(kIo) when a file cannot be opened or written. One thread at a time.
class RunLog {
 public:
  // Empty: none of that kind. An existing JSON lines file is continued; a line that was cut off is
  // ended first.
  RunLog(const std::string& jsonl_path, const std::string& tensorboard_folder);
  void add(const EpochReport& report);

 private:
  std::unique_ptr<AppendFile> jsonl_;
  std::unique_ptr<EventFile> events_;
};

}  // namespace gnnmg::train
