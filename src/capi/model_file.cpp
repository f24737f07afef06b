#include "capi/model_file.h"

#include <algorithm>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/model.h"
#include "capi/model_folder.h"
#include "capi/settings.h"
#include "dist/host.h"
#include "io/state_file.h"
#include "nn/config/settings.h"
#include "nn/state/convert_notes.h"
#include "nn/state/factored_weights.h"
#include "nn/state/file_names.h"
#include "nn/state/layer_names.h"
#include "nn/state/module_names.h"

namespace gnnmg::capi {

using nn::Framework;

namespace {

constexpr SettingRow<FileForm> kFileRows[] = {
    GNNMG_SETTING(FileForm, format, nullptr,
                  "File format of weights. A file of an optimizer is always pth.\n"
                  "auto: loading detects it from the first bytes; saving writes pth if the path "
                  "ends with .pth or .pt, else safetensors.\n"
                  "safetensors: safetensors.\n"
                  "pth: a state dict as torch.save() writes it."),
    GNNMG_SETTING(FileForm, other_framework, nullptr,
                  "1: the file has the layers of the other framework, PyG or DGL. A layer without "
                  "a counterpart is an error, and a warning in the log names settings that equal "
                  "results need. Loading recognizes files of gnnmg_model_save() by itself."),
    GNNMG_SETTING(FileForm, first_layer, nullptr,
                  "Saving weights: name of the first layer, such as conv1, in place of convs.0 or "
                  "layers.0; later layers count up. Loading recognizes such names.")
        .only([](const FileForm& f) { return f.use == FileUse::kSave; }, "when weights are saved"),
    GNNMG_SETTING(FileForm, dict, nullptr,
                  "Loading: path of the tensors to read, in place of the whole file or its only "
                  "dict: the dict of a .pth with several dicts, model or averages.model; the "
                  "first part of the keys of any file, student for student.weight; the state of "
                  "an optimizer.")
        .only([](const FileForm& f) { return f.loads(); }, "when a file is loaded"),
    GNNMG_SETTING(FileForm, torch_modules, nullptr,
                  "Saving. 1: write the networks of GIN, GINE and EdgeConv as torch's Sequential "
                  "(convs.0.nn.0, convs.0.nn.2) or as one Linear (convs.0.nn), in place of PyG's "
                  "MLP, and batch norms as torch's BatchNorm1d, without module. in their keys. "
                  "Loading recognizes all of these, except for an optimizer, whose numbers follow "
                  "the order of the modules.")
        .only([](const FileForm& f) { return f.use != FileUse::kLoad; },
              "when weights are saved, and for optimizers"),
    GNNMG_SETTING(FileForm, loaded_names, nullptr,
                  "Saving. 1: use the keys of the file that the weights were last loaded from, "
                  "without prefixes of wrappers such as module. or _orig_mod., so that the "
                  "original class can load the file strictly; an error if no weights were loaded, "
                  "or for a tensor of that file that the model does not have. Not with "
                  "torch_modules or first_layer; other_framework must be as at loading. For an "
                  "optimizer, parameters have the order of that file, if it is a .pth.")
        .only([](const FileForm& f) { return f.use != FileUse::kLoad; },
              "when weights are saved, and for optimizers"),
    GNNMG_SETTING(FileForm, partial, nullptr,
                  "Loading weights. 1: read the tensors whose keys and shapes fit, and leave the "
                  "others of the model as they are. A warning in the log lists the keys that are "
                  "missing, unexpected, or of another shape, and the settings that differ. Not "
                  "with other_framework.")
        .only([](const FileForm& f) { return f.use == FileUse::kLoad; }, "when weights are loaded"),
};

}  // namespace

const nn::Choices& choices_of(FileFormat) {
  static constexpr const char* kWords[] = {"auto", "safetensors", "pth"};
  static const nn::Choices choices{"", 0, kWords};
  return choices;
}

std::vector<SettingFacts> model_file_settings() { return list_settings<FileForm>(kFileRows, {}); }

FileForm file_form(const char* settings, std::string_view path, FileUse use) {
  FileForm form;
  form.use = use;
  std::vector<Word> words = split_words("model_file", settings);
  apply_words<FileForm>(words, kFileRows, form);
  if (form.loaded_names && (form.torch_modules || !form.first_layer.empty()))
    fail(Status::kInvalidArgument, "model_file settings: loaded_names=1, and ",
         form.torch_modules ? "torch_modules=1" : "first_layer=" + form.first_layer,
         ": the keys are those that were loaded, or others, choose one");
  if (form.partial && form.other_framework)
    fail(Status::kUnsupported,
         "model_file settings: partial=1 and other_framework=1: a conversion needs all tensors");
  form.pth = form.format == FileFormat::kPth || (form.format == FileFormat::kAuto &&
                                                 (path.ends_with(".pth") || path.ends_with(".pt")));
  return form;
}

std::string call_key(const char* verb, const std::string& path, const FileForm& form) {
  return base::text(verb, form.pth ? " pth " : " safetensors ",
                    form.other_framework ? "of the other framework " : "",
                    form.torch_modules ? "of torch's modules " : "",
                    form.loaded_names ? "as loaded " : "", form.partial ? "partly " : "",
                    form.first_layer, " ", form.dict, " ", path);
}

namespace {

io::StateFile state_of(const nn::Model& model, const FileForm& form) {
  io::StateFile state = form.other_framework ? model.state_of_other_framework() : model.state();
  const bool dgl = (model.config().framework == nn::Framework::kDgl) != form.other_framework;
  if (form.torch_modules) nn::to_torch_modules(state, model.config());
  if (form.loaded_names) nn::to_file_names(state, model.file_names(), form.other_framework);
  if (!form.first_layer.empty())
    nn::rename_layers(state, nn::layer_list(dgl ? nn::Framework::kDgl : nn::Framework::kPyg),
                      form.first_layer);
  return state;
}

// Adds the file's path to errors of a model, which knows only the keys.
template <typename Body>
void naming(const std::string& path, const Body& body) {
  try {
    body();
  } catch (const base::Error& error) {
    throw base::Error(error.status(), base::text(path, ": ", error.what()));
  }
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += base::text(i ? ", " : "", names[i]);
  return names.size() > kMost ? text + " and more" : text;
}

// Logs the settings that a conversion needs for equal results.
void log_notes(Context& context, const nn::Model& model, const FileForm& form,
               const std::string& path, bool reading) {
  if (!form.other_framework) return;
  for (const std::string& note : nn::conversion_notes(model.config(), reading))
    context.log.add(base::LogLevel::kWarning, base::text(path, ": ", note));
}

// Logs the rest of the file's contents.
void log_reading(Context& context, const nn::Model& model, const ModelFile& file) {
  const io::StateFile& state = file.state;
  const std::string& path = file.path;
  if (!file.composed.empty())
    context.log.add(
        base::LogLevel::kWarning,
        base::text(path,
                   ": computed from two tensors each, as weight_norm and pruning "
                   "store a weight: ",
                   listed(file.composed), "; the model has and saves the weights themselves"));
  if (!state.passed_over.empty())
    context.log.add(base::LogLevel::kWarning,
                    base::text(path, ": passed over among the tensors of the state: ",
                               listed(state.passed_over)));
  if (const std::string& older = model.file_names().older; !older.empty())
    context.log.add(base::LogLevel::kWarning, base::text(path, ": ", older));
  if (const std::string& left_out = model.file_names().left_out; !left_out.empty())
    context.log.add(
        base::LogLevel::kInfo,
        base::text(path, ": a wrapper of the model has saved it; left out: ", left_out));
}

// True if the file has settings that can be compared with the model's: those of the other
// framework's counterpart cannot, nor those of a file of several models.
bool comparable(const nn::Model& model, const ModelFile& file, const FileForm& form) {
  return file.settings && form.dict.empty() &&
         file.settings->config.framework == model.config().framework;
}

void compare_settings(const nn::Model& model, const ModelFile& file) {
  const std::string list = nn::differences(model.config(), file.settings->config);
  if (!list.empty())
    fail(Status::kMismatch, file.path, ": a model of other settings wrote it: ", list,
         "; make the model with the file's settings, or open the file with gnnmg_model_open()");
}

// True if the file's tensors are those of the other framework's layers: the file says so itself if
// its settings are of the model's framework.
bool of_other_framework(const nn::Model& model, const ModelFile& file, const FileForm& form) {
  const Framework own = model.config().framework;
  return comparable(model, file, form) ? file.settings->keys != own : form.other_framework;
}

// Loads the tensors that fit, and logs the others, and the settings that differ.
void load_part(Context& context, nn::Model& model, const std::shared_ptr<DevicePlace>& place,
               const ModelFile& file) {
  std::string left;
  work_at(place, [&] { naming(file.path, [&] { left = model.load_part_of_state(file.state); }); });
  const auto warn = [&](const char* what, const std::string& list) {
    if (!list.empty())
      context.log.add(base::LogLevel::kWarning, base::text(file.path, ": ", what, list));
  };
  warn("loaded in part; ", left);
  if (file.settings) warn("settings: ", nn::differences(model.config(), file.settings->config));
}

void load(Context& context, nn::Model& model, const std::shared_ptr<DevicePlace>& place,
          const std::string& path, FileForm form) {
  const ModelFile file = read_model_file(path, form);
  if (form.partial) return load_part(context, model, place, file);
  form.other_framework = of_other_framework(model, file, form);
  const bool compared = comparable(model, file, form);
  if (compared) compare_settings(model, file);
  work_at(place, [&] { load_state(model, file, form.other_framework); });
  log_notes(context, model, form, file.path, /*reading=*/true);
  log_reading(context, model, file);
  if (!compared)
    context.log.add(base::LogLevel::kWarning,
                    base::text(file.path,
                               ": weights were read, and settings that no tensor shows were not "
                               "checked: the aggregation, the function between layers and the "
                               "like are those of the model's config"));
}

}  // namespace

void load_state(nn::Model& model, const ModelFile& file, bool other_framework) {
  try {
    other_framework ? model.load_state_of_other_framework(file.state)
                    : model.load_state(file.state);
  } catch (const base::Error& error) {
    throw base::Error(error.status(),
                      base::text(file.path, ": ", error.what(), nn::note_on_factors(file.state)));
  }
}

nn::FileSettings settings_of(const Model& model, bool other_framework) {
  nn::FileSettings settings{model.config(), {}, model.facts(), dist::library_version()};
  const bool dgl = (settings.config.framework == Framework::kDgl) != other_framework;
  settings.keys = dgl ? Framework::kDgl : Framework::kPyg;
  return settings;
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_model_save(const gnnmg_model* model, const char* path, const char* settings,
                              int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto m = find<Model>(model, "model");
    const std::string file(read_name(path, "path"));
    const FileForm form = file_form(settings, file, FileUse::kSave);
    const Outcome outcome = run_read(m, "model", call_key("save", file, form), timeout_ms, [&] {
      return start_torch_job(
          m->context,
          [context = m->context.get(), made = m->get(), place = m->place(), file, form,
           facts = settings_of(*m, form.other_framework)]() -> Job::Result {
            gnnmg::io::StateFile state = work_at(place, [&] { return state_of(*made, form); });
            write_model_file(file, form.pth, state, facts);
            log_notes(*context, *made, form, file, /*reading=*/false);
            return nullptr;
          });
    });
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

gnnmg_status gnnmg_model_load(gnnmg_model* model, const char* path, const char* settings,
                              int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto m = find<Model>(model, "model");
    const std::string file(read_name(path, "path"));
    const FileForm form = file_form(settings, file, FileUse::kLoad);
    const Outcome outcome = run_held(m, "model", call_key("load", file, form), timeout_ms, [&] {
      m->pass.reset();
      return start_torch_job(m->context,
                             [context = m->context.get(), made = m->get(), place = m->place(), file,
                              form]() -> Job::Result {
                               load(*context, *made, place, file, form);
                               return nullptr;
                             });
    });
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

}  // extern "C"
