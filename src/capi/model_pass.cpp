// Passes of models: forward, backward, exact metrics, results for all nodes.
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/metrics.h"
#include "capi/model.h"
#include "capi/tensor.h"
#include "capi/torch_tensor.h"
#include "graph/homogeneous.h"
#include "loader/device_slot.h"
#include "nn/loss.h"
#include "nn/model/graph_facts.h"
#include "nn/torch/parallel.h"
#include "nn/torch/tensor.h"
#include "train/job/job.h"
#include "train/ranks/device.h"
#include "train/trainer.h"

namespace gnnmg::capi {
namespace {

static_assert(static_cast<int32_t>(nn::Loss::kAuto) == GNNMG_LOSS_AUTO &&
              static_cast<int32_t>(nn::Loss::kCrossEntropy) == GNNMG_LOSS_CROSS_ENTROPY &&
              static_cast<int32_t>(nn::Loss::kBinaryCrossEntropy) ==
                  GNNMG_LOSS_BINARY_CROSS_ENTROPY &&
              static_cast<int32_t>(nn::Loss::kMeanSquaredError) == GNNMG_LOSS_MEAN_SQUARED_ERROR &&
              static_cast<int32_t>(nn::Loss::kMeanAbsoluteError) ==
                  GNNMG_LOSS_MEAN_ABSOLUTE_ERROR &&
              static_cast<int32_t>(nn::Loss::kHuber) == GNNMG_LOSS_HUBER &&
              static_cast<int32_t>(nn::Loss::kFocal) == GNNMG_LOSS_FOCAL);

void check_features(const nn::ModelConfig& config, const BatchFeatures& batch) {
  if (!batch.there)
    fail(Status::kNotFound,
         "the mini-batch has no features; its loader or sampler had no data set "
         "with features, or did not gather");
  if (batch.cols != config.input_dim)
    fail(Status::kInvalidArgument, "the mini-batch has ", batch.cols,
         " features, the model expects ", config.input_dim);
  if (!batch.sparse && !base::is_floating(batch.dtype) && config.node_vocabulary.empty())
    fail(Status::kUnsupported, "the features are ", base::dtype_name(batch.dtype),
         "; models take floating-point numbers");
}

// A GPU's ids are not looked at one by one, and kernels must meet none beyond a model's weights.
void check_ids(const nn::ModelConfig& config, const loader::DeviceArrays& there) {
  if (there.num_ids > config.input_dim)
    fail(Status::kRange, "the mini-batch is of a graph of ", there.num_ids,
         " nodes, and the model has weights for those from 0 to ", config.input_dim - 1);
}

// Samples that the host made, of a custom sampler, may have edges that it gave no ids: a GPU must
// not look them up.
void check_edge_ids(const nn::ModelConfig& config, const loader::Batch& batch) {
  if (!batch.device || !nn::edge_needs(config).any()) return;
  for (const sample::BlockStore& store : batch.sample.stores)
    if (std::ranges::any_of(store.edge_ids.span(), [](int64_t id) { return id < 0; }))
      fail(Status::kInvalidArgument,
           "the model reads what edges carry, and the mini-batch has edges of unknown ids");
}

void check_batch(const nn::Model& model, const DevicePlace* place, const Batch& handle,
                 bool training) {
  const loader::Batch& batch = *handle.get();
  const nn::ModelConfig& config = model.config();
  if (batch.empty()) return;
  const DevicePlace* const there = handle.place().get();
  if ((place ? place->index() : -1) != (there ? there->index() : -1))
    fail(Status::kInvalidArgument, "the model lies ", place_name(place), " and the mini-batch ",
         place_name(there),
         "; move the model with gnnmg_model_set_device(), or take mini-batches of a loader whose "
         "config.device and config.device_index are the model's");
  if (config.reads_features())
    check_features(config, features_of(batch));
  else if (there)
    check_ids(config, *batch.device);
  check_edge_ids(config, batch);
  if (blocks_of(batch).size() != static_cast<size_t>(config.num_layers))
    fail(Status::kInvalidArgument, "the mini-batch has ", blocks_of(batch).size(),
         " layers, the model ", config.num_layers);
  if (config.readout != nn::Readout::kNone && batch.sample.graph_ptr.size() == 0)
    fail(Status::kInvalidArgument,
         "the model has a readout, which takes mini-batches of graphs; the seeds of this one are "
         "nodes");
  if (training && !handle.has_transpose())
    fail(Status::kUnsupported,
         "the mini-batch was sampled without `transpose`, which backward passes need");
}

// The arguments of a mini-batch in main memory.
nn::ForwardArgs args_of(const loader::Batch& batch) {
  nn::ForwardArgs args;
  if (batch.has_features && batch.sparse)
    args.input.sparse = &batch.sparse_features;
  else if (batch.has_features)
    args.input.dense = nn::view_of({const_cast<uint8_t*>(batch.features.data()),
                                    batch.feature_dtype,
                                    {batch.sample.num_nodes(), batch.feature_cols}});
  args.blocks = batch.sample.blocks;
  args.node_ids = {batch.sample.node_ids.data(), static_cast<size_t>(batch.sample.num_nodes())};
  args.graph_ptr = batch.sample.graph_ptr.span();
  return args;
}

// `sparse` is written for a mini-batch on a GPU, and stays until the pass is over.
at::Tensor forward(nn::Model& model, const Batch& handle, bool training, nn::SparseView& sparse) {
  const loader::Batch& batch = *handle.get();
  if (batch.empty())
    return at::zeros({0, model.config().output_width()}, model.flat_parameters().options());
  const nn::Device* const device = model.device();
  if (device) loader::precede(*batch.device, device->queue);
  nn::ForwardArgs args = device ? train::made_args_on(batch, *device, sparse) : args_of(batch);
  if (handle.dataset()) args.graph = handle.dataset()->graph;
  args.degrees = batch.sample.degrees.span();
  args.weight_sums = batch.sample.weight_sums.span();
  const std::vector<nn::EdgeValues> edges = nn::told_edges(model.config(), batch.sample, device);
  args.edges = edges;
  args.training = training;
  args.dropout = {handle.seed(), batch.epoch, static_cast<uint64_t>(batch.number)};
  at::Tensor logits = model.forward(args);
  if (device) loader::follow(*batch.device, device->queue);
  return logits;
}

struct PassResult {
  at::Tensor result;
  Export logits;  // a copy, if it is wanted
};

PassResult run_pass(const Model& model, const Batch& batch, bool training, nn::SparseView& sparse,
                    bool wanted) {
  check_same_context(model, batch);
  const auto place = model.place();
  check_batch(*model, place.get(), batch, training);
  TorchScope scope(*model.context, nn::Loops::kMany);
  PassResult rows;
  rows.result = work_at(place, [&] {
    at::Tensor result = forward(*model, batch, training, sparse);
    if (wanted) rows.logits = export_torch(result.detach().clone(), false);
    return result;
  });
  return rows;
}

// Once a model: every epoch may have such a mini-batch.
void tell_of_lone_row(Model& model) {
  if (!model.get()->take_lone_row() || std::exchange(model.told_of_lone_row, true)) return;
  model.context->log.add(
      base::LogLevel::kWarning,
      "in a training pass a batch norm got one row, which has no variance. It took the running "
      "statistics and left them as they are, as it does with every such row from here on");
}

// The backward pass reads the mini-batch, too.
void backward(nn::Model& model, const Model::Pass& pass, const at::Tensor& result,
              const at::Tensor& gradient) {
  if (!result.requires_grad())
    fail(Status::kInvalidArgument,
         "every parameter of the model is frozen, so there is no gradient; "
         "gnnmg_model_set_trainable() lets them be trained");
  const gnnmg::nn::TorchThreads threads(gnnmg::nn::TorchThreads::take_largest());
  result.backward(gradient);
  if (model.device()) loader::follow(*pass.batch->device, model.device()->queue);
}

Model::Pass take_pass(Model& model) {
  if (!model.pass)
    fail(Status::kNotFound,
         "there was no gnnmg_model_forward() since the last backward pass or change of the model's "
         "parameters");
  Model::Pass pass = std::move(*model.pass);
  model.pass.reset();
  return pass;
}

void check_width(const nn::Model& model, const Dataset& dataset) {
  graph::expect_homogeneous(*dataset.data()->graph, "models");
  const int64_t nodes = dataset.data()->graph->num_nodes(dataset.data()->node_type);
  if (!model.config().reads_features()) {
    if (nodes != model.config().input_dim)
      fail(Status::kInvalidArgument, "the data set has ", nodes,
           " nodes, the model has weights for ", model.config().input_dim);
    return;
  }
  dataset.need_features();
  if (dataset.data()->feature_dim() != model.config().input_dim)
    fail(Status::kInvalidArgument, "the data set has ", dataset.data()->feature_dim(),
         " features, the model expects ", model.config().input_dim);
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_model_infer(const gnnmg_model* model, const gnnmg_batch* batch,
                               gnnmg_tensor** logits) {
  return guard(outs(Out{logits, "logits"}), [&] {
    const auto m = read<Model>(model, "model");
    const auto b = read<Batch>(batch, "batch");
    gnnmg::nn::SparseView sparse;
    *logits = run_pass(*m, *b, /*training=*/false, sparse, /*wanted=*/true).logits.release();
  });
}

gnnmg_status gnnmg_model_forward(gnnmg_model* model, const gnnmg_batch* batch,
                                 gnnmg_tensor** logits) {
  if (logits != nullptr) *logits = nullptr;
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    const auto b = read<Batch>(batch, "batch");
    auto sparse = std::make_unique<gnnmg::nn::SparseView>();
    PassResult rows = run_pass(*m, *b, /*training=*/true, *sparse, logits != nullptr);
    tell_of_lone_row(*m);
    m->pass = Model::Pass{rows.result, b->get(), b->dataset(), std::move(sparse)};
    if (logits != nullptr) *logits = rows.logits.release();
  });
}

gnnmg_status gnnmg_model_backward(gnnmg_model* model, gnnmg_loss loss, double* value) {
  if (value != nullptr) *value = 0;
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    GNNMG_CHECK_CONSTANT(loss, GNNMG_LOSS_AUTO, GNNMG_LOSS_FOCAL, "loss");
    if (m->pass && (!m->pass->dataset || m->pass->dataset->task == gnnmg::data::Task::kNone))
      fail(Status::kNotFound, "the mini-batch has no labels");
    if (m->pass && m->pass->logits.size(0) != static_cast<int64_t>(m->pass->batch->seeds.size()))
      fail(Status::kInvalidArgument, "the model gave ", m->pass->logits.size(0),
           " rows for a mini-batch of ", m->pass->batch->seeds.size(),
           " graphs; a label is that of a graph, and it takes a model with a readout to have a row "
           "for each");
    const Model::Pass pass = take_pass(*m);
    if (pass.batch->empty()) return;
    TorchScope scope(*m->context, gnnmg::nn::Loops::kMany);
    const gnnmg::data::Dataset& data = *pass.dataset;
    const gnnmg::nn::LossRule kind = loss == GNNMG_LOSS_AUTO ? gnnmg::nn::loss_for(data.task)
                                                             : static_cast<gnnmg::nn::Loss>(loss);
    const auto targets_of = [&](const std::vector<int64_t>& ids) {
      return gnnmg::nn::gather_targets(data, ids, pass.logits.scalar_type());
    };
    work_at(m->place(), [&] {
      const gnnmg::nn::LossSum sum =
          gnnmg::nn::loss_sum(kind, pass.logits, targets_of(pass.batch->seeds));
      // The weight of all ranks' seeds of the step; those without a label count for nothing.
      const double weight = gnnmg::nn::label_weight(targets_of(pass.batch->step_ids));
      if (weight == 0) return;
      const at::Tensor share = sum.sum.div(weight);
      backward(*m->get(), pass, share, {});
      if (value != nullptr) *value = share.item<double>();
    });
  });
}

