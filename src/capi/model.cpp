// Models: making, describing, tensors in and out. Passes are in model_pass.cpp, files in
// model_file.cpp.
#include "capi/model.h"

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/tensor.h"
#include "capi/torch_tensor.h"
#include "nn/torch_tensor.h"

namespace gnnmg::capi {

Model::Model(std::shared_ptr<Context> owner, std::shared_ptr<nn::Model> made)
    : Object(kKind, owner, owner->queue), model_(std::move(made)) {}

namespace {

const gnnmg_model_config kDefaults = [] {
  const nn::ModelConfig d;
  gnnmg_model_config config{};
  config.struct_size = sizeof config;
  config.architecture = GNNMG_MODEL_SAGE;
  config.hidden_dim = d.hidden_dim;
  config.num_layers = d.num_layers;
  config.aggregation = static_cast<int32_t>(d.aggregation);
  config.activation = static_cast<int32_t>(d.activation);
  config.norm = static_cast<int32_t>(d.norm);
  config.skip = static_cast<int32_t>(d.skip);
  config.weight_init = static_cast<int32_t>(d.init);
  config.bias = d.bias;
  config.root_weight = d.root_weight;
  config.normalize = d.normalize;
  config.project = d.project;
  config.act_first = d.act_first;
  config.dtype = dtype_code(d.dtype);
  config.dropout = d.dropout;
  config.input_dropout = d.input_dropout;
  config.seed = d.seed;
  config.jumping = static_cast<int32_t>(d.jumping);
  config.heads = d.heads;
  config.concat = d.concat;
  config.self_loops = d.self_loops;
  config.residual = d.residual;
  config.block_degrees = d.block_degrees;
  config.train_eps = d.train_eps;
  config.negative_slope = d.slope;
  config.eps = d.eps;
  config.readout = static_cast<int32_t>(d.readout);
  config.output_dropout = d.output_dropout;
  config.norm_scale = d.norm_scale;
  config.framework = static_cast<int32_t>(d.framework);
  config.mlp_layers = d.mlp_layers;
  return config;
}();

static_assert(static_cast<int32_t>(nn::Architecture::kSage) == GNNMG_MODEL_SAGE &&
              static_cast<int32_t>(nn::Architecture::kGcn) == GNNMG_MODEL_GCN &&
              static_cast<int32_t>(nn::Architecture::kGat) == GNNMG_MODEL_GAT &&
              static_cast<int32_t>(nn::Architecture::kGatv2) == GNNMG_MODEL_GATV2 &&
              static_cast<int32_t>(nn::Architecture::kGin) == GNNMG_MODEL_GIN);
static_assert(static_cast<int32_t>(nn::Jumping::kNone) == GNNMG_JUMPING_NONE &&
              static_cast<int32_t>(nn::Jumping::kLast) == GNNMG_JUMPING_LAST &&
              static_cast<int32_t>(nn::Jumping::kCat) == GNNMG_JUMPING_CAT &&
              static_cast<int32_t>(nn::Jumping::kMax) == GNNMG_JUMPING_MAX &&
              static_cast<int32_t>(nn::Jumping::kLstm) == GNNMG_JUMPING_LSTM &&
              static_cast<int32_t>(nn::Jumping::kScores) == GNNMG_JUMPING_SCORES);
static_assert(static_cast<int32_t>(nn::Readout::kNone) == GNNMG_READOUT_NONE &&
              static_cast<int32_t>(nn::Readout::kSum) == GNNMG_READOUT_SUM &&
              static_cast<int32_t>(nn::Readout::kMean) == GNNMG_READOUT_MEAN &&
              static_cast<int32_t>(nn::Readout::kMax) == GNNMG_READOUT_MAX);
static_assert(static_cast<int32_t>(nn::Aggregation::kMean) == GNNMG_AGGREGATION_MEAN &&
              static_cast<int32_t>(nn::Aggregation::kMax) == GNNMG_AGGREGATION_MAX &&
              static_cast<int32_t>(nn::Aggregation::kSum) == GNNMG_AGGREGATION_SUM &&
              static_cast<int32_t>(nn::Aggregation::kPool) == GNNMG_AGGREGATION_POOL &&
              static_cast<int32_t>(nn::Aggregation::kLstm) == GNNMG_AGGREGATION_LSTM &&
              static_cast<int32_t>(nn::Aggregation::kGcn) == GNNMG_AGGREGATION_GCN);
static_assert(static_cast<int32_t>(nn::Framework::kPyg) == GNNMG_FRAMEWORK_PYG &&
              static_cast<int32_t>(nn::Framework::kDgl) == GNNMG_FRAMEWORK_DGL);
static_assert(static_cast<int32_t>(nn::Activation::kRelu) == GNNMG_ACTIVATION_RELU &&
              static_cast<int32_t>(nn::Activation::kNone) == GNNMG_ACTIVATION_NONE &&
              static_cast<int32_t>(nn::Activation::kElu) == GNNMG_ACTIVATION_ELU &&
              static_cast<int32_t>(nn::Activation::kLeakyRelu) == GNNMG_ACTIVATION_LEAKY_RELU &&
              static_cast<int32_t>(nn::Activation::kGelu) == GNNMG_ACTIVATION_GELU &&
              static_cast<int32_t>(nn::Activation::kTanh) == GNNMG_ACTIVATION_TANH &&
              static_cast<int32_t>(nn::Activation::kPrelu) == GNNMG_ACTIVATION_PRELU);
static_assert(static_cast<int32_t>(nn::Norm::kNone) == GNNMG_NORM_NONE &&
              static_cast<int32_t>(nn::Norm::kBatch) == GNNMG_NORM_BATCH &&
              static_cast<int32_t>(nn::Norm::kLayer) == GNNMG_NORM_LAYER &&
              static_cast<int32_t>(nn::Norm::kLayerGraph) == GNNMG_NORM_LAYER_GRAPH &&
              static_cast<int32_t>(nn::Norm::kGraph) == GNNMG_NORM_GRAPH &&
              static_cast<int32_t>(nn::Norm::kInstance) == GNNMG_NORM_INSTANCE &&
              static_cast<int32_t>(nn::Norm::kPair) == GNNMG_NORM_PAIR &&
              static_cast<int32_t>(nn::Norm::kPairRows) == GNNMG_NORM_PAIR_ROWS);
static_assert(static_cast<int32_t>(nn::Skip::kNone) == GNNMG_SKIP_NONE &&
              static_cast<int32_t>(nn::Skip::kLinear) == GNNMG_SKIP_LINEAR &&
              static_cast<int32_t>(nn::Skip::kResidual) == GNNMG_SKIP_RESIDUAL);
static_assert(static_cast<int32_t>(nn::Init::kPyg) == GNNMG_WEIGHT_INIT_PYG &&
              static_cast<int32_t>(nn::Init::kGlorot) == GNNMG_WEIGHT_INIT_GLOROT &&
              static_cast<int32_t>(nn::Init::kDgl) == GNNMG_WEIGHT_INIT_DGL);

nn::ModelConfig model_config(const gnnmg_model_config& in) {
  check_choice(in.architecture, GNNMG_MODEL_SAGE, GNNMG_MODEL_GIN, "config.architecture");
  check_choice(in.aggregation, GNNMG_AGGREGATION_MEAN, GNNMG_AGGREGATION_GCN, "config.aggregation");
  check_choice(in.framework, GNNMG_FRAMEWORK_PYG, GNNMG_FRAMEWORK_DGL, "config.framework");
  check_choice(in.activation, GNNMG_ACTIVATION_RELU, GNNMG_ACTIVATION_PRELU, "config.activation");
  check_choice(in.norm, GNNMG_NORM_NONE, GNNMG_NORM_PAIR_ROWS, "config.norm");
  check_choice(in.skip, GNNMG_SKIP_NONE, GNNMG_SKIP_RESIDUAL, "config.skip");
  check_choice(in.weight_init, GNNMG_WEIGHT_INIT_PYG, GNNMG_WEIGHT_INIT_DGL, "config.weight_init");
  check_choice(in.dtype, GNNMG_DTYPE_F32, GNNMG_DTYPE_F64, "config.dtype");
  check_flag(in.bias, "config.bias");
  check_flag(in.root_weight, "config.root_weight");
  check_flag(in.normalize, "config.normalize");
  check_flag(in.project, "config.project");
  check_flag(in.act_first, "config.act_first");
  check_choice(in.jumping, GNNMG_JUMPING_NONE, GNNMG_JUMPING_SCORES, "config.jumping");
  check_choice(in.readout, GNNMG_READOUT_NONE, GNNMG_READOUT_MAX, "config.readout");
  check_flag(in.concat, "config.concat");
  check_flag(in.self_loops, "config.self_loops");
  check_flag(in.residual, "config.residual");
  check_flag(in.block_degrees, "config.block_degrees");
  check_flag(in.train_eps, "config.train_eps");
  if (in.reserved != 0)
    fail(Status::kInvalidArgument, "config.reserved is ", in.reserved, ", expected 0");
  if (in.reserved2 != 0)
    fail(Status::kInvalidArgument, "config.reserved2 is ", in.reserved2, ", expected 0");
  // Above this no weight matrix could be made; it keeps products of widths from overflowing.
  constexpr int64_t kWidest = int64_t{1} << 24;
  for (const auto& [value, name] :
       {std::pair(in.input_dim, "config.input_dim"), std::pair(in.hidden_dim, "config.hidden_dim"),
        std::pair(in.output_dim, "config.output_dim")})
    if (value < 0 || value > kWidest)
      fail(Status::kInvalidArgument, name, " is ", value, ", expected 0 to ", kWidest);
  nn::ModelConfig config;
  config.architecture = static_cast<nn::Architecture>(in.architecture);
  config.jumping = static_cast<nn::Jumping>(in.jumping);
  config.heads = in.heads == 0 ? 1 : in.heads;
  config.concat = in.concat;
  config.self_loops = in.self_loops;
  config.residual = in.residual;
  config.block_degrees = in.block_degrees;
  config.train_eps = in.train_eps;
  config.slope = in.negative_slope;
  config.eps = in.eps;
  config.readout = static_cast<nn::Readout>(in.readout);
  config.output_dropout = in.output_dropout;
  config.norm_scale = in.norm_scale == 0 ? 1 : in.norm_scale;
  config.framework = static_cast<nn::Framework>(in.framework);
  config.mlp_layers = in.mlp_layers == 0 ? 2 : in.mlp_layers;
  config.input_dim = in.input_dim;
  config.hidden_dim = in.hidden_dim;
  config.output_dim = in.output_dim;
  config.num_layers = in.num_layers;
  config.aggregation = static_cast<nn::Aggregation>(in.aggregation);
  config.activation = static_cast<nn::Activation>(in.activation);
  config.norm = static_cast<nn::Norm>(in.norm);
  config.skip = static_cast<nn::Skip>(in.skip);
  config.init = static_cast<nn::Init>(in.weight_init);
  config.bias = in.bias;
  config.root_weight = in.root_weight;
  config.normalize = in.normalize;
  config.project = in.project;
  config.act_first = in.act_first;
  config.dropout = in.dropout;
  config.input_dropout = in.input_dropout;
  config.dtype = dtype_of(in.dtype);
  config.seed = in.seed;
  return config;
}

// A width that the config leaves to the data set.
void complete_width(int64_t& width, int64_t from_data, const char* field, const char* what) {
  if (width == 0) width = from_data;
  if (width == 0)
    fail(Status::kInvalidArgument, field, " is 0, and there is no data set with ", what,
         " to take it from");
}

std::string key_list(const nn::Model& model) {
  std::string keys;
  for (const auto* list : {&model.parameters(), &model.buffers()})
    for (const nn::NamedTensor& item : *list) keys += (keys.empty() ? "" : ", ") + item.key;
  return keys;
}

const at::Tensor& find_tensor(const nn::Model& model, std::string_view key) {
  for (const auto* list : {&model.parameters(), &model.buffers()})
    for (const nn::NamedTensor& item : *list)
      if (item.key == key) return item.tensor;
  fail(Status::kNotFound, "the model has no tensor '", key, "'; it has ", key_list(model));
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_model_config_init(gnnmg_model_config* config, size_t struct_size) {
  return init_config(config, struct_size, kDefaults);
}

gnnmg_status gnnmg_model_create(const gnnmg_context* context, const gnnmg_dataset* dataset,
                                const gnnmg_model_config* config, gnnmg_model** model) {
  return guard(outs(Out{model, "model"}), [&] {
    const auto c = find<Context>(context, "context");
    Read<Dataset> d;
    if (dataset != nullptr) {
      d = read<Dataset>(dataset, "dataset");
      check_same_context(*c, *d);
    }
    gnnmg::nn::ModelConfig settings = model_config(read_config(config, kDefaults));
    complete_width(settings.input_dim, d ? d->data()->feature_dim() : 0, "config.input_dim",
                   "features");
    complete_width(settings.output_dim, d ? d->data()->num_classes : 0, "config.output_dim",
                   "labels");
    settings.check();
    TorchScope scope(*c);
    *model = new_handle<gnnmg_model>(
        std::make_shared<Model>(c, std::shared_ptr(gnnmg::nn::make_model(settings))));
  });
}

gnnmg_status gnnmg_model_create_copy(const gnnmg_model* model, gnnmg_model** copy) {
  return guard(outs(Out{copy, "copy"}), [&] {
    const auto m = read<Model>(model, "model");
    TorchScope scope(*m->context);
    *copy = new_handle<gnnmg_model>(
        std::make_shared<Model>(m->context, std::shared_ptr(m->get()->clone())));
  });
}

void gnnmg_model_free(gnnmg_model* model) { free_handle(model, Kind::kModel); }

gnnmg_status gnnmg_model_get_info(const gnnmg_model* model, gnnmg_model_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto m = read<Model>(model, "model");
    const gnnmg::nn::Model& made = *m->get();
    const gnnmg::nn::ModelConfig& config = made.config();
    gnnmg_model_info facts{};
    facts.architecture = static_cast<int32_t>(config.architecture);
    facts.num_layers = config.num_layers;
    facts.dtype = dtype_code(config.dtype);
    facts.input_dim = config.input_dim;
    facts.hidden_dim = config.hidden_dim;
    facts.output_dim = config.output_dim;
    facts.num_parameters = made.flat_parameters().numel();
    facts.num_tensors = static_cast<int64_t>(made.parameters().size() + made.buffers().size());
    give(info, facts);
  });
}

gnnmg_status gnnmg_model_tensor_key(const gnnmg_model* model, int64_t index, const char** key,
                                    int32_t* trained) {
  return guard(outs(Out{key, "key"}, Out{trained, "trained"}), [&]() -> gnnmg_status {
    const auto m = read<Model>(model, "model");
    check_least(index, 0, "index");
    const auto& parameters = m->get()->parameters();
    const auto& buffers = m->get()->buffers();
    const size_t i = static_cast<size_t>(index);
    if (i >= parameters.size() + buffers.size()) return GNNMG_END;
    *trained = i < parameters.size();
    *key = m->keep_text(*trained ? parameters[i].key : buffers[i - parameters.size()].key);
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_model_export_tensor(const gnnmg_model* model, const char* key,
                                       DLManagedTensorVersioned** tensor) {
  return guard(outs(Out{tensor, "tensor"}), [&] {
    const auto m = read<Model>(model, "model");
    *tensor = export_torch(find_tensor(*m->get(), read_name(key, "key")), false).release();
  });
}

gnnmg_status gnnmg_model_set_tensor(gnnmg_model* model, const char* key,
                                    const DLManagedTensorVersioned* values) {
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    TorchScope scope(*m->context);
    const at::Tensor target = find_tensor(*m->get(), read_name(key, "key")).detach();
    const gnnmg::base::TensorView view = borrow_tensor(values, "values");
    const at::Tensor source = gnnmg::nn::view_of(view);
    if (source.scalar_type() != target.scalar_type() || source.sizes() != target.sizes())
      fail(Status::kInvalidArgument, "argument 'values' is ", gnnmg::base::dtype_name(view.dtype),
           " ", view.shape.to_string(), ", expected ",
           gnnmg::base::dtype_name(gnnmg::nn::dtype_of(target)), " ",
           gnnmg::base::Shape(
               std::span<const int64_t>(target.sizes().data(), static_cast<size_t>(target.dim())))
               .to_string(),
           " as '", key, "' is");
    m->pass.reset();
    target.copy_(source);
  });
}

gnnmg_status gnnmg_model_export_gradient(const gnnmg_model* model, const char* key,
                                         DLManagedTensorVersioned** gradient) {
  return guard(outs(Out{gradient, "gradient"}), [&] {
    const auto m = read<Model>(model, "model");
    const std::string_view name = read_name(key, "key");
    for (const gnnmg::nn::NamedTensor& item : m->get()->parameters())
      if (item.key == name) {
        *gradient = export_torch(item.tensor.grad(), false).release();
        return;
      }
    fail(Status::kNotFound, "the model has no parameter '", name, "'; its tensors are ",
         key_list(*m->get()));
  });
}

gnnmg_status gnnmg_model_export_parameters(const gnnmg_model* model,
                                           DLManagedTensorVersioned** parameters) {
  return guard(outs(Out{parameters, "parameters"}), [&] {
    const auto m = read<Model>(model, "model");
    *parameters = export_torch(m->get()->flat_parameters(), false).release();
  });
}

gnnmg_status gnnmg_model_export_gradients(const gnnmg_model* model,
                                          DLManagedTensorVersioned** gradients) {
  return guard(outs(Out{gradients, "gradients"}), [&] {
    const auto m = read<Model>(model, "model");
    *gradients = export_torch(m->get()->flat_gradients(), false).release();
  });
}

}  // extern "C"
