// Settings by name: the tables that describe them, the texts "name=value ..." that set them, and
// the fields of configs that are settings too. gnnmg_setting_get_info() lists the tables.
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "capi/arguments.h"
#include "capi/choices.h"
#include "nn/config/choices.h"
#include "train/choices.h"

namespace gnnmg::capi {

using nn::choices_of;  // and this namespace has overloads

// One word of a text of settings.
struct Word {
  const char* subject;  // a subject of gnnmg_setting_get_info()
  std::string name, value;
  const char* values = nullptr;  // range of the setting, set by apply_words()
  // Error(kInvalidArgument): "model settings: heads=x, expected an integer, 1 to 64".
  [[noreturn]] void refuse(std::string_view expected) const;
};

// Splits a text at blanks; NULL has no words. A value may be in double quotes, where \" and
// \\ stand for " and \. Error(kInvalidArgument) for a word without a name or a value, a name that
// occurs twice, and a quote that does not end.
std::vector<Word> split_words(const char* subject, const char* settings);

// --- Values --------------------------------------------------------------------------------------

// Error(kInvalidArgument) for a text that is no such value, and for a number outside the word's
// range.
void read_value(const Word& word, bool& value);
void read_value(const Word& word, int32_t& value);
void read_value(const Word& word, int64_t& value);
void read_value(const Word& word, uint64_t& value);
void read_value(const Word& word, double& value);
void read_value(const Word& word, std::string& value);
void read_value(const Word& word, std::vector<int32_t>& value);
void read_value(const Word& word, std::vector<int64_t>& value);
int read_choice(const Word& word, std::string_view text, const nn::Choices& choices);
template <typename E>
  requires std::is_enum_v<E>
void read_value(const Word& word, E& value) {
  value = static_cast<E>(read_choice(word, word.value, choices_of(value)));
}
// Parts of a value, with commas between them.
std::vector<std::string_view> split_list(std::string_view text);
template <typename E>
  requires std::is_enum_v<E>
void read_value(const Word& word, std::vector<E>& value) {
  value.clear();
  for (const std::string_view part : split_list(word.value))
    value.push_back(static_cast<E>(read_choice(word, part, choices_of(E{}))));
}

std::string value_text(bool value);
std::string value_text(double value);
std::string value_text(const std::string& value);
template <std::integral T>
  requires(!std::same_as<T, bool>)
std::string value_text(T value) {
  return std::to_string(value);
}
template <typename E>
  requires std::is_enum_v<E>
std::string value_text(E value) {
  return choices_of(value).word(static_cast<int>(value));
}
template <typename T>
std::string value_text(const std::vector<T>& list) {
  std::string text;
  for (const T& value : list) (text += text.empty() ? "" : ",") += value_text(value);
  return text;
}

// --- Tables --------------------------------------------------------------------------------------

// A setting of a config, of which gnnmg_setting_get_info() tells.
struct SettingFacts {
  std::string name, type, default_value, values, help;
  bool is_field = false;
};

template <typename Config>
struct SettingRow {
  const char* name;
  // Range of a number, as "1 to 64", "0 to below 1", "0 or more" or "above 0", which is checked;
  // any other text is only shown. nullptr: flags and choices tell theirs.
  const char* values;
  const char* help;
  bool is_field;             // the struct of gnnmg.h has it too
  const char* default_text;  // replaces the printed default, or nullptr
  void (*read)(const Word& word, Config& config);
  void (*describe)(const Config& defaults, SettingFacts& facts);
  // The condition of its effect and the text that names it, "with optimizer=sgd"; nullptr: none.
  bool (*has_effect)(const Config& config) = nullptr;
  std::string_view condition = {};

