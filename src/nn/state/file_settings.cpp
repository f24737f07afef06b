#include "nn/state/file_settings.h"

#include <charconv>
#include <concepts>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "io/bytes.h"
#include "io/json_writer.h"
#include "nn/config/choices.h"
#include "nn/config/layer_config.h"
#include "nn/config/setting_list.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using io::JsonValue;

constexpr std::string_view kModelFormat = "gnnmg model";
constexpr int64_t kSettingsVersion = 1;
constexpr std::string_view kTaskWords[] = {"none", "multiclass", "binary", "regression"};

// --- Out ----------------------------------------------------------------------------------------

struct WriteValue {
  io::JsonWriter& out;

  void operator()(bool value) const { out.value(value); }
  void operator()(double value) const { out.value(value); }
  // A text: numbers of 64 bits lose digits in other readers.
  void operator()(uint64_t value) const { out.value(std::string_view(std::to_string(value))); }
  template <std::signed_integral Number>
  void operator()(Number value) const {
    out.value(int64_t{value});
  }
  template <typename E>
    requires std::is_enum_v<E>
  void operator()(E value) const {
    out.value(word_of(value));
  }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    out.begin_list();
    for (const T value : list) (*this)(value);
    out.end_list();
  }
};

void write_layers(io::JsonWriter& out, const std::vector<LayerConfig>& layers) {
  const ModelConfig standard;
  out.key("layers").begin_list();
  for (const LayerConfig& layer : layers) {
    out.begin_object().member("kind", word_of(layer.kind));
    out.member("name", std::string_view(layer.name));
    visit_settings(
        [&](const Setting& setting, const auto& value, const auto& plain) {
          if (value != plain) WriteValue{out.key(setting.name)}(value);
        },
        layer.options, standard);
    out.end_object();
  }
  out.end_list();
}

void write_settings(io::JsonWriter& out, const ModelConfig& config) {
  out.key("settings").begin_object();
  visit_settings(
      [&](const Setting& setting, const auto& value) {
        if (setting.belongs_to(config)) WriteValue{out.key(setting.name)}(value);
      },
      config);
  out.end_object();
  if (config.architecture == Architecture::kLayers) write_layers(out, config.layers);
}

// --- In -----------------------------------------------------------------------------------------

// One member, with its place for errors.
struct SettingValue {
  const JsonValue& value;
  const std::string& where;
  const char* name;

  [[noreturn]] void refuse(const std::string& expected) const {
    const auto* text = value.as<std::string>();
    fail(Status::kFormat, where, ": ", name, " is ",
         text ? base::text("\"", io::printable(*text), "\"") : std::string(value.kind()),
         ", expected ", expected);
  }
  template <typename T>
  const T& as(const char* expected) const {
    const T* found = value.as<T>();
    if (!found) refuse(expected);
    return *found;
  }
};

void read_value(const SettingValue& in, bool& out) { out = in.as<bool>("true or false"); }

void read_value(const SettingValue& in, double& out) {
  const auto* whole = in.value.as<int64_t>();
  out = whole ? static_cast<double>(*whole) : in.as<double>("a number");
}

template <std::signed_integral Number>
void read_value(const SettingValue& in, Number& out) {
  const int64_t number = in.as<int64_t>("an integer");
  if (!std::in_range<Number>(number))
    in.refuse(base::text("an integer of at most ", std::numeric_limits<Number>::max()));
  out = static_cast<Number>(number);
}

void read_value(const SettingValue& in, uint64_t& out) {
  const std::string& text = in.as<std::string>("an integer as a text");
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || stop != end) in.refuse("an integer as a text");
}

template <typename E>
  requires std::is_enum_v<E>
void read_value(const SettingValue& in, E& out) {
  const Choices& choices = choices_of(out);
  const auto* word = in.value.as<std::string>();
  const std::optional<int> found = word ? choices.find(*word) : std::nullopt;
  if (!found) in.refuse("one of " + choices.list());
  out = static_cast<E>(*found);
}

