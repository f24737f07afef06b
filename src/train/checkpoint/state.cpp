#include "train/checkpoint/state.h"

#include <cmath>
#include <utility>
#include <vector>

#include "io/json.h"
#include "io/json_writer.h"
#include "train/choices.h"
#include "train/job/meeting.h"

namespace gnnmg::train {
namespace {

using base::Status;
using io::JsonValue;
using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kSettings = "settings", kBestBy = "best_by", kPlan = "plan",
                           kAverage = "average";
// Checkpoints of version 0.1.
constexpr std::string_view kPlanBefore = "partition", kNeighborsBefore = "neighbours";

// Marks a member that older checkpoints lack.
struct Later {};

// Visits all members of a position, for the writer and the reader.
template <typename P, typename S, typename Visit>
void visit_position(P& position, S& schedule, Visit&& visit) {
  visit("epoch", position.epoch);
  visit("step", position.step);
  visit("total_steps", position.total_steps);
  visit("batches_per_step", position.batches_per_step);
  visit("finished", position.finished);
  visit("bad_steps", position.bad_steps);
  visit("last_loss", position.last_loss);
  visit("has_validation", position.has_validation);
  visit("validation", position.last);
  visit("best_validation", position.best);
  visit("best_epoch", position.best_epoch);
  visit("validations_without_improvement", position.without_improvement);
  visit("schedule_waited", schedule.without_improvement);
  visit("schedule_factor", schedule.plateau);
  visit("set_learning_rate", position.set_rate, Later());
  visit("sum_loss", position.sums.loss);
  visit("sum_weight", position.sums.weight);
  visit("correct", position.sums.correct);
  visit("labelled", position.sums.labeled);  // the spelling of files since version 0.1
  visit("seeds", position.sums.seeds);
  visit("learning_rate", position.sums.learning_rate);
  visit("seconds", position.sums.seconds);
  visit("wait_seconds", position.sums.wait_seconds);
  visit("sample_seconds", position.sums.sample_seconds);
  visit("gather_seconds", position.sums.gather_seconds);
  visit("compute_seconds", position.sums.compute_seconds);
  visit("reduce_seconds", position.sums.reduce_seconds);
  visit("optimizer_seconds", position.sums.optimizer_seconds);
  visit("peer_wait_seconds", position.sums.peer_wait_seconds, Later());
  visit("weights_averaged", position.num_averaged, Later());
}

const char* name_of(loader::Partition partition) {
  switch (partition) {
    case loader::Partition::kGlobal:
      return "global";
    case loader::Partition::kDistributedSampler:
      return "distributed sampler";
    case loader::Partition::kContiguous:
      return "contiguous";
    case loader::Partition::kParts:
      return "parts";
  }
  return "?";
}

const char* name_of(const OptimizerConfig& config) {
  switch (config.kind) {
    case OptimizerKind::kAdam:
      return config.amsgrad ? "adam, amsgrad" : "adam";
    case OptimizerKind::kAdamW:
      return config.amsgrad ? "adamw, amsgrad" : "adamw";
    case OptimizerKind::kSgd:
      return config.momentum != 0 ? "sgd with momentum" : "sgd";
    case OptimizerKind::kRmsProp:
      return config.centered
                 ? config.momentum > 0 ? "centered rmsprop with momentum" : "centered rmsprop"
             : config.momentum > 0 ? "rmsprop with momentum"
                                   : "rmsprop";
    case OptimizerKind::kAdagrad:
      return "adagrad";
  }
  return "?";
}

std::string batch_size(const TrainerConfig& config) {
  std::string count = std::to_string(config.batch_size);
  if (config.batch_nodes == 0) return count;
  return base::text(count, ", at most ", config.batch_nodes, " nodes");
}

constexpr std::string_view kFrozen = "frozen parameters", kNone = "none";

std::string frozen_in(const nn::Model& model) {
  std::string keys;
  for (size_t i = 0; i < model.parameters().size(); ++i)
    if (model.frozen()[i]) keys += base::text(keys.empty() ? "" : ", ", model.parameters()[i].key);
  return keys.empty() ? std::string(kNone) : keys;
}

// Facts that determine the mini-batches and the meaning of the tensors.
Facts plan_facts(const Job& job, int ranks) {
  const TrainerConfig& c = job.config;
  Facts facts{{"seed", std::to_string(c.seed)},
              {"batch size", batch_size(c)},
              {std::string(kPlan), name_of(c.partition)},
              {"shuffle", c.shuffle ? "yes" : "no"},
              {"drop last", c.drop_last ? "yes" : "no"},
              {"loss", job.loss_function ? "the caller's function" : nn::describe(c.loss)},
              {"loss average", c.loss_average == LossAverage::kExact ? "exact" : "ranks"},
              {"batch norm over", c.sync_batch_norm ? "the step" : "each mini-batch"},
              {"optimizer", name_of(c.optimizer)}};
  if (by_ranks(c.partition) || c.loss_average == LossAverage::kRanks)
    facts.emplace_back("ranks", std::to_string(ranks));
  if (job.book) facts.emplace_back("part of each node", job.book_sum);
  facts.emplace_back(kFrozen, frozen_in(*job.model));
  return facts;
}

void write_facts(io::JsonWriter& out, std::string_view name, const Facts& facts) {
  out.key(name).begin_object();
  for (const auto& [key, value] : facts) out.member(key, std::string_view(value));
  out.end_object();
}

// A list in one line.
class List {
 public:
  template <typename... Parts>
  void add(const Parts&... parts) {
    text_ += base::text(text_.empty() ? "" : separator_, parts...);
  }
  explicit List(const char* separator) : separator_(separator) {}
  const std::string& text() const { return text_; }

