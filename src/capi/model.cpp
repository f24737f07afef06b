// Models: making, describing, tensors in and out. Their configs are in model_config.cpp, layers of
// one's own in model_layers.cpp, passes in model_pass.cpp, files in model_file.cpp and
// model_open.cpp.
#include "capi/model.h"

#include <c10/core/GradMode.h>

#include "base/names.h"
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/model_config.h"
#include "capi/reaper.h"
#include "capi/tensor.h"
#include "capi/torch_tensor.h"
#include "graph/homogeneous.h"
#include "nn/config/choices.h"
#include "nn/torch/tensor.h"

namespace gnnmg::capi {
namespace {

std::string joined_keys(const std::vector<nn::NamedTensor>& list) {
  std::string keys;
  for (const nn::NamedTensor& item : list) keys += (keys.empty() ? "" : ", ") + item.key;
  return keys;
}

}  // namespace

Model::Model(std::shared_ptr<Context> owner, std::shared_ptr<nn::Model> made,
             std::shared_ptr<DevicePlace> place)
    : Object(kKind, owner, owner->queue), place_(std::move(place)), model_(std::move(made)) {}

Model::Model(std::shared_ptr<Context> owner, nn::ModelConfig unfinished, data::DatasetRef dataset)
    : Object(kKind, owner, owner->queue),
      growing_(std::move(unfinished)),
      dataset_(std::move(dataset)) {}

Model::~Model() {
  if (place_) place_->wait_to_free();
  pass.reset();  // the pass has memory at the place
}

bool Model::ends_slowly() const noexcept {
  const std::shared_ptr<DevicePlace> place = this->place();
  return place && !place->at_rest();
}

const std::shared_ptr<nn::Model>& Model::get() const {
  std::lock_guard lock(mutex_);
  if (!model_) {
    TorchScope scope(*context);
    model_ = nn::make_model(growing_);
    dataset_.reset();
  }
  return model_;
}

nn::ModelConfig Model::config() const {
  std::lock_guard lock(mutex_);
  if (model_) return model_->config();
  nn::ModelConfig so_far = growing_;
  nn::complete_layers(so_far, /*unfinished=*/true);
  return so_far;
}

void check_only_node_type(int32_t node_type) {
  if (node_type != 0)
    fail(Status::kNotFound, "node type ", node_type, " does not exist, the model's graph has 1");
}

void Model::learn(const nn::DataFacts& facts) {
  std::lock_guard lock(mutex_);
  if (facts_.task == data::Task::kNone) facts_ = facts;
}

void Model::check_unused(const char* remedy) const {
  if (users_ > 0) wait_for_reaped();  // a trainer that was freed may be still about to go
  if (users_ > 0)
    fail(Status::kBusy, "an optimizer or a trainer works on the model where it lies; ", remedy);
}

void Model::set_trainable(std::string_view pattern, bool trainable) {
  check_unused("freeze before they are made, or when they are freed");
  nn::Model& model = *get();
  std::vector<bool> frozen = model.frozen();
  bool any = false;
  for (size_t i = 0; i < frozen.size(); ++i) {
    if (!base::matches(model.parameters()[i].key, pattern)) continue;
    frozen[i] = !trainable;
    any = true;
  }
  if (!any)
    fail(Status::kNotFound, "no parameter matches '", pattern, "'; the model has ",
         joined_keys(model.parameters()));
  pass.reset();
  work_at(place(), [&] { model.set_frozen(frozen); });
}

void Model::move(std::shared_ptr<DevicePlace> place) {
  check_unused("move it before they are made, or when they are freed");
  const std::shared_ptr<nn::Model> from = get();
  const std::shared_ptr<DevicePlace> before = this->place();
  const c10::NoGradGuard no_grad;
  std::shared_ptr<nn::Model> moved;
  const auto copy = [&] {
    moved = from->clone_on(place ? &place->device() : nullptr);
    moved->flat_gradients().copy_(from->flat_gradients());
    if (before) before->synchronize();
    if (place) place->synchronize();
  };
  const auto copy_there = [&] { work_at(place, copy); };
  if (before) before->synchronize();
  if (before && !(place && place->index() == before->index()))
    work_at(before, copy_there);
  else
    copy_there();
  pass.reset();
  std::lock_guard lock(mutex_);
  model_ = std::move(moved);
  place_ = std::move(place);
}

void Model::add_layer(nn::LayerConfig layer) {
  std::lock_guard lock(mutex_);
  if (model_ && model_->config().architecture == nn::Architecture::kLayers)
    fail(Status::kBusy, "the model was used already: its layers are what they are");
  if (model_)
    fail(Status::kInvalidArgument, "the model is of ",
         nn::constant_of(model_->config().architecture),
         ", and layers are added to one of GNNMG_ARCHITECTURE_LAYERS");
  if (layer.kind == nn::LayerConfig::Kind::kConv) complete_config(layer.options, dataset_.get());
  nn::ModelConfig grown = growing_;
  grown.layers.push_back(std::move(layer));
  nn::complete_layers(grown, /*unfinished=*/true);
  growing_ = std::move(grown);
}

namespace {

std::string key_list(const nn::Model& model) {
  return joined_keys(model.parameters()) + (model.buffers().empty() ? "" : ", ") +
         joined_keys(model.buffers());
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

gnnmg_status gnnmg_model_create(const gnnmg_context* context, const gnnmg_dataset* dataset,
                                const gnnmg_model_config* config, const char* settings,
                                gnnmg_model** model) {
  return guard(outs(Out{model, "model"}), [&] {
    const auto c = find<Context>(context, "context");
    Read<Dataset> d;
    if (dataset != nullptr) {
      d = read<Dataset>(dataset, "dataset");
      check_same_context(*c, *d);
      gnnmg::graph::expect_homogeneous(*d->data()->graph, "models");
    }
    const auto give_model = [&](const std::shared_ptr<Model>& object) {
      if (d) object->learn(gnnmg::nn::facts_of(*d->data()));
      *model = new_handle<gnnmg_model>(object);
    };
    gnnmg::nn::ModelConfig made = model_config(config, settings);
    if (made.reads_features())
      complete_width(made.input_dim, d ? d->data()->feature_dim() : 0, "config.input_dim",
                     "features (the setting `input` says what a model reads without any)");
    else
      complete_width(made.input_dim, d ? d->data()->graph->num_nodes(d->data()->node_type) : 0,
                     "config.input_dim", "nodes");
    if (made.architecture == gnnmg::nn::Architecture::kLayers) {
      gnnmg::nn::complete_layers(made, /*unfinished=*/true);
      give_model(make_object<Model>(c, std::move(made), d ? d->data() : nullptr));
      return;
    }
    if (made.output_dim == -1)
      made.output_dim = 0;  // the width of the other layers
    else
      complete_width(made.output_dim, d ? d->data()->num_classes : 0, "config.output_dim",
                     "labels");
    complete_config(made, d ? d->data().get() : nullptr);
    made.check();
    TorchScope scope(*c);
    give_model(make_object<Model>(c, std::shared_ptr(gnnmg::nn::make_model(made))));
  });
}

gnnmg_status gnnmg_model_create_copy(const gnnmg_model* model, gnnmg_model** copy) {
  return guard(outs(Out{copy, "copy"}), [&] {
    const auto m = read<Model>(model, "model");
    TorchScope scope(*m->context);
    const std::shared_ptr<DevicePlace> from = m->place();
    std::shared_ptr<DevicePlace> place;
    if (from) place = std::make_shared<DevicePlace>(m->context, from->index(), 0);
    std::shared_ptr<gnnmg::nn::Model> made = work_at(from, [&] {
      if (from) from->synchronize();  // the copy is made in a queue of its own
      std::shared_ptr<gnnmg::nn::Model> clone =
          m->get()->clone_on(place ? &place->device() : nullptr);
      if (place) place->synchronize();
      return clone;
    });
    const auto copied = make_object<Model>(m->context, std::move(made), place);
    copied->learn(m->facts());
    *copy = new_handle<gnnmg_model>(copied);
  });
}

gnnmg_status gnnmg_model_set_device(gnnmg_model* model, gnnmg_device_type device, int32_t index,
                                    uint64_t stream) {
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    GNNMG_CHECK_CONSTANT(device, GNNMG_DEVICE_CPU, GNNMG_DEVICE_CUDA, "device");
    const bool on_cpu = device == GNNMG_DEVICE_CPU;
    if (on_cpu && (index != 0 || stream != 0))
      fail(Status::kInvalidArgument, index != 0 ? "index is " : "stream is ",
           index != 0 ? std::to_string(index) : std::to_string(stream),
           ", but device is GNNMG_DEVICE_CPU; leave it 0");
    TorchScope scope(*m->context);
    std::shared_ptr<DevicePlace> place;
    if (!on_cpu)
      place = open_place(m->context, index, stream, "argument 'index'", "argument 'stream'");
    m->move(std::move(place));
  });
}

void gnnmg_model_free(gnnmg_model* model) { free_handle(model, Kind::kModel); }

gnnmg_status gnnmg_model_get_info(const gnnmg_model* model, gnnmg_model_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto m = read<Model>(model, "model");
    const gnnmg::nn::ModelConfig config = m->config();
    gnnmg_model_info facts{};
    facts.architecture = static_cast<int32_t>(config.architecture);
    facts.num_layers = config.num_layers;
    facts.dtype = dtype_code(config.dtype);
    facts.input_dim = config.input_dim;
    facts.hidden_dim = config.hidden_dim;
    facts.output_dim = config.output_width();
    if (const auto made = m->made()) {
      facts.num_parameters = made->flat_parameters().numel();
      facts.num_tensors = static_cast<int64_t>(made->parameters().size() + made->buffers().size());
    }
    const auto place = m->place();
    facts.device = place ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_CPU;
    facts.device_index = place ? place->index() : 0;
    give(info, facts);
  });
}