template <typename T>
void read_value(const SettingValue& in, std::vector<T>& out) {
  const size_t most = std::is_enum_v<T> ? kMostReductions : kMostColumns;
  const auto& list = in.as<JsonValue::Array>("a list");
  if (list.size() > most)
    fail(Status::kFormat, in.where, ": ", in.name, " has ", list.size(), " entries, at most ", most,
         " are accepted");
  out.assign(list.size(), T{});
  for (size_t i = 0; i < list.size(); ++i) read_value({list[i], in.where, in.name}, out[i]);
}

const JsonValue& member(const JsonValue& object, const char* name, const std::string& where) {
  const JsonValue* found = object.find(name);
  if (!found) fail(Status::kFormat, where, ": has no member \"", name, "\"");
  return *found;
}

template <typename T>
const T& member_of(const JsonValue& object, const char* name, const std::string& where,
                   const char* expected) {
  return SettingValue{member(object, name, where), where, name}.as<T>(expected);
}

// `known`: names of members that are no settings.
void refuse_unknown(const JsonValue::Object& object, std::set<std::string_view> known,
                    const std::string& library, const std::string& where) {
  const ModelConfig any;
  visit_settings([&](const Setting& setting, const auto&) { known.insert(setting.name); }, any);
  for (const auto& [name, value] : object)
    if (!known.contains(name))
      fail(Status::kVersion, where, ": has the setting \"", io::printable(name),
           "\", which this version of the library does not know; version ", library,
           " wrote the file: read it with that version or a later one");
}

// Reads the settings that are there. `whole`: those that belong to the model must be.
void read_settings(const JsonValue& object, bool whole, const std::string& where,
                   ModelConfig& config) {
  visit_settings(
      [&](const Setting& setting, auto& value) {
        const JsonValue* found = object.find(setting.name);
        if (found)
          read_value({*found, where, setting.name}, value);
        else if (whole && setting.belongs_to(config))
          fail(Status::kFormat, where, ": has no setting \"", setting.name, "\"");
      },
      config);
}

std::vector<LayerConfig> read_layers(const JsonValue& value, const std::string& library,
                                     const std::string& where) {
  const auto* list = value.as<JsonValue::Array>();
  if (!list) fail(Status::kFormat, where, ": layers is ", value.kind(), ", expected a list");
  if (list->size() > kMaxLayers)
    fail(Status::kFormat, where, ": has ", list->size(), " layers, at most ", kMaxLayers,
         " are accepted");
  std::vector<LayerConfig> layers;
  for (const JsonValue& entry : *list) {
    const std::string place = base::text(where, ": layer ", layers.size());
    const auto* object = entry.as<JsonValue::Object>();
    if (!object) fail(Status::kFormat, place, " is ", entry.kind(), ", expected an object");
    refuse_unknown(*object, {"kind", "name"}, library, place);
    LayerConfig& layer = layers.emplace_back();
    read_value({member(entry, "kind", place), place, "kind"}, layer.kind);
    layer.name = member_of<std::string>(entry, "name", place, "a text");
    read_settings(entry, /*whole=*/false, place, layer.options);
  }
  return layers;
}

ModelConfig read_config(const JsonValue& document, const std::string& library,
                        const std::string& where) {
  const JsonValue& settings = member(document, "settings", where);
  const auto* object = settings.as<JsonValue::Object>();
  if (!object)
    fail(Status::kFormat, where, ": settings is ", settings.kind(), ", expected an object");
  refuse_unknown(*object, {}, library, where);
  ModelConfig config;
  read_settings(settings, /*whole=*/true, where, config);
  const bool listed = config.architecture == Architecture::kLayers;
  if (listed != (document.find("layers") != nullptr))
    fail(Status::kFormat, where, ": architecture is ", word_of(config.architecture), " and there ",
         listed ? "is no member \"layers\"" : "is a member \"layers\"");
  if (listed) config.layers = read_layers(member(document, "layers", where), library, where);
  try {
    config.check();
  } catch (const base::Error& error) {
    fail(Status::kFormat, where, ": no model has these settings: ", error.what());
  }
  return config;
}

