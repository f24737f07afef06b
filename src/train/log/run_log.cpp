#include "train/log/run_log.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <type_traits>
#include <vector>

#include "io/json_writer.h"
#include "train/choices.h"
#include "train/setting_list.h"

namespace gnnmg::train {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The current time in UTC: 2026-11-27T21:10:18.250Z.
std::string now() {
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  const time_t seconds = ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32], fraction[8];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(ms % 1000));
  return std::string(text) + fraction;
}

template <typename T>
void add_setting(io::JsonWriter& line, const char* name, const T& value) {
  if constexpr (std::is_enum_v<T>)
    line.member(name, nn::choices_of(value).word(static_cast<int>(value)));
  else if constexpr (std::is_same_v<T, uint64_t>)
    line.member(name, std::to_string(value));  // readers of JSON round large numbers
  else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>)
    line.member(name, value);
  else
    line.member(name, static_cast<int64_t>(value));
}

void add_settings(io::JsonWriter& line, const RunFacts& facts) {
  const auto add = [&](const auto& setting, const auto& value) {
    add_setting(line, setting.name, value);
  };
  line.key("settings").begin_object();
  line.key("trainer").begin_object();
  visit_settings(facts.config, add);
  visit_settings(facts.config.optimizer, add);
  line.end_object().key("model").begin_object();
  for (const auto& [name, text] : facts.model) line.member(name, text);
  line.end_object().member("sampler", facts.sampler).end_object();
}

}  // namespace

std::string epoch_json(const EpochReport& r, const std::string& id, const RunFacts* facts) {
  io::JsonWriter line;  // writes null for numbers that are not finite
  line.begin_object().member("run", id).member("time", now());
  if (facts != nullptr) add_settings(line, *facts);
  line.member("epoch", int64_t{r.epoch});
  line.member("num_epochs", int64_t{r.num_epochs}).member("steps", int64_t{r.steps});
  line.member("train_loss", r.train_loss).member("train_accuracy", r.train_accuracy);
  line.member("learning_rate", r.learning_rate);
  if (r.evaluated) {
    const nn::Metrics& v = r.validation;
    line.key("validation").begin_object();
    line.member("count", v.count).member("correct", v.correct).member("loss", v.loss);
    line.member("accuracy", v.accuracy).member("f1_micro", v.f1_micro);
    line.member("f1_macro", v.f1_macro).member("roc_auc", v.roc_auc);
    line.member("average_precision", v.average_precision).member("rmse", v.rmse);
    line.member("mae", v.mae).end_object().member("best", r.best);
  }
  line.member("seconds", r.seconds).member("evaluation_seconds", r.evaluation_seconds);
  line.member("seeds_per_second", r.seeds_per_second).member("wait_seconds", r.wait_seconds);
  line.member("sample_seconds", r.sample_seconds).member("gather_seconds", r.gather_seconds);
  line.member("compute_seconds", r.compute_seconds).member("reduce_seconds", r.reduce_seconds);
  line.member("optimizer_seconds", r.optimizer_seconds);
  line.member("peer_wait_seconds", r.peer_wait_seconds);
  line.member("mean_busy_seconds", r.mean_busy_seconds);
  line.member("most_busy_seconds", r.most_busy_seconds);
  line.member("slowest_rank", int64_t{r.slowest_rank});
  if (!r.ranks.empty()) {
    line.key("ranks").begin_list();
    for (const RankTimes& t : r.ranks) {
      line.begin_object().member("rank", int64_t{t.rank}).member("device", int64_t{t.device});
      line.member("seconds", t.seconds).member("wait_seconds", t.wait_seconds);
      line.member("sample_seconds", t.sample_seconds).member("gather_seconds", t.gather_seconds);
      line.member("compute_seconds", t.compute_seconds).member("reduce_seconds", t.reduce_seconds);
      line.member("peer_wait_seconds", t.peer_wait_seconds);
      line.member("optimizer_seconds", t.optimizer_seconds);
      line.member("idle_seconds", t.idle_seconds).member("bus_bytes", t.bus_bytes);
      line.member("rows", t.rows).member("rows_there", t.rows_there).end_object();
    }
    line.end_list();
  }
  line.end_object();
  return line.finish();
}

RunLog::RunLog(const std::string& jsonl_path, const std::string& tensorboard_folder, RunFacts facts)
    : facts_(std::move(facts)) {
  if (!jsonl_path.empty()) {
    jsonl_ = std::make_unique<AppendFile>(jsonl_path);
    const int last = jsonl_->last_byte();
    if (last != -1 && last != '\n') jsonl_->append(bytes_of("\n"));
  }
  if (!tensorboard_folder.empty()) events_ = std::make_unique<EventFile>(tensorboard_folder);
}

void RunLog::add(const EpochReport& r) {
  if (jsonl_) {
    const RunFacts* untold = told_settings_ ? nullptr : &facts_;
    jsonl_->append(bytes_of(epoch_json(r, facts_.id, untold) + "\n"));
    told_settings_ = true;
  }
  if (!events_) return;
  std::vector<Scalar> scalars{{"train/loss", r.train_loss},
                              {"train/accuracy", r.train_accuracy},
                              {"train/learning_rate", r.learning_rate},
                              {"speed/seeds_per_second", r.seeds_per_second},
                              {"speed/epoch_seconds", r.seconds},
                              {"time/waiting", r.wait_seconds},
                              {"time/sampling", r.sample_seconds},
                              {"time/gathering", r.gather_seconds},
                              {"time/computing", r.compute_seconds},
                              {"time/reducing", r.reduce_seconds},
                              {"time/waiting_for_ranks", r.peer_wait_seconds},
                              {"time/updating", r.optimizer_seconds},
                              {"time/evaluating", r.evaluation_seconds},
                              {"ranks/mean_busy_seconds", r.mean_busy_seconds},
                              {"ranks/most_busy_seconds", r.most_busy_seconds},
                              {"ranks/slowest", static_cast<double>(r.slowest_rank)}};
  for (const RankTimes& t : r.ranks) {
    const std::string name = "rank_" + std::to_string(t.rank) + "/";
    const Scalar times[] = {{name + "waiting", t.wait_seconds},
                            {name + "sampling", t.sample_seconds},
                            {name + "gathering", t.gather_seconds},
                            {name + "computing", t.compute_seconds},
                            {name + "reducing", t.reduce_seconds - t.peer_wait_seconds},
                            {name + "waiting_for_ranks", t.peer_wait_seconds},
                            {name + "updating", t.optimizer_seconds},
                            {name + "idle", t.idle_seconds}};
    scalars.insert(scalars.end(), std::begin(times), std::end(times));
    if (t.device < 0) continue;
    scalars.push_back({name + "bus_bytes", static_cast<double>(t.bus_bytes)});
    if (t.rows > 0)
      scalars.push_back(
          {name + "hit_rate", static_cast<double>(t.rows_there) / static_cast<double>(t.rows)});
  }
  if (r.evaluated) {
    const nn::Metrics& v = r.validation;
    const Scalar figures[] = {
        {"validation/loss", v.loss},         {"validation/accuracy", v.accuracy},
        {"validation/f1_micro", v.f1_micro}, {"validation/f1_macro", v.f1_macro},
        {"validation/roc_auc", v.roc_auc},   {"validation/average_precision", v.average_precision},
        {"validation/rmse", v.rmse},         {"validation/mae", v.mae}};
    for (const Scalar& figure : figures)
      if (std::isfinite(figure.value)) scalars.push_back(figure);
  }
  events_->add(r.epoch, scalars);
}

}  // namespace gnnmg::train