gnnmg_status gnnmg_model_tensor_key(const gnnmg_model* model, int64_t index, const char** key,
                                    int32_t* trained) {
  return guard(outs(Out{key, "key"}, Out{trained, "trained"}), [&]() -> gnnmg_status {
    const auto m = read<Model>(model, "model");
    check_listed(index, "index");
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
                                       gnnmg_tensor** tensor) {
  return guard(outs(Out{tensor, "tensor"}), [&] {
    const auto m = read<Model>(model, "model");
    *tensor = export_torch(find_tensor(*m->get(), read_name(key, "key")), false).release();
  });
}

gnnmg_status gnnmg_model_set_tensor(gnnmg_model* model, const char* key,
                                    const gnnmg_tensor* values) {
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    const PlacedView placed = borrow_placed(m->context->devices, values, "values");
    const gnnmg::base::TensorView& view = placed.view;
    TorchScope scope(*m->context);
    const at::Tensor target = find_tensor(*m->get(), read_name(key, "key")).detach();
    const auto place = m->place();
    const at::Tensor source = torch_view(placed, torch_device(m->context->devices));
    if (source.scalar_type() != target.scalar_type() || source.sizes() != target.sizes())
      fail(Status::kInvalidArgument, "argument 'values' is ", gnnmg::base::dtype_name(view.dtype),
           " ", view.shape.to_string(), ", expected ",
           gnnmg::base::dtype_name(gnnmg::nn::dtype_of(target)), " ",
           gnnmg::base::Shape(
               std::span<const int64_t>(target.sizes().data(), static_cast<size_t>(target.dim())))
               .to_string(),
           " as '", key, "' is");
    m->pass.reset();
    work_at(place, [&] {
      target.copy_(source);
      if (place) place->synchronize();  // the values are read during the call
    });
  });
}

