// Models from files alone, and the settings of a model as a struct and as text.
#include "base/cancel.h"
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/model.h"
#include "capi/model_config.h"
#include "capi/model_folder.h"
#include "nn/layers/parameter_limit.h"

namespace gnnmg::capi {
namespace {

[[noreturn]] void refuse_without_settings(const ModelFile& file) {
  constexpr size_t kMost = 3;
  const auto& tensors = file.state.tensors;
  std::string keys;
  for (size_t i = 0; i < std::min(tensors.size(), kMost); ++i)
    keys += base::text(i ? ", " : "", tensors[i].first);
  fail(Status::kFormat, file.path, ": holds ", tensors.size(), " tensors (", keys,
       tensors.size() > kMost ? ", ..." : "",
       ") and no settings, so another program wrote it, or an older version of the library: make "
       "the model with gnnmg_model_create() and read the weights with gnnmg_model_load()");
}

// Biases that the other framework's layers lack are less than the weights that they go with.
int64_t most_parameters(const io::StateFile& state) {
  constexpr int64_t kFew = 4096;
  int64_t numbers = kFew;
  for (const auto& [key, tensor] : state.tensors) numbers += 2 * tensor.shape().num_elements();
  return numbers;
}

std::shared_ptr<nn::Model> model_of(const ModelFile& file) {
  const nn::ModelConfig& config = file.settings->config;
  const nn::ParameterLimit limit(most_parameters(file.state));
  std::shared_ptr<nn::Model> model;
  try {
    model = nn::make_model(config);
  } catch (const base::Error& error) {
    const bool wrong = error.status() == Status::kInvalidArgument;
    throw base::Error(wrong ? Status::kFormat : error.status(),
                      base::text(file.path, ": ", error.what()));
  }
  load_state(*model, file, file.settings->keys != config.framework);
  return model;
}

std::shared_ptr<Model> open_model(const std::shared_ptr<Context>& context,
                                  const std::string& path) {
  const ModelFile file = read_model_file(path, FileForm());
  if (!file.settings) refuse_without_settings(file);
  const auto model = make_object<Model>(context, model_of(file));
  model->learn(file.settings->data);
  return model;
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_model_open(const gnnmg_context* context, const char* path, gnnmg_model** model) {
  return guard(outs(Out{model, "model"}), [&] {
    const auto c = find<Context>(context, "context");
    const std::string file(read_name(path, "path"));
    TorchScope scope(*c);
    const gnnmg::base::CancelScope cancel(c->work_token(), "gnnmg_model_open()");
    *model = new_handle<gnnmg_model>(open_model(c, file));
  });
}

gnnmg_status gnnmg_model_get_config(const gnnmg_model* model, gnnmg_model_config* config) {
  return guard(outs(Out{config, "config"}), [&] {
    const auto m = read<Model>(model, "model");
    give(config, fields_of(m->config()));
  });
}

gnnmg_status gnnmg_model_get_settings(const gnnmg_model* model, const char** settings) {
  return guard(outs(Out{settings, "settings"}), [&] {
    const auto m = read<Model>(model, "model");
    *settings = m->keep_text(gnnmg::nn::write_file_settings(settings_of(*m, false)));
  });
}

}  // extern "C"