gnnmg_status gnnmg_model_backward_from(gnnmg_model* model, const gnnmg_tensor* gradient) {
  return guard([&] {
    const auto m = hold<Model>(model, "model");
    const Devices& devices = m->context->devices;
    const PlacedView placed = borrow_placed(devices, gradient, "gradient");
    const gnnmg::base::TensorView& view = placed.view;
    TorchScope scope(*m->context, gnnmg::nn::Loops::kMany);
    if (m->pass) {
      const at::Tensor& logits = m->pass->logits;
      const gnnmg::base::Shape expected{logits.size(0), logits.size(1)};
      if (gnnmg::nn::scalar_type(view.dtype) != logits.scalar_type() || view.shape != expected)
        fail(Status::kInvalidArgument, "argument 'gradient' is ",
             gnnmg::base::dtype_name(view.dtype), " ", view.shape.to_string(), ", expected ",
             gnnmg::base::dtype_name(gnnmg::nn::dtype_of(logits)), " ", expected.to_string());
    }
    const Model::Pass pass = take_pass(*m);
    if (pass.batch->empty()) return;
    const auto place = m->place();
    work_at(place, [&] {
      const at::Tensor given = torch_view(placed, torch_device(devices));
      const at::Tensor own = given.to(pass.logits.device(), given.scalar_type(),
                                      /*non_blocking=*/false, /*copy=*/true);
      if (place) place->synchronize();  // the call reads it
      backward(*m->get(), pass, pass.logits, own);
    });
  });
}

