// The records of a training, epoch by epoch: JSON lines and TensorBoard events.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/config.h"
#include "train/log/append_file.h"
#include "train/log/event_file.h"
#include "train/report.h"

namespace gnnmg::train {

// Facts about the run that a record begins with.
struct RunFacts {
  std::string id;  // the same after a resume
  TrainerConfig config;
  std::vector<std::pair<std::string, std::string>> model;  // nn::setting_texts()
  std::string sampler;                                     // Sampler::describe()
};

// One line, without its end, with the id of the run and the time, and the settings unless `facts`
// is null. Figures that are not finite are null; those of a validation are left out where there was
// none.
std::string epoch_json(const EpochReport& report, const std::string& id, const RunFacts* facts);

// Error(kIo) when a file cannot be opened or written. One thread at a time.
class RunLog {
 public:
  // Empty: none of that kind. An existing JSON lines file is continued; a line that was cut off is
  // ended first. The first line has the settings.
  RunLog(const std::string& jsonl_path, const std::string& tensorboard_folder, RunFacts facts);
  void add(const EpochReport& report);

 private:
  std::unique_ptr<AppendFile> jsonl_;
  std::unique_ptr<EventFile> events_;
  RunFacts facts_;
  bool told_settings_ = false;
};

}  // namespace gnnmg::train
