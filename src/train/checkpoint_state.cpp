#include "train/checkpoint_state.h"

#include <cmath>
#include <utility>
#include <vector>

#include "io/json.h"
#include "io/json_writer.h"

namespace gnnmg::train {
namespace {

using base::Status;
using io::JsonValue;
using Facts = std::vector<std::pair<std::string, std::string>>;

// Says of a member that checkpoints may be older than it is.
struct Later {};

// All that a position consists of, for writer and reader alike.
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
  visit("sum_loss", position.sums.loss);
  visit("sum_weight", position.sums.weight);
  visit("correct", position.sums.correct);
  visit("labelled", position.sums.labelled);
  visit("seeds", position.sums.seeds);
  visit("learning_rate", position.sums.learning_rate);
  visit("seconds", position.sums.seconds);
  visit("wait_seconds", position.sums.wait);
  visit("sample_seconds", position.sums.sample);
  visit("gather_seconds", position.sums.gather);
  visit("compute_seconds", position.sums.compute);
  visit("reduce_seconds", position.sums.reduce);
  visit("optimizer_seconds", position.sums.optimizer);
  visit("peer_wait_seconds", position.sums.peers, Later());
}

const char* name_of(loader::Partition partition) {
  switch (partition) {
    case loader::Partition::kGlobal:
      return "global";
    case loader::Partition::kDistributedSampler:
      return "distributed sampler";
    case loader::Partition::kContiguous:
      return "contiguous";
  }
  return "?";
}

const char* name_of(nn::Loss loss) {
  switch (loss) {
    case nn::Loss::kAuto:
      return "auto";
    case nn::Loss::kCrossEntropy:
      return "cross-entropy";
    case nn::Loss::kBinaryCrossEntropy:
      return "binary cross-entropy";
    case nn::Loss::kMeanSquaredError:
      return "mean squared error";
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
  }
  return "?";
}

std::string batch_size(const TrainerConfig& config) {
  const std::string count = std::to_string(config.batch_size);
  if (config.batch_nodes == 0) return count;
  return base::text(count, ", at most ", config.batch_nodes, " nodes");
}

// What must be equal for the mini-batches and the meaning of the tensors to be.
Facts plan_facts(const Job& job, int ranks) {
  const TrainerConfig& c = job.config;
  Facts facts{{"seed", std::to_string(c.seed)},
              {"batch size", batch_size(c)},
              {"partition", name_of(c.partition)},
              {"shuffle", c.shuffle ? "yes" : "no"},
              {"drop last", c.drop_last ? "yes" : "no"},
              {"loss", name_of(c.loss)},
              {"loss average", c.loss_average == LossAverage::kExact ? "exact" : "ranks"},
              {"batch norm over", c.sync_batch_norm ? "the step" : "each mini-batch"},
              {"optimizer", name_of(c.optimizer)}};
  if (c.partition != loader::Partition::kGlobal || c.loss_average == LossAverage::kRanks)
    facts.emplace_back("ranks", std::to_string(ranks));
  return facts;
}

void write_facts(io::JsonWriter& out, std::string_view name, const Facts& facts) {
  out.key(name).begin_object();
  for (const auto& [key, value] : facts) out.member(key, std::string_view(value));
  out.end_object();
}

// Appends what differs from the saved ones to `differences`.
void compare(const JsonValue& state, std::string_view member, const Facts& facts,
             std::string_view name, std::string& differences) {
  const JsonValue* saved = state.find(member);
  if (!saved || !saved->as<JsonValue::Object>())
    base::fail(Status::kFormat, name, ": ", member, ": expected an object");
  for (const auto& [key, value] : facts) {
    const JsonValue* entry = saved->find(key);
    const auto* text = entry ? entry->as<std::string>() : nullptr;
    if (text && *text == value) continue;
    differences += base::text(differences.empty() ? "" : "; ", key, " is ", value, ", was ",
                              text ? *text : std::string("not given"));
  }
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

void check(const Position& p, std::string_view name) {
  const auto refuse = [&](const char* what, int64_t found) {
    base::fail(Status::kRange, name, ": position: ", what, " is ", found);
  };
  if (p.epoch < 0) refuse("epoch", p.epoch);
  if (p.step < 0) refuse("step", p.step);
  if (p.total_steps < p.step) refuse("total_steps", p.total_steps);
  if (p.batches_per_step < 1) refuse("batches_per_step", p.batches_per_step);
  if (p.best_epoch < -1 || p.best_epoch >= std::max<int64_t>(p.epoch, 1))
    refuse("best_epoch", p.best_epoch);
}

}  // namespace

std::string write_state(const Job& job, int ranks, const data::Fingerprint& data,
                        const Position& position) {
  io::JsonWriter out(2);
  out.begin_object();
  out.member("ranks", int64_t{ranks}).member("num_epochs", job.config.num_epochs);
  write_facts(out, "plan", plan_facts(job, ranks));
  write_facts(out, "data", data);
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
  std::string differences;
  compare(state, "plan", plan_facts(job, ranks), name, differences);
  compare(state, "data", data, name, differences);

  const JsonValue* members = state.find("position");
  if (!members || !members->as<JsonValue::Object>())
    base::fail(Status::kFormat, name, ": position: expected an object");
  Position position(job.config);
  Schedule::State schedule;
  visit_position(position, schedule, Reader(*members, name));
  check(position, name);
  position.schedule.set_state(schedule);
  const int64_t asked = job.config.batches_per_step;
  if (asked != 0 && asked != position.batches_per_step)
    differences += base::text(differences.empty() ? "" : "; ", "batches a step is ", asked,
                              ", was ", position.batches_per_step);
  if (!differences.empty())
    base::fail(Status::kMismatch, name, ": was saved by another training: ", differences);
  // The job may have more epochs than it had, or fewer.
  position.finished = position.epoch >= job.config.num_epochs ||
                      (job.config.early_stop_patience > 0 && position.has_validation &&
                       position.without_improvement >= job.config.early_stop_patience);
  return position;
}

}  // namespace gnnmg::train
