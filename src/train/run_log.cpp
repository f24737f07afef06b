#include "train/run_log.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace gnnmg::train {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::string epoch_json(const EpochReport& r) {
  nlohmann::ordered_json line;
  line["epoch"] = r.epoch;
  line["num_epochs"] = r.num_epochs;
  line["steps"] = r.steps;
  line["train_loss"] = r.train_loss;
  line["train_accuracy"] = r.train_accuracy;
  line["learning_rate"] = r.learning_rate;
  if (r.evaluated) {
    const nn::Metrics& v = r.validation;
    line["validation"] = {{"count", v.count},       {"correct", v.correct},
                          {"loss", v.loss},         {"accuracy", v.accuracy},
                          {"f1_micro", v.f1_micro}, {"f1_macro", v.f1_macro},
                          {"roc_auc", v.roc_auc},   {"average_precision", v.average_precision},
                          {"rmse", v.rmse},         {"mae", v.mae}};
    line["best"] = r.best;
  }
  line["seconds"] = r.seconds;
  line["evaluation_seconds"] = r.evaluation_seconds;
  line["seeds_per_second"] = r.seeds_per_second;
  line["wait_seconds"] = r.wait_seconds;
  line["sample_seconds"] = r.sample_seconds;
  line["gather_seconds"] = r.gather_seconds;
  line["compute_seconds"] = r.compute_seconds;
  line["reduce_seconds"] = r.reduce_seconds;
  line["optimizer_seconds"] = r.optimizer_seconds;
  return line.dump();  // writes null for what is not finite
}

RunLog::RunLog(const std::string& jsonl_path, const std::string& tensorboard_folder) {
  if (!jsonl_path.empty()) {
    jsonl_ = std::make_unique<AppendFile>(jsonl_path);
    const int last = jsonl_->last_byte();
    if (last != -1 && last != '\n') jsonl_->append(bytes_of("\n"));
  }
  if (!tensorboard_folder.empty()) events_ = std::make_unique<EventFile>(tensorboard_folder);
}

void RunLog::add(const EpochReport& r) {
  if (jsonl_) jsonl_->append(bytes_of(epoch_json(r) + "\n"));
  if (!events_) return;
  std::vector<Scalar> scalars{{"train/loss", r.train_loss},
                              {"train/accuracy", r.train_accuracy},
                              {"train/learning_rate", r.learning_rate},
                              {"speed/seeds_per_second", r.seeds_per_second},
                              {"speed/epoch_seconds", r.seconds}};
  if (r.evaluated) {
    const nn::Metrics& v = r.validation;
    const Scalar figures[] = {{"validation/loss", v.loss},
                              {"validation/accuracy", v.accuracy},
                              {"validation/f1_macro", v.f1_macro},
                              {"validation/roc_auc", v.roc_auc},
                              {"validation/average_precision", v.average_precision},
                              {"validation/rmse", v.rmse},
                              {"validation/mae", v.mae}};
    for (const Scalar& figure : figures)
      if (std::isfinite(figure.value)) scalars.push_back(figure);
  }
  events_->add(r.epoch, scalars);
}

}  // namespace gnnmg::train