gnnmg_status gnnmg_model_evaluate(const gnnmg_model* model, const gnnmg_dataset* dataset,
                                  gnnmg_part part, int32_t top_k, gnnmg_metrics* metrics,
                                  gnnmg_tensor** confusion, int64_t timeout_ms) {
  if (confusion != nullptr) *confusion = nullptr;
  return guard(outs(Out{metrics, "metrics"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto m = find<Model>(model, "model");
    const auto d = read<Dataset>(dataset, "dataset");
    check_same_context(*m, *d);
    check_width(*m->get(), *d);
    d->need_labels();
    check_least(top_k, 0, "top_k");
    const gnnmg::data::Task task = d->data()->task;
    const int64_t classes = d->data()->num_classes;
    if (confusion != nullptr) check_confusion(task, classes);
    const gnnmg::nn::MetricChoice choice{
        .top_k = top_k == 0 ? gnnmg::nn::MetricChoice{}.top_k : top_k,
        .confusion = confusion != nullptr};
    const std::span<const int64_t> ids = d->part(part);
    if (ids.empty())
      fail(Status::kInvalidArgument, "split ", d->split().name, " ", d->split().index, ": its ",
           gnnmg::train::part_name(static_cast<gnnmg::data::SplitPart>(part)), " part is empty");
    const std::string key = gnnmg::base::text(
        "evaluate ", reinterpret_cast<uintptr_t>(dataset), " ", part, " ", d->split().name, " ",
        d->split().index, " ", choice.top_k, " ", choice.confusion);
    const Outcome outcome = run_read(m, "model", key, timeout_ms, [&] {
      return start_torch_job(
          m->context, [context = m->context.get(), made = m->get(), place = m->place(),
                       data = d->data(), ids, choice, cancel = m->context->work_token()] {
            return work_at(place, [&] {
              return std::make_shared<gnnmg::nn::Metrics>(gnnmg::train::evaluate_model(
                  *made, *data, ids, gnnmg::nn::loss_for(data->task), context->pool, cancel,
                  context->options().evaluation_rows, choice));
            });
          });
    });
    if (outcome.pending) return GNNMG_PENDING;
    const auto& found = outcome.as<gnnmg::nn::Metrics>();
    if (confusion != nullptr) *confusion = confusion_of(found, task, classes).release();
    give(metrics, metrics_of(found, task));
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_model_embed(const gnnmg_model* model, const gnnmg_dataset* dataset,
                               int32_t node_type, const char* path, gnnmg_tensor** rows,
                               int64_t timeout_ms) {
  const RowsPlace target(path, rows);
  return guard(target.check(), [&]() -> gnnmg_status {
    check_only_node_type(node_type);
    check_timeout(timeout_ms);
    const auto m = find<Model>(model, "model");
    const auto d = read<Dataset>(dataset, "dataset");
    check_same_context(*m, *d);
    check_width(*m->get(), *d);
    const std::string file = target.file();
    const std::string key =
        gnnmg::base::text("embed ", reinterpret_cast<uintptr_t>(dataset), " ", file);
    const Outcome outcome = run_read(m, "model", key, timeout_ms, [&] {
      return start_torch_job(m->context,
                             [made = m->get(), place = m->place(), data = d->data(), file,
                              storage = m->context->options().evaluation_rows,
                              cancel = m->context->work_token()]() -> Job::Result {
                               return work_at(place, [&]() -> Job::Result {
                                 if (file.empty())
                                   return std::make_shared<gnnmg::base::Tensor>(
                                       gnnmg::train::embed_model(*made, *data, cancel, storage));
                                 gnnmg::train::embed_model_to_file(*made, *data, file, cancel,
                                                                   storage);
                                 return nullptr;
                               });
                             });
    });
    if (outcome.pending) return GNNMG_PENDING;
    if (file.empty()) *rows = export_tensor(outcome.as<gnnmg::base::Tensor>(), false).release();
    return GNNMG_OK;
  });
}

}  // extern "C"