 private:
  const char* separator_;
  std::string text_;
};

std::string_view average_of(const Job& job) {
  return nn::choices_of(job.config.average).word(static_cast<int>(job.config.average));
}

// The text of a member; null if there is no such member.
const std::string* text_in(const JsonValue& members, std::string_view key, std::string_view where) {
  const JsonValue* entry = members.find(key);
  if (!entry) return nullptr;
  const auto* text = entry->as<std::string>();
  if (!text)
    base::fail(Status::kFormat, where, ": ", key, ": expected a text, found ", entry->kind());
  return text;
}

const JsonValue& object_in(const JsonValue& state, std::string_view member, std::string_view name) {
  const JsonValue* object = state.find(member);
  if (!object || !object->as<JsonValue::Object>())
    base::fail(Status::kFormat, name, ": ", member, ": expected an object");
  return *object;
}

std::string in_present_words(const std::string& text) {
  if (!text.starts_with(kNeighborsBefore)) return text;
  return base::text("neighbors", std::string_view(text).substr(kNeighborsBefore.size()));
}

// Adds the differences from the saved facts to `differences`. Older libraries froze no parameters
// and did not write which.
void compare(const JsonValue& state, std::string_view member, const Facts& facts,
             std::string_view name, List& differences) {
  const JsonValue& saved = object_in(state, member, name);
  const std::string where = base::text(name, ": ", member);
  for (const auto& [key, value] : facts) {
    const std::string* text = text_in(saved, key, where);
    if (!text && key == kPlan) text = text_in(saved, kPlanBefore, where);
    if (text ? *text == value : key == kFrozen && value == kNone) continue;
    differences.add(key, " is ", value, ", was ", text ? *text : std::string("not given"));
  }
}

// The same for the settings, of which older libraries wrote fewer: a missing one counts as equal,
// and the log says so.
void compare_settings(const Job& job, const JsonValue& state, const Position& position,
                      std::string_view name, List& differences) {
  const auto warn = [&](const std::string& silent) {
    job.environment.log.add(base::LogLevel::kWarning,
                            base::text(name, ": does not say with which ", silent,
                                       " it was trained, and is taken for one of this training"));
  };
  if (!state.find(kSettings)) return warn("sampler and settings of the model");
  const JsonValue& saved = object_in(state, kSettings, name);
  JsonValue::Object left = *saved.as<JsonValue::Object>();
  List silent(", ");
  const std::string where = base::text(name, ": ", kSettings);
  for (const auto& [key, value] : settings_fields(job)) {
    const std::string* text = text_in(saved, key, where);
    left.erase(key);
    if (!text)
      silent.add(key);
    else if (in_present_words(*text) != value && (key != kBestBy || position.has_validation))
      differences.add(key, " is ", value, ", was ", *text);
  }
  for (const auto& [key, entry] : left)
    differences.add(key, " is not given, was ",
                    entry.as<std::string>() ? *entry.as<std::string>() : entry.kind());
  if (!silent.text().empty()) warn(silent.text());
}

// Once an average has begun, its settings may not change.
void compare_average(const Job& job, const JsonValue& state, const Position& position,
                     std::string_view name, List& differences) {
  if (position.num_averaged == 0) return;
  const std::string* text = text_in(state, kAverage, name);
  if (!text || *text != average_of(job))
    differences.add(kAverage, " is ", average_of(job), ", was ", text ? *text : "not given");
}

class Reader {
 public:
  Reader(const JsonValue& members, std::string_view name) : members_(members), name_(name) {}