  // The row of a setting that has an effect only under a condition.
  constexpr SettingRow only(bool (*holds)(const Config&), std::string_view text) const {
    SettingRow row = *this;
    row.has_effect = holds;
    row.condition = text;
    return row;
  }
  std::string value_in(const Config& config) const {
    SettingFacts facts;
    describe(config, facts);
    return facts.default_value;
  }
};

template <typename T>
void describe_type(const T& value, SettingFacts& facts) {
  if constexpr (std::is_same_v<T, bool>) {
    facts.type = "flag";
    facts.values = "0 or 1";
  } else if constexpr (std::is_enum_v<T>) {
    facts.type = "choice";
    facts.values = choices_of(value).list();
  } else if constexpr (std::is_floating_point_v<T>) {
    facts.type = "number";
  } else if constexpr (std::is_integral_v<T>) {
    facts.type = "integer";
    if constexpr (std::is_unsigned_v<T>) facts.values = "0 or more";
  } else if constexpr (std::is_same_v<T, std::string>) {
    facts.type = "text";
  } else if constexpr (std::is_enum_v<typename T::value_type>) {
    facts.type = "choices";
    facts.values = choices_of(typename T::value_type{}).list();
  } else {
    facts.type = "integers";
  }
}

// A row for the member that `kGet` selects:
// setting<Config, [](auto& c) -> auto& { return c.x; }>().
template <typename Config, auto kGet>
constexpr SettingRow<Config> setting(const char* name, const char* values, const char* help,
                                     bool is_field = false, const char* default_text = nullptr) {
  return {name,
          values,
          help,
          is_field,
          default_text,
          [](const Word& word, Config& config) { read_value(word, kGet(config)); },
          [](const Config& defaults, SettingFacts& facts) {
            const auto& value = kGet(defaults);
            describe_type(value, facts);
            facts.default_value = value_text(value);
          }};
}

// Tables with a line a setting: GNNMG_SETTING(Config, member, values, help) has the member's name.
#define GNNMG_SETTING_AS(config, name, member, ...) \
  ::gnnmg::capi::setting<config, [](auto& c) -> auto& { return c.member; }>(name, __VA_ARGS__)
#define GNNMG_SETTING(config, member, ...) GNNMG_SETTING_AS(config, #member, member, __VA_ARGS__)

// "1 to 64", "0 or more", "above 0" and the like; empty without bounds.
std::string range_text(double low, bool above_low, double high, bool below_high);

// Names of the settings that fields of a struct have set.
using FieldNames = std::vector<std::string_view>;

// Copies a field of a struct, unless it is 0, to the member of the config: the name is then among
// `given`.
template <typename Field, typename T>
void take_field(const Field& field, const char* name, T& value, FieldNames& given);

[[noreturn]] void refuse_setting(const Word& word, std::span<const std::string_view> names);
[[noreturn]] void refuse_second(const Word& word);  // a field has set it
[[noreturn]] void refuse_without_effect(const Word& word, std::string_view condition);

// Applies each word. Error(kInvalidArgument) naming the word: for an unknown name, with the names
// that there are; for a value that is not the default and has no effect beside the other settings.
template <typename Config>
void apply_words(std::span<Word> words,
                 std::type_identity_t<std::span<const SettingRow<Config>>> rows, Config& config,
                 const FieldNames& given = {}) {
  std::vector<const SettingRow<Config>*> conditional;  // nullptr: a word without a condition
  for (Word& word : words) {
    const SettingRow<Config>* row = nullptr;
    for (const SettingRow<Config>& r : rows)
      if (word.name == r.name) row = &r;
    if (row == nullptr) {
      std::vector<std::string_view> names;
      for (const SettingRow<Config>& r : rows) names.emplace_back(r.name);
      refuse_setting(word, names);
    }
    for (const std::string_view name : given)
      if (name == word.name) refuse_second(word);
    word.values = row->values;
    row->read(word, config);
    conditional.push_back(row->has_effect != nullptr ? row : nullptr);
  }
  for (size_t i = 0; i < words.size(); ++i)
    if (const auto* row = conditional[i]; row != nullptr && !row->has_effect(config) &&
                                          row->value_in(config) != row->value_in(Config{}))
      refuse_without_effect(words[i], row->condition);
}

template <typename Config>
std::vector<SettingFacts> list_settings(
    std::type_identity_t<std::span<const SettingRow<Config>>> rows, const Config& defaults) {
  std::vector<SettingFacts> list;
  for (const SettingRow<Config>& row : rows) {
    SettingFacts facts;
    facts.name = row.name;
    facts.help = row.help;
    facts.is_field = row.is_field;
    row.describe(defaults, facts);
    if (row.default_text != nullptr) facts.default_value = row.default_text;
    if (row.values != nullptr) facts.values = row.values;
    list.push_back(std::move(facts));
  }
  return list;
}

// --- Copies of fields ----------------------------------------------------------------------------

template <typename Field, typename T>
void take_field(const Field& field, const char* name, T& value, FieldNames& given) {
  if (field == Field{}) return;
  const std::string full = base::text("config.", name);
  if constexpr (std::is_same_v<T, bool>) {
    check_flag(field, full.c_str());
  } else if constexpr (std::is_enum_v<T>) {
    const nn::Choices& choices = choices_of(value);
    check_constant(field, choices.first, choices.constant(choices.first).c_str(), choices.last(),
                   choices.constant(choices.last()).c_str(), full.c_str());
  }
  value = static_cast<T>(field);
  given.emplace_back(name);
}

// The tables of all subjects of gnnmg_setting_get_info(), each where its settings are read.
std::vector<SettingFacts> context_settings();
std::vector<SettingFacts> dataset_settings();
std::vector<SettingFacts> split_settings();
std::vector<SettingFacts> folds_settings();
std::vector<SettingFacts> parts_settings();
std::vector<SettingFacts> served_settings();
std::vector<SettingFacts> sampler_settings();
std::vector<SettingFacts> loader_settings();
std::vector<SettingFacts> model_settings();
std::vector<SettingFacts> norm_settings();
std::vector<SettingFacts> model_file_settings();
std::vector<SettingFacts> optimizer_settings();
std::vector<SettingFacts> trainer_settings();
std::vector<SettingFacts> predictor_settings();
// Returns the settings of a generator, or an empty list if there is none of that name.
std::vector<SettingFacts> generator_settings(std::string_view generator);

}  // namespace gnnmg::capi