DataFacts read_facts(const JsonValue& value, const std::string& where) {
  const std::string place = where + ": data";
  DataFacts facts;
  facts.name = member_of<std::string>(value, "name", place, "a text");
  facts.num_classes = member_of<int64_t>(value, "num_classes", place, "an integer");
  facts.of_graphs = member_of<bool>(value, "of_graphs", place, "true or false");
  const auto& word = member_of<std::string>(value, "task", place, "a text");
  for (size_t i = 0; i < std::size(kTaskWords); ++i)
    if (word == kTaskWords[i]) {
      facts.task = static_cast<data::Task>(i);
      return facts;
    }
  fail(Status::kFormat, place, ": task is \"", io::printable(word),
       "\", expected one of none, multiclass, binary, regression");
}

constexpr const char *kWeights = "weights", *kReplaced = "replaced_weights";

void write_sum(io::JsonWriter& out, const char* name, const WeightsSum& weights) {
  out.key(name).begin_object().member("file", std::string_view(weights.file));
  out.member("bytes", weights.bytes).member("sha256", std::string_view(weights.sha256));
  out.end_object();
}

WeightsSum read_sum(const JsonValue& document, const char* name, const std::string& where) {
  const JsonValue& weights = member(document, name, where);
  const std::string place = base::text(where, ": ", name);
  WeightsSum sum{member_of<std::string>(weights, "file", place, "a text"),
                 member_of<int64_t>(weights, "bytes", place, "an integer"),
                 member_of<std::string>(weights, "sha256", place, "a text")};
  base::check_relative_name(sum.file, place);
  return sum;
}

JsonValue parse_document(std::string_view text, const std::string& where) {
  return io::parse_json(io::as_bytes(text), where,
                        {.max_bytes = kMostFileSettings, .max_depth = 8});
}

bool is_document(const JsonValue& document) {
  const JsonValue* format = document.find("format");
  const auto* name = format ? format->as<std::string>() : nullptr;
  return name && *name == kModelFormat;
}

FileSettings read_document(const JsonValue& document, const std::string& where) {
  if (!is_document(document))
    fail(Status::kFormat, where, ": format: expected \"", kModelFormat, "\"");
  FileSettings settings;
  settings.library = member_of<std::string>(document, "library", where, "a text");
  const auto version = member_of<int64_t>(document, "version", where, "an integer");
  if (version < 1) fail(Status::kFormat, where, ": version is ", version, ", expected 1 or more");
  const std::string library = io::printable(settings.library, 40);
  if (version > kSettingsVersion)
    fail(Status::kVersion, where, ": is of version ", version, ", this library reads up to ",
         kSettingsVersion, "; version ", library,
         " wrote the file: read it with that version or a later one");
  settings.config = read_config(document, library, where);
  read_value({member(document, "keys", where), where, "keys"}, settings.keys);
  settings.data = read_facts(member(document, "data", where), where);
  return settings;
}

}  // namespace

DataFacts facts_of(const data::Dataset& dataset) {
  return {io::one_line(dataset.name), dataset.task, dataset.num_classes, dataset.of_graphs()};
}

std::string write_file_settings(const FileSettings& settings, const WeightsSum* weights,
                                const std::optional<WeightsSum>& replaced, int indent) {
  io::JsonWriter out(indent);
  out.begin_object().member("format", kModelFormat).member("version", kSettingsVersion);
  out.member("library", std::string_view(settings.library));
  out.member("keys", word_of(settings.keys));
  if (weights) write_sum(out, kWeights, *weights);
  if (replaced) write_sum(out, kReplaced, *replaced);
  write_settings(out, settings.config);
  out.key("data").begin_object().member("name", std::string_view(settings.data.name));
  out.member("task", kTaskWords[static_cast<size_t>(settings.data.task)]);
  out.member("num_classes", settings.data.num_classes);
  out.member("of_graphs", settings.data.of_graphs);
  return out.end_object().end_object().finish();
}

FileSettings read_file_settings(std::string_view text, const std::string& where) {
  return read_document(parse_document(text, where), where);
}

FolderSettings read_folder_settings(std::string_view text, const std::string& where) {
  const JsonValue document = parse_document(text, where);
  FolderSettings folder;
  folder.ours = is_document(document);
  if (!folder.ours) return folder;
  folder.settings = read_document(document, where);
  folder.weights = read_sum(document, kWeights, where);
  if (document.find(kReplaced)) folder.replaced = read_sum(document, kReplaced, where);
  return folder;
}

}  // namespace gnnmg::nn
