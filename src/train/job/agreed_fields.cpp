// Facts that the processes of a training compare before its first step, and a checkpoint with the
// training that continues from it, in the words of users.
#include <array>
#include <charconv>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nn/config/settings.h"
#include "train/choices.h"
#include "train/eval/metric.h"
#include "train/job/meeting.h"
#include "train/setting_list.h"

namespace gnnmg::train {
namespace {

using comm::Field;

// The shortest digits that read back as the same number.
std::string exact(double value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

template <typename T>
std::string text_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return nn::choices_of(value).word(static_cast<int>(value));
  else if constexpr (std::is_same_v<T, bool>)
    return value ? "yes" : "no";
  else if constexpr (std::is_same_v<T, double>)
    return exact(value);
  else
    return std::to_string(value);
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
  for (size_t i = 0; i < model.parameters().size(); ++i) {
    const nn::NamedTensor& parameter = model.parameters()[i];
    std::string shape;
    for (int64_t size : parameter.tensor.sizes())
      shape += base::text(shape.empty() ? "" : " x ", size);
    if (model.frozen()[i]) shape += ", frozen";
    fields.emplace_back(base::text("parameter ", parameter.key), shape);
  }
}

void add_trainer(const TrainerConfig& config, std::vector<Field>& fields) {
  const auto add = [&](const auto& setting, const auto& value) {
    if (setting.among == Among::kAll) fields.emplace_back(setting.name, text_of(value));
  };
  visit_settings(config, add);
  visit_settings(config.optimizer, add);
  constexpr const char* kForms[] = {"as_given", "f16", "bf16", "int8"};
  fields.emplace_back("feature_form", kForms[static_cast<int>(config.placement.form)]);
}

}  // namespace

std::vector<Field> agreed_fields(const Job& job, const data::Fingerprint& data) {
  std::vector<Field> fields;
  for (const auto& [name, value] : data) fields.emplace_back(base::text("data set ", name), value);
  add_sampler(*job.sampler, fields);
  add_model(*job.model, fields);
  add_trainer(job.config, fields);
  fields.emplace_back("loss function", job.loss_function ? "the caller's" : "the library's");
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
