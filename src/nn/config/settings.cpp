#include "nn/config/settings.h"

#include <charconv>
#include <concepts>
#include <map>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/setting_list.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using Texts = std::vector<std::pair<std::string, std::string>>;

template <typename Number>
void check_number(const char* name, Number value, const Range& range) {
  const auto number = static_cast<double>(value);
  if (number >= range.low && (range.open ? number < range.high : number <= range.high)) return;
  if (range.open)
    fail(Status::kInvalidArgument, "model: ", name, " is ", value, ", expected at least ",
         range.low, " and below ", range.high);
  if constexpr (std::integral<Number>)
    fail(Status::kInvalidArgument, "model: ", name, " is ", value, ", expected ",
         static_cast<int64_t>(range.low), " to ", static_cast<int64_t>(range.high));
  fail(Status::kInvalidArgument, "model: ", name, " is ", value, ", expected a finite number");
}

// Ranges of values, by their types.
struct CheckRange {
  void operator()(const Setting&, bool) const {}
  void operator()(const Setting& setting, double value) const {
    if (setting.range.low > -setting_list::kInfinite)
      check_number(setting.name, value, setting.range);
  }
  template <std::integral Number>
  void operator()(const Setting& setting, Number value) const {
    if (setting.range.low > -setting_list::kInfinite)
      check_number(setting.name, value, setting.range);
  }
  template <typename E>
    requires std::is_enum_v<E>
  void operator()(const Setting& setting, E value) const {
    const Choices& choices = choices_of(value);
    if (!choices.has(static_cast<int>(value)))
      fail(Status::kInvalidArgument, "model: ", setting.name, " is ", static_cast<int>(value),
           ", expected ", choices.first, " to ", choices.last());
  }
  template <typename T>
  void operator()(const Setting& setting, const std::vector<T>& list) const {
    const size_t most = std::is_enum_v<T> ? kMostReductions : kMostColumns;
    if (list.size() > most)
      fail(Status::kInvalidArgument, "model: ", setting.name, " has ", list.size(),
           " entries, expected at most ", most);
    for (const T value : list) (*this)(setting, value);
  }
};

std::string text_of(bool value) { return value ? "yes" : "no"; }
std::string text_of(double value) {  // the shortest digits that read back as the same number
  char digits[32];
  return {static_cast<char*>(digits), std::to_chars(digits, digits + sizeof digits, value).ptr};
}
template <std::integral Number>
std::string text_of(Number value) {
  return std::to_string(value);
}
template <typename E>
  requires std::is_enum_v<E>
std::string text_of(E value) {
  return word_of(value);
}
std::string text_of(base::DType value) { return base::dtype_name(value); }
// Values of enumerations by their numbers in the interface.
template <typename T>
std::string text_of(const std::vector<T>& list) {
  std::string text;
  for (const T value : list)
    text += base::text(text.empty() ? "" : ", ", static_cast<int64_t>(value));
  return text;
}

// Writes out the defaults that depend on the architecture.
ModelConfig with_defaults(ModelConfig config) {
  config.aggregation = config.reduction();
  if (config.architecture == Architecture::kPna) config.reductions = config.pna_reductions();
  return config;
}

// Gives settings of one meaning one form, and those that a learned parameter replaces none.
ModelConfig as_computed(ModelConfig config) {
  config.output_dim = config.output_width();
  if (config.output_heads == 0) config.output_heads = config.heads;
  NormAffine& affine = config.norm_options.affine;
  affine = learns(config.norm, affine) ? NormAffine::kOn : NormAffine::kOff;
  if (config.train_eps) config.eps = 0;
  if (config.train_norm) config.average_degree = config.average_log_degree = 0;
  for (LayerConfig& layer : config.layers) layer.options = as_computed(layer.options);
  return config;
}

void add_texts(const ModelConfig& config, const std::string& of, bool all, Texts& texts) {
  const ModelConfig whole = with_defaults(config);
  visit_settings(
      [&](const Setting& setting, const auto& value) {
        if (all || setting.in_file == InFile::kEqual)
          texts.emplace_back(of + setting.name, text_of(value));
      },
      whole);
  texts.emplace_back(of + "layers", std::to_string(config.layers.size()));
  for (size_t i = 0; i < config.layers.size(); ++i) {
    const std::string layer = base::text(of, "layer ", i, " ");
    texts.emplace_back(layer + "kind", word_of(config.layers[i].kind));
    if (all) texts.emplace_back(layer + "name", config.layers[i].name);
    add_texts(config.layers[i].options, layer, all, texts);
  }
}

Texts texts_of_results(const ModelConfig& config) {
  Texts texts;
  add_texts(as_computed(config), "", false, texts);
  return texts;
}

}  // namespace

void check_ranges(const ModelConfig& config) { visit_settings(CheckRange(), config); }

Texts setting_texts(const ModelConfig& config) {
  Texts texts;
  add_texts(config, "", true, texts);
  return texts;
}

std::string differences(const ModelConfig& model, const ModelConfig& file) {
  std::map<std::string, std::string> others;
  for (auto& [name, text] : texts_of_results(file)) others.emplace(name, std::move(text));
  std::string list;
  for (const auto& [name, text] : texts_of_results(model)) {
    const auto other = others.find(name);
    if (other == others.end() || other->second == text) continue;
    list +=
        base::text(list.empty() ? "" : "; ", name, " is ", text, ", the file's is ", other->second);
  }
  return list;
}

}  // namespace gnnmg::nn