gnnmg_status gnnmg_model_set_trainable(gnnmg_model* model, const char* pattern, int32_t trainable) {
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    check_flag(trainable, "trainable");
    TorchScope scope(*m->context);
    m->set_trainable(read_name(pattern, "pattern"), trainable == 1);
  });
}

gnnmg_status gnnmg_model_export_gradient(const gnnmg_model* model, const char* key,
                                         gnnmg_tensor** gradient) {
  return guard(outs(Out{gradient, "gradient"}), [&] {
    const auto m = read<Model>(model, "model");
    const std::string_view name = read_name(key, "key");
    for (const gnnmg::nn::NamedTensor& item : m->get()->parameters())
      if (item.key == name) {
        if (!item.tensor.requires_grad())
          fail(
              Status::kNotFound, "'", name,
              "' is frozen, so it has no gradient; gnnmg_model_set_trainable() lets it be trained");
        *gradient = export_torch(item.tensor.grad(), false).release();
        return;
      }
    fail(Status::kNotFound, "the model has no parameter '", name, "'; its tensors are ",
         key_list(*m->get()));
  });
}

gnnmg_status gnnmg_model_export_parameters(const gnnmg_model* model, gnnmg_tensor** parameters) {
  return guard(outs(Out{parameters, "parameters"}), [&] {
    const auto m = read<Model>(model, "model");
    *parameters = export_torch(m->get()->flat_parameters(), false).release();
  });
}

gnnmg_status gnnmg_model_export_gradients(const gnnmg_model* model, gnnmg_tensor** gradients) {
  return guard(outs(Out{gradients, "gradients"}), [&] {
    const auto m = read<Model>(model, "model");
    *gradients = export_torch(m->get()->flat_gradients(), false).release();
  });
}

}  // extern "C"
