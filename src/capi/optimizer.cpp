#include "capi/optimizer.h"

#include <cmath>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/model_file.h"
#include "capi/train_settings.h"
#include "capi/trainer.h"

namespace gnnmg::capi {

Optimizer::Optimizer(std::shared_ptr<Model> model, const train::OptimizerConfig& config,
                     double clip_norm)
    : Object(kKind, model->context, model->queue),
      model_(std::move(model)),
      use_(*model_),
      optimizer_(train::Optimizer::create(*model_->get(), config)),
      clip_norm_(clip_norm) {}

Optimizer::Optimizer(std::shared_ptr<Trainer> trainer)
    : Object(kKind, trainer->context, trainer->queue),
      model_(trainer->model()),
      use_(*model_),
      trainer_(std::move(trainer)) {}

train::Optimizer& Optimizer::get() const {
  if (trainer_)
    fail(Status::kUnsupported,
         "the optimizer is that of a trainer and can only be saved and loaded; the trainer steps "
         "it, gnnmg_trainer_set_learning_rate() sets its rate, and gnnmg_epoch_info tells it");
  return *optimizer_;
}

Optimizer::~Optimizer() {
  if (const std::shared_ptr<DevicePlace> place = model_->place()) place->wait_to_free();
}

train::TorchFile optimizer_file(const char* settings, std::string_view path, FileUse use) {
  const FileForm form = file_form(settings, path, use);
  if (form.format == FileFormat::kSafetensors)
    fail(Status::kInvalidArgument,
         "model_file settings: format=safetensors, which has no place for numbers that are no "
         "tensors: states "
         "of optimizers are .pth files");
  return {{form.other_framework, form.torch_modules, form.loaded_names}, form.dict};
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_optimizer_create(gnnmg_model* model, const char* settings,
                                    gnnmg_optimizer** optimizer) {
  return guard(outs(Out{optimizer, "optimizer"}), [&] {
    const auto m = hold<Model>(model, "model");
    const OptimizerSettings read = read_optimizer(settings);
    TorchScope scope(*m->context);
    *optimizer = work_at(m->place(), [&] {
      return new_handle<gnnmg_optimizer>(
          make_object<Optimizer>(m.share(), read.config, read.clip_norm));
    });
  });
}

void gnnmg_optimizer_free(gnnmg_optimizer* optimizer) { free_handle(optimizer, Kind::kOptimizer); }

gnnmg_status gnnmg_optimizer_step(gnnmg_optimizer* optimizer) {
  return guard([&] {
    const auto o = hold<Optimizer>(optimizer, "optimizer");
    gnnmg::train::Optimizer& own = o->get();
    if (!o->model()->occupancy.try_hold()) fail_busy(*o->model(), "optimizer's model");
    const Hold<Model> held(o->model());
    TorchScope scope(*o->context, gnnmg::nn::Loops::kMany);
    gnnmg::nn::Model& model = *held->get();
    held->pass.reset();
    work_at(held->place(), [&] {
      if (o->clip_norm() > 0) own.clip(own.scale_gradients(1), o->clip_norm());
      own.step();
      model.zero_gradients();
      if (model.batch_statistics_width() > 0)
        model.fold_batch_statistics(model.take_batch_statistics());
    });
  });
}

gnnmg_status gnnmg_optimizer_set_learning_rate(gnnmg_optimizer* optimizer, double rate) {
  return guard([&] {
    const auto o = hold<Optimizer>(optimizer, "optimizer");
    if (!(rate >= 0) || std::isinf(rate))
      fail(Status::kInvalidArgument, "rate is ", rate, ", expected a number of at least 0");
    o->get().set_learning_rate(rate);
  });
}

gnnmg_status gnnmg_optimizer_learning_rate(const gnnmg_optimizer* optimizer, double* rate) {
  return guard(outs(Out{rate, "rate"}),
               [&] { *rate = read<Optimizer>(optimizer, "optimizer")->get().learning_rate(); });
}

gnnmg_status gnnmg_optimizer_save(const gnnmg_optimizer* optimizer, const char* path,
                                  const char* settings, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    check_may_wait();
    const auto o = read<Optimizer>(optimizer, "optimizer");
    const std::string file(read_name(path, "path"));
    const gnnmg::train::TorchFile form = optimizer_file(settings, file, FileUse::kSaveOptimizer);
    if (o->trainer())
      return run_at_rest(
          o->trainer(),
          call_key("save the optimizer", file, file_form(settings, file, FileUse::kSaveOptimizer)),
          timeout_ms, [=](gnnmg::train::Trainer& made) { made.save_optimizer(file, form); });
    TorchScope scope(*o->context);
    gnnmg::io::write_optimizer_pth(file, work_at(o->model()->place(), [&] {
                                     return gnnmg::train::torch_state_of(
                                         o->get(), *o->model()->get(), form.form);
                                   }));
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_optimizer_load(gnnmg_optimizer* optimizer, const char* path,
                                  const char* settings, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    check_may_wait();
    const auto o = hold<Optimizer>(optimizer, "optimizer");
    const std::string file(read_name(path, "path"));
    const gnnmg::train::TorchFile form = optimizer_file(settings, file, FileUse::kLoadOptimizer);
    if (o->trainer())
      return run_at_rest(
          o->trainer(),
          call_key("load the optimizer", file, file_form(settings, file, FileUse::kLoadOptimizer)),
          timeout_ms, [=](gnnmg::train::Trainer& made) { made.load_optimizer(file, form); });
    TorchScope scope(*o->context);
    work_at(o->model()->place(), [&] {
      o->get().load_state(gnnmg::train::read_torch_state(
          file, *o->model()->get(), o->get().config(), form, &o->context->log));
    });
    return GNNMG_OK;
  });
}

}  // extern "C"
