// Layers of one's own, added to a model one by one until it is used.
#include <functional>
#include <utility>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/model.h"
#include "capi/model_config.h"

namespace gnnmg::capi {
namespace {

using LayerKind = nn::LayerConfig::Kind;

// `name` may be NULL where the layer has no parameters, which the check of the layers says.
nn::LayerConfig layer_of(LayerKind kind, const char* name) {
  nn::LayerConfig layer;
  layer.kind = kind;
  if (name != nullptr) layer.name = std::string(read_name(name, "name"));
  return layer;
}

gnnmg_status add(gnnmg_model* model, const char* name, LayerKind kind,
                 const std::function<void(nn::ModelConfig&)>& fill) {
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    nn::LayerConfig layer = layer_of(kind, name);
    fill(layer.options);
    m->add_layer(std::move(layer));
  });
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_model_add_conv(gnnmg_model* model, const char* name,
                                  const gnnmg_model_config* config, const char* settings) {
  return add(model, name, LayerKind::kConv, [&](gnnmg::nn::ModelConfig& options) {
    options = model_config(config, settings, /*of_layer=*/true);
    if (options.architecture == gnnmg::nn::Architecture::kLayers)
      fail(Status::kInvalidArgument,
           "config.architecture is GNNMG_ARCHITECTURE_LAYERS, expected a layer's");
  });
}

gnnmg_status gnnmg_model_add_linear(gnnmg_model* model, const char* name, int64_t output_dim,
                                    int32_t bias) {
  return add(model, name, LayerKind::kLinear, [&](gnnmg::nn::ModelConfig& options) {
    check_flag(bias, "bias");
    options.output_dim = output_dim;
    options.bias = bias;
  });
}

gnnmg_status gnnmg_model_add_norm(gnnmg_model* model, const char* name, gnnmg_norm norm,
                                  const char* settings) {
  return add(model, name, LayerKind::kNorm, [&](gnnmg::nn::ModelConfig& options) {
    GNNMG_CHECK_CONSTANT(norm, GNNMG_NORM_BATCH, GNNMG_NORM_PAIR_ROWS, "norm");
    options.norm = static_cast<gnnmg::nn::Norm>(norm);
    options.norm_options = norm_options(settings);
  });
}

gnnmg_status gnnmg_model_add_activation(gnnmg_model* model, const char* name,
                                        gnnmg_activation activation) {
  return add(model, name, LayerKind::kActivation, [&](gnnmg::nn::ModelConfig& options) {
    GNNMG_CHECK_CONSTANT(activation, GNNMG_ACTIVATION_RELU, GNNMG_ACTIVATION_SIGMOID, "activation");
    options.activation = static_cast<gnnmg::nn::Activation>(activation);
  });
}

gnnmg_status gnnmg_model_add_dropout(gnnmg_model* model, double rate) {
  return add(model, nullptr, LayerKind::kDropout,
             [&](gnnmg::nn::ModelConfig& options) { options.dropout = rate; });
}

gnnmg_status gnnmg_model_add_readout(gnnmg_model* model, const char* name, gnnmg_readout readout,
                                     int32_t size) {
  return add(model, name, LayerKind::kReadout, [&](gnnmg::nn::ModelConfig& options) {
    GNNMG_CHECK_CONSTANT(readout, GNNMG_READOUT_SUM, GNNMG_READOUT_SORT, "readout");
    options.readout = static_cast<gnnmg::nn::Readout>(readout);
    if (readout == GNNMG_READOUT_SET2SET && size != 0) options.readout_steps = size;
    if (readout == GNNMG_READOUT_SORT && size != 0) options.sort_rows = size;
  });
}

}  // extern "C"