  void operator()(std::string_view key, int64_t& out) const {
    const auto* number = find(key).as<int64_t>();
    if (!number) refuse(key, "an integer");
    out = *number;
  }
  void operator()(std::string_view key, bool& out) const {
    const auto* truth = find(key).as<bool>();
    if (!truth) refuse(key, "true or false");
    out = *truth;
  }
  void operator()(std::string_view key, double& out) const {
    const JsonValue& value = find(key);
    if (const auto* number = value.as<double>())
      out = *number;
    else if (value.as<std::monostate>())
      out = std::nan("");
    else
      refuse(key, "a number or null");
  }
  template <typename T>
  void operator()(std::string_view key, T& out, Later) const {
    if (members_.find(key)) (*this)(key, out);
  }

 private:
  const JsonValue& find(std::string_view key) const {
    const JsonValue* value = members_.find(key);
    if (!value) base::fail(Status::kFormat, name_, ": position: has no ", key);
    return *value;
  }
  [[noreturn]] void refuse(std::string_view key, const char* expected) const {
    base::fail(Status::kFormat, name_, ": position: ", key, ": expected ", expected);
  }

  const JsonValue& members_;
  std::string_view name_;
};

// No count of a training is as large, and a sum of two such numbers does not overflow.
constexpr int64_t kMostCounted = int64_t{1} << 53;

// Refuses numbers that are outside their range for any job.
void check(const Position& p, const Schedule::State& schedule, std::string_view name) {
  const auto refuse = [&](const char* what, auto found) {
    base::fail(Status::kRange, name, ": position: ", what, " is ", found);
  };
  for (const auto& [what, count] :
       {std::pair("epoch", p.epoch), std::pair("step", p.step),
        std::pair("total_steps", p.total_steps), std::pair("batches_per_step", p.batches_per_step),
        std::pair("bad_steps", p.bad_steps),
        std::pair("schedule_waited", schedule.without_improvement),
        std::pair("validations_without_improvement", p.without_improvement),
        std::pair("weights_averaged", p.num_averaged), std::pair("correct", p.sums.correct),
        std::pair("labelled", p.sums.labeled), std::pair("seeds", p.sums.seeds)})
    if (count < 0 || count > kMostCounted) refuse(what, count);
  if (p.batches_per_step < 1) refuse("batches_per_step", p.batches_per_step);
  if (p.total_steps < p.step) refuse("total_steps", p.total_steps);
  if (p.best_epoch < -1 || p.best_epoch >= std::max<int64_t>(p.epoch, 1))
    refuse("best_epoch", p.best_epoch);
  if (!(schedule.plateau >= 0 && schedule.plateau <= 1))
    refuse("schedule_factor", schedule.plateau);
  if (!std::isnan(p.set_rate) && !(p.set_rate >= 0 && std::isfinite(p.set_rate)))
    refuse("set_learning_rate", p.set_rate);
  const EpochSums& s = p.sums;
  if (s.weight < 0) refuse("sum_weight", s.weight);
  if (s.learning_rate < 0) refuse("learning_rate", s.learning_rate);
  for (const auto& [what, number] :
       {std::pair("sum_weight", s.weight), std::pair("learning_rate", s.learning_rate),
        std::pair("seconds", s.seconds), std::pair("wait_seconds", s.wait_seconds),
        std::pair("sample_seconds", s.sample_seconds),
        std::pair("gather_seconds", s.gather_seconds),
        std::pair("compute_seconds", s.compute_seconds),
        std::pair("reduce_seconds", s.reduce_seconds),
        std::pair("optimizer_seconds", s.optimizer_seconds),
        std::pair("peer_wait_seconds", s.peer_wait_seconds)})
    if (!std::isfinite(number)) refuse(what, number);
}

// Checks the numbers of steps and mini-batches of this epoch and those before it.
void check_in_plan(const Job& job, int ranks, const Position& p, std::string_view name) {
  if (by_ranks(job.config.partition) && p.batches_per_step != ranks)
    base::fail(Status::kRange, name, ": position: batches_per_step is ", p.batches_per_step,
               ", expected ", ranks, ", one of each rank");
  const loader::EpochPlan plan(job.split->part(data::SplitPart::kTrain),
                               plan_config(job, p.batches_per_step, 0, ranks),
                               static_cast<uint64_t>(p.epoch));
  if (p.step > plan.num_steps())
    base::fail(Status::kRange, name, ": position: step is ", p.step, ", but epoch ", p.epoch,
               " has ", plan.num_steps(), plan.num_steps() == 1 ? " step" : " steps");
  if (job.config.batch_nodes != 0) return;  // then epochs differ
  const int64_t before = p.total_steps - p.step;
  if (plan.num_steps() == 0
          ? before != 0
          : before % plan.num_steps() != 0 || before / plan.num_steps() != p.epoch)
    base::fail(Status::kRange, name, ": position: total_steps is ", p.total_steps, ", but epoch ",
               p.epoch, " begins after ", p.epoch, " times ", plan.num_steps(),
               plan.num_steps() == 1 ? " step" : " steps");
}

}  // namespace

std::string write_state(const Job& job, int ranks, const data::Fingerprint& data,
                        const std::string& training, const Position& position) {
  io::JsonWriter out(2);
  out.begin_object();
  if (!training.empty()) out.member("training", std::string_view(training));
  out.member("ranks", int64_t{ranks}).member("num_epochs", job.config.num_epochs);
  out.member(kAverage, average_of(job));
  write_facts(out, kPlan, plan_facts(job, ranks));
  write_facts(out, "data", data);
  write_facts(out, kSettings, settings_fields(job));
  out.key("position").begin_object();
  visit_position(position, position.schedule.state(),
                 [&](std::string_view key, const auto& value, auto...) { out.member(key, value); });
  out.end_object().end_object();
  return out.finish();
}

Position read_state(const Job& job, int ranks, const data::Fingerprint& data, std::string_view text,
                    std::string_view name) {
  const JsonValue state =
      io::parse_json({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, name);
  const JsonValue& members = object_in(state, "position", name);
  Position position(job.config);
  Schedule::State schedule;
  visit_position(position, schedule, Reader(members, name));
  check(position, schedule, name);
  position.schedule.set_state(schedule);
  List differences("; ");
  compare(state, kPlan, plan_facts(job, ranks), name, differences);
  compare(state, "data", data, name, differences);
  compare_settings(job, state, position, name, differences);
  compare_average(job, state, position, name, differences);
  const int64_t asked = job.config.batches_per_step;
  if (asked != 0 && asked != position.batches_per_step)
    differences.add("batches a step is ", asked, ", was ", position.batches_per_step);
  if (!differences.text().empty())
    base::fail(Status::kMismatch, name, ": was saved by another training: ", differences.text());
  check_in_plan(job, ranks, position, name);
  // The number of epochs may have changed.
  position.finished = position.epoch >= job.config.num_epochs ||
                      (job.config.early_stop_patience > 0 && position.has_validation &&
                       position.without_improvement >= job.config.early_stop_patience);
  return position;
}

}  // namespace gnnmg::train
