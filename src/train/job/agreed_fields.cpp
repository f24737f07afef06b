// Facts that the processes of a training compare before its first step, and a checkpoint with the
// training that continues from it, in the words of users.
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "nn/settings.h"
#include "train/eval/metric.h"
#include "train/job/meeting.h"

namespace gnnmg::train {
namespace {

using comm::Field;

// The shortest digits that read back as the same number.
std::string exact(double value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

// Returns the word for a value of an enumeration that ends with `last`.
template <auto last, int first = 0, size_t count>
std::string word(decltype(last) value, const char* const (&names)[count]) {
  static_assert(static_cast<int>(last) - first + 1 == static_cast<int>(count));
  return names[static_cast<int>(value) - first];
}

// The name of a setting in checkpoints.
std::string checkpoint_name(const std::string& setting) {
  constexpr std::string_view kScalers = "scalers";
  if (!setting.ends_with(kScalers)) return setting;
  return setting.substr(0, setting.size() - kScalers.size()) + "pna_scalers";
}

void add_sampler(const sample::Sampler& sampler, std::vector<Field>& fields) {
  fields.emplace_back("sampler", sampler.describe());
}

void add_config(const nn::ModelConfig& config, std::vector<Field>& fields) {
  for (auto& [name, text] : nn::setting_texts(config))
    fields.emplace_back("model " + checkpoint_name(name), std::move(text));
}

void add_model(const nn::Model& model, std::vector<Field>& fields) {
  add_config(model.config(), fields);
  for (const nn::NamedTensor& parameter : model.parameters()) {
    std::string shape;
    for (int64_t size : parameter.tensor.sizes())
      shape += base::text(shape.empty() ? "" : " x ", size);
    fields.emplace_back(base::text("parameter ", parameter.key), shape);
  }
}

void add_trainer(const TrainerConfig& c, std::vector<Field>& fields) {
  const auto add = [&](const char* name, std::string value) {
    fields.emplace_back(name, std::move(value));
  };
  add("seed", std::to_string(c.seed));
  add("batch_size", std::to_string(c.batch_size));
  add("batch_nodes", std::to_string(c.batch_nodes));
  add("batches_per_step", std::to_string(c.batches_per_step));
  add("partition", word<loader::Partition::kParts>(
                       c.partition, {"global", "distributed_sampler", "contiguous", "parts"}));
  add("shuffle", yes_or_no(c.shuffle));
  add("drop_last", yes_or_no(c.drop_last));
  add("loss", word<nn::Loss::kMeanSquaredError>(
                  c.loss, {"auto", "cross_entropy", "binary_cross_entropy", "mean_squared_error"}));
  add("loss_average", word<LossAverage::kRanks>(c.loss_average, {"exact", "ranks"}));
  add("sync_batch_norm", yes_or_no(c.sync_batch_norm));
  add("deterministic", yes_or_no(c.deterministic));
  add("precision", word<Precision::kBf16>(c.precision, {"float32", "tf32", "bf16"}));
  add("feature_form",
      word<feature::Form::kInt8>(c.placement.form, {"as_given", "f16", "bf16", "int8"}));
  add("num_epochs", std::to_string(c.num_epochs));
  add("optimizer", word<OptimizerKind::kSgd>(c.optimizer.kind, {"adam", "adamw", "sgd"}));
  add("learning_rate", exact(c.optimizer.learning_rate));
  add("weight_decay", exact(c.optimizer.weight_decay));
  add("weight_decay_layers", std::to_string(c.optimizer.weight_decay_layers));
  add("beta1", exact(c.optimizer.beta1));
  add("beta2", exact(c.optimizer.beta2));
  add("epsilon", exact(c.optimizer.epsilon));
  add("amsgrad", yes_or_no(c.optimizer.amsgrad));
  add("momentum", exact(c.optimizer.momentum));
  add("dampening", exact(c.optimizer.dampening));
  add("nesterov", yes_or_no(c.optimizer.nesterov));
  add("clip_norm", exact(c.clip_norm));
  add("schedule",
      word<ScheduleKind::kPlateau>(c.schedule.kind, {"constant", "cosine", "step", "plateau"}));
  add("warmup_epochs", std::to_string(c.schedule.warmup_epochs));
  add("schedule_minimum", exact(c.schedule.minimum_factor));
  add("schedule_factor", exact(c.schedule.factor));
  add("schedule_step_epochs", std::to_string(c.schedule.step_epochs));
  add("schedule_patience", std::to_string(c.schedule.patience));
  add("evaluation", word<EvaluationMode::kSampled>(c.evaluation, {"full", "sampled"}));
  add("evaluate_every", std::to_string(c.evaluate_every));
  add("eval_batch_size", std::to_string(c.eval_batch_size));
  add("best_by", metric_name(c.best_by));
  add("keep_best", yes_or_no(c.keep_best));
  add("early_stop_patience", std::to_string(c.early_stop_patience));
}

}  // namespace

std::vector<Field> agreed_fields(const Job& job, const data::Fingerprint& data) {
  std::vector<Field> fields;
  for (const auto& [name, value] : data) fields.emplace_back(base::text("data set ", name), value);
  add_sampler(*job.sampler, fields);
  add_model(*job.model, fields);
  add_trainer(job.config, fields);
  fields.emplace_back("part of each node", job.book ? job.book_sum : "none");
  return fields;
}

std::vector<Field> settings_fields(const Job& job) {
  std::vector<Field> fields;
  add_sampler(*job.sampler, fields);
  add_config(job.model->config(), fields);
  // These two make the initial weights, which a checkpoint replaces.
  std::erase_if(fields, [](const Field& field) {
    return field.first.ends_with(" seed") || field.first.ends_with(" weight_init");
  });
  fields.emplace_back("best_by", metric_name(job.config.best_by));
  return fields;
}

}  // namespace gnnmg::train
