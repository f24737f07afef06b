#include "capi/trainer.h"

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/callback.h"
#include "capi/comm.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/device_placement.h"
#include "capi/metrics.h"
#include "capi/optimizer.h"
#include "capi/sampler.h"
#include "capi/tensor.h"
#include "capi/trainer_devices.h"

namespace gnnmg::capi {

Trainer::Trainer(std::shared_ptr<Model> model, std::shared_ptr<Comm> comm,
                 std::unique_ptr<train::Trainer> made, data::Task task)
    : Object(kKind, model->context, model->queue),
      model_(std::move(model)),
      use_(*model_),
      comm_(std::move(comm)),
      task_(task),
      trainer_(std::move(made)) {
  if (comm_) comm_->begin_use();
}

Trainer::~Trainer() {
  cancel_work();
  trainer_.reset();  // joins the ranks, which work on the model
  end_work();
}

void Trainer::cancel_work() noexcept {
  freed_ = true;
  trainer_->cancel();
  if (comm_ && !left_.exchange(true)) comm_->end_use();
}

void Trainer::begin_work() {
  const std::lock_guard lock(work_mutex_);
  if (!model_->occupancy.try_hold()) fail_busy(Kind::kModel, "trainer's model");
  if (comm_ && !comm_->try_begin_training()) {
    model_->occupancy.end_hold();
    fail(Status::kBusy, "another trainer of this communicator is at work: they take turns");
  }
  at_work_ = true;
  model_->pass.reset();
}

void Trainer::end_work() noexcept {
  const std::lock_guard lock(work_mutex_);
  if (!std::exchange(at_work_, false)) return;
  if (comm_) comm_->end_training();
  model_->occupancy.end_hold();
}

std::shared_ptr<nn::Model> Trainer::snapshot() {
  const std::lock_guard lock(work_mutex_);
  Read<Model> share;
  if (!at_work_) {
    if (!model_->occupancy.try_read()) fail_busy(Kind::kModel, "trainer's model");
    share = Read<Model>(model_);
  }
  return trainer_->snapshot();
}

void Trainer::check_not_running() const {
  if (running)
    fail(Status::kBusy,
         "the trainer was started; gnnmg_trainer_wait() has to report its end first");
}

namespace {

static_assert(static_cast<int32_t>(train::ScheduleKind::kConstant) == GNNMG_SCHEDULE_CONSTANT &&
              static_cast<int32_t>(train::ScheduleKind::kCosine) == GNNMG_SCHEDULE_COSINE &&
              static_cast<int32_t>(train::ScheduleKind::kStep) == GNNMG_SCHEDULE_STEP &&
              static_cast<int32_t>(train::ScheduleKind::kPlateau) == GNNMG_SCHEDULE_PLATEAU);
static_assert(static_cast<int32_t>(train::Metric::kAccuracy) == GNNMG_METRIC_ACCURACY &&
              static_cast<int32_t>(train::Metric::kLoss) == GNNMG_METRIC_LOSS &&
              static_cast<int32_t>(train::Metric::kRocAuc) == GNNMG_METRIC_ROC_AUC &&
              static_cast<int32_t>(train::Metric::kF1Macro) == GNNMG_METRIC_F1_MACRO &&
              static_cast<int32_t>(train::Metric::kF1Micro) == GNNMG_METRIC_F1_MICRO &&
              static_cast<int32_t>(train::Metric::kAveragePrecision) ==
                  GNNMG_METRIC_AVERAGE_PRECISION &&
              static_cast<int32_t>(train::Metric::kRmse) == GNNMG_METRIC_RMSE &&
              static_cast<int32_t>(train::Metric::kMae) == GNNMG_METRIC_MAE);
static_assert(static_cast<int32_t>(train::EvaluationMode::kFull) == GNNMG_EVALUATION_FULL &&
              static_cast<int32_t>(train::EvaluationMode::kSampled) == GNNMG_EVALUATION_SAMPLED);
static_assert(static_cast<int32_t>(train::LossAverage::kExact) == GNNMG_LOSS_AVERAGE_EXACT &&
              static_cast<int32_t>(train::LossAverage::kRanks) == GNNMG_LOSS_AVERAGE_RANKS);
static_assert(static_cast<int32_t>(train::Precision::kFull) == GNNMG_PRECISION_FLOAT32 &&
              static_cast<int32_t>(train::Precision::kTf32) == GNNMG_PRECISION_TF32 &&
              static_cast<int32_t>(train::Precision::kBf16) == GNNMG_PRECISION_BF16);
static_assert(static_cast<int32_t>(train::TrainerState::kIdle) == GNNMG_TRAINER_IDLE &&
              static_cast<int32_t>(train::TrainerState::kRunning) == GNNMG_TRAINER_RUNNING &&
              static_cast<int32_t>(train::TrainerState::kStopping) == GNNMG_TRAINER_STOPPING &&
              static_cast<int32_t>(train::TrainerState::kFinished) == GNNMG_TRAINER_FINISHED &&
              static_cast<int32_t>(train::TrainerState::kFailed) == GNNMG_TRAINER_FAILED);

const gnnmg_trainer_config kTrainerDefaults = [] {
  const train::TrainerConfig d;
  gnnmg_trainer_config config{};
  config.struct_size = sizeof config;
  config.num_epochs = d.num_epochs;
  config.batch_size = d.batch_size;
  config.batch_nodes = d.batch_nodes;
  config.batches_per_step = d.batches_per_step;
  config.seed = d.seed;
  config.partition = static_cast<int32_t>(d.partition);
  config.loss_average = static_cast<int32_t>(d.loss_average);
  config.shuffle = d.shuffle;
  config.drop_last = d.drop_last;
  config.loss = static_cast<int32_t>(d.loss);
  config.optimizer = static_cast<int32_t>(d.optimizer.kind);
  optimizer_defaults(config);
  config.clip_norm = d.clip_norm;
  config.schedule = static_cast<int32_t>(d.schedule.kind);
  config.evaluation = static_cast<int32_t>(d.evaluation);
  config.warmup_epochs = d.schedule.warmup_epochs;
  config.schedule_minimum = d.schedule.minimum_factor;
  config.schedule_factor = d.schedule.factor;
  config.schedule_step_epochs = d.schedule.step_epochs;
  config.schedule_patience = d.schedule.patience;
  config.evaluate_every = d.evaluate_every;
  config.eval_batch_size = d.eval_batch_size;
  config.best_by = static_cast<int32_t>(d.best_by);
  config.keep_best = d.keep_best;
  config.early_stop_patience = d.early_stop_patience;
  config.loader_threads = d.loader_threads;
  config.prefetch = d.prefetch;
  config.torch_threads = d.torch_threads;
  config.deadline_ms = d.deadline_ms;
  config.stall_limit_ms = d.stall_limit_ms;
  config.deterministic = d.deterministic;
  config.sync_batch_norm = d.sync_batch_norm;
  return config;
}();

train::TrainerConfig trainer_config(const gnnmg_trainer_config& in) {
  check_choice(in.num_ranks, 0, 1024, "config.num_ranks");
  GNNMG_CHECK_CONSTANT(in.partition, GNNMG_PARTITION_GLOBAL, GNNMG_PARTITION_PARTS,
                       "config.partition");
  GNNMG_CHECK_CONSTANT(in.loss_average, GNNMG_LOSS_AVERAGE_EXACT, GNNMG_LOSS_AVERAGE_RANKS,
                       "config.loss_average");
  check_flag(in.shuffle, "config.shuffle");
  check_flag(in.drop_last, "config.drop_last");
  GNNMG_CHECK_CONSTANT(in.loss, GNNMG_LOSS_AUTO, GNNMG_LOSS_MEAN_SQUARED_ERROR, "config.loss");
  GNNMG_CHECK_CONSTANT(in.optimizer, GNNMG_OPTIMIZER_ADAM, GNNMG_OPTIMIZER_SGD, "config.optimizer");
  check_flag(in.amsgrad, "config.amsgrad");
  check_flag(in.nesterov, "config.nesterov");
  GNNMG_CHECK_CONSTANT(in.schedule, GNNMG_SCHEDULE_CONSTANT, GNNMG_SCHEDULE_PLATEAU,
                       "config.schedule");
  GNNMG_CHECK_CONSTANT(in.evaluation, GNNMG_EVALUATION_FULL, GNNMG_EVALUATION_SAMPLED,
                       "config.evaluation");
  GNNMG_CHECK_CONSTANT(in.best_by, GNNMG_METRIC_ACCURACY, GNNMG_METRIC_MAE, "config.best_by");
  check_flag(in.keep_best, "config.keep_best");
  check_choice(in.loader_threads, 0, 1024, "config.loader_threads");
  check_choice(in.prefetch, 0, 4096, "config.prefetch");
  check_choice(in.torch_threads, 0, 4096, "config.torch_threads");
  check_flag(in.deterministic, "config.deterministic");
  check_flag(in.sync_batch_norm, "config.sync_batch_norm");
  train::TrainerConfig config;
  config.num_epochs = in.num_epochs;
  config.batch_size = in.batch_size;
  config.batch_nodes = in.batch_nodes;
  config.batches_per_step = in.batches_per_step;
  config.partition = static_cast<loader::Partition>(in.partition);
  config.loss_average = static_cast<train::LossAverage>(in.loss_average);
  config.shuffle = in.shuffle;
  config.drop_last = in.drop_last;
  config.seed = in.seed;
  config.optimizer = optimizer_config(in, in.optimizer);
  config.schedule.kind = static_cast<train::ScheduleKind>(in.schedule);
  config.schedule.warmup_epochs = in.warmup_epochs;
  config.schedule.minimum_factor = in.schedule_minimum;
  config.schedule.step_epochs = in.schedule_step_epochs;
  config.schedule.factor = in.schedule_factor;
  config.schedule.patience = in.schedule_patience;
  config.loss = static_cast<nn::Loss>(in.loss);
  config.clip_norm = in.clip_norm;
  config.loader_threads = in.loader_threads;
  config.prefetch = in.prefetch;
  config.torch_threads = in.torch_threads;
  config.evaluate_every = in.evaluate_every;
  config.evaluation = static_cast<train::EvaluationMode>(in.evaluation);
  config.eval_batch_size = in.eval_batch_size;
  config.best_by = static_cast<train::Metric>(in.best_by);
  config.keep_best = in.keep_best;
  config.early_stop_patience = in.early_stop_patience;
  config.deadline_ms = in.deadline_ms;
  config.stall_limit_ms = in.stall_limit_ms;
  GNNMG_CHECK_CONSTANT(in.precision, GNNMG_PRECISION_FLOAT32, GNNMG_PRECISION_BF16,
                       "config.precision");
  config.precision = static_cast<train::Precision>(in.precision);
  config.deterministic = in.deterministic;
  config.sync_batch_norm = in.sync_batch_norm;
  config.placement = device_placement(in);
  GNNMG_CHECK_CONSTANT(in.capture, GNNMG_CAPTURE_AUTO, GNNMG_CAPTURE_UNPADDED, "config.capture");
  config.capture = static_cast<train::Capture>(in.capture);
  return config;
}

// Where the time of an epoch went, of one that is over or of the one that runs.
template <typename From, typename To>
void copy_seconds(const From& from, To& to) {
  to.seconds = from.seconds;
  to.wait_seconds = from.wait_seconds;
  to.sample_seconds = from.sample_seconds;
  to.gather_seconds = from.gather_seconds;
  to.compute_seconds = from.compute_seconds;
  to.reduce_seconds = from.reduce_seconds;
  to.optimizer_seconds = from.optimizer_seconds;
  to.peer_wait_seconds = from.peer_wait_seconds;
}

gnnmg_epoch_info epoch_info(const train::EpochReport& report) {
  gnnmg_epoch_info info{};
  info.struct_size = sizeof info;
  info.evaluated = report.evaluated;
  info.epoch = report.epoch;
  info.num_epochs = report.num_epochs;
  info.num_steps = report.steps;
  info.train_loss = report.train_loss;
  info.train_accuracy = report.train_accuracy;
  info.learning_rate = report.learning_rate;
  if (report.evaluated) {
    info.validation_count = report.validation.count;
    info.validation_correct = report.validation.correct;
    info.validation_loss = report.validation.loss;
    info.validation_accuracy = report.validation.accuracy;
    info.validation_f1_micro = report.validation.f1_micro;
    info.validation_f1_macro = report.validation.f1_macro;
    info.validation_roc_auc = report.validation.roc_auc;
    info.validation_average_precision = report.validation.average_precision;
    info.validation_rmse = report.validation.rmse;
    info.validation_mae = report.validation.mae;
  }
  copy_seconds(report, info);
  info.evaluation_seconds = report.evaluation_seconds;
  info.seeds_per_second = report.seeds_per_second;
  info.mean_busy_seconds = report.mean_busy_seconds;
  info.most_busy_seconds = report.most_busy_seconds;
  info.slowest_rank = report.slowest_rank;
  info.best = report.best;
  return info;
}

// Runs on a thread of the host's.
train::EpochFunction epoch_function(gnnmg_epoch_fn function, std::shared_ptr<UserData> user) {
  if (function == nullptr) return {};
  return [function, user = std::move(user)](const train::EpochReport& report) {
    const gnnmg_epoch_info info = epoch_info(report);
    try {
      return function(&info, user->get());
    } catch (const base::ThreadEnd&) {
      throw;
    } catch (...) {
      fail(Status::kCallback, "the epoch callback threw an exception after epoch ", report.epoch);
    }
  };
}

// With a hold on the trainer.
void start_training(Trainer& trainer, gnnmg_epoch_fn on_epoch, Registration& registration) {
  trainer.check_not_running();
  trainer.begin_work();
  try {
    std::shared_ptr<UserData> user = registration.take(trainer.queue);
    trainer.get().set_epoch_function(epoch_function(on_epoch, user));
    trainer.user = std::move(user);
    trainer.get().start();
    trainer.running = true;
    // Freed since this call found the handle: what ended its work then came before the work.
    if (trainer.freed()) trainer.get().cancel();
  } catch (...) {
    trainer.end_training();
    throw;
  }
}

// With a hold on the trainer, which is running.
gnnmg_status wait_for_training(Trainer& trainer, int64_t timeout_ms) {
  const base::HostQueue::Entry entry(*trainer.queue);
  bool ended = true;
  try {
    ended = trainer.get().wait(base::Deadline::after_ms(timeout_ms));
  } catch (const base::ThreadEnd&) {  // the ranks are at work still: another thread may wait
    throw;
  } catch (...) {
    trainer.end_training();
    throw;
  }
  if (!ended) return GNNMG_PENDING;
  trainer.end_training();
  return GNNMG_OK;
}

// Work of a call that may answer GNNMG_PENDING: `work` yields true when it has ended. The model is
// held from the first such call to the last.
gnnmg_status work_in_slices(Resumed<Trainer>& trainer, const std::function<bool()>& work) {
  if (!trainer.continued()) {
    trainer->check_not_running();
    trainer->begin_work();
  }
  const base::HostQueue::Entry entry(*trainer->queue);
  bool ended = true;
  try {
    ended = work();
  } catch (const base::ThreadEnd&) {  // as if it had answered GNNMG_PENDING
    trainer.suspend();
    throw;
  } catch (...) {
    trainer->end_work();
    throw;
  }
  if (!ended) return trainer.suspend();
  trainer->end_work();
  return GNNMG_OK;
}

}  // namespace

void Trainer::end_training() noexcept {
  running = false;
  try {
    trainer_->set_epoch_function({});
  } catch (...) {  // the next start replaces it
  }
  user.reset();
  end_work();
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_trainer_config_init(gnnmg_trainer_config* config, size_t struct_size) {
  return init_config(config, struct_size, kTrainerDefaults);
}

gnnmg_status gnnmg_trainer_create(gnnmg_model* model, const gnnmg_dataset* dataset,
                                  const gnnmg_sampler* sampler, gnnmg_comm* comm,
                                  const gnnmg_trainer_config* config, gnnmg_trainer** trainer) {
  return guard(outs(Out{trainer, "trainer"}), [&] {
    const auto m = hold<Model>(model, "model");
    const auto d = read<Dataset>(dataset, "dataset");
    const auto s = read<Sampler>(sampler, "sampler");
    std::shared_ptr<Comm> job;
    if (comm != nullptr) {
      job = find<Comm>(comm, "comm");
      if (job->processes() == nullptr)
        fail(Status::kUnsupported,
             "argument 'comm' is a communicator among threads, which is for loops of one's own; a "
             "trainer makes that of its ranks itself: pass NULL");
      check_same_context(*m, *job);
    }
    check_same_context(*m, *d);
    check_fit(*s, *d);
    if (s->edges().outgoing)
      fail(Status::kUnsupported,
           "the sampler follows outgoing edges, and a trainer evaluates along incoming ones; turn "
           "the graph round with GNNMG_TRANSFORM_REVERSE_EDGES instead");
    if (m->place())
      fail(Status::kUnsupported, "the model lies on GPU ", m->place()->index(),
           ", and a trainer makes a replica of one in main memory on each GPU that it takes; bring "
           "it back with gnnmg_model_set_device() and GNNMG_DEVICE_CPU first");
    const gnnmg_trainer_config in = read_config(config, kTrainerDefaults);
    gnnmg::train::TrainerConfig settings = trainer_config(in);
    DeviceChoice choice =
        job ? choose_devices(in, m->context->devices, job->devices, job->processes()->process())
            : choose_devices(in, m->context->devices, {}, 0);
    settings.num_ranks = choice.num_ranks;
    settings.devices = std::move(choice.devices);
    settings.check();
    if ((*m).get()->config().reads_features()) d->need_features();
    d->need_labels();
    if (!s->has_transpose())
      fail(Status::kUnsupported, "the sampler was made without `transpose`, which training needs");
    settings.split = d->split().name;
    settings.split_index = d->split().index;
    TorchScope scope(*m->context);
    const std::shared_ptr<Context>& c = m->context;
    gnnmg::train::Environment environment{*c->queue, c->log, c->pool};
    if (!settings.devices.empty()) environment.devices = c->devices.table();
    environment.stay_beside_devices = c->options().gpu_affinity;
    environment.keeps = c;
    environment.rows = c->options().evaluation_rows;
    if (job) {
      environment.processes = job->processes();
      environment.meet_timeout_ms = job->join_ms();
    }
    const auto store = d->features();
    auto sampler = gnnmg::nn::training_sampler(*(*m).get(), s->get(), store && store->sparse());
    auto made = gnnmg::train::Trainer::create((*m).get(), d->data(), std::move(sampler), settings,
                                              environment);
    m.share()->learn(gnnmg::nn::facts_of(*d->data()));
    if (!choice.note.empty()) c->log.add(gnnmg::base::LogLevel::kInfo, std::move(choice.note));
    *trainer = new_handle<gnnmg_trainer>(
        make_object<Trainer>(m.share(), std::move(job), std::move(made), d->data()->task));
  });
}

void gnnmg_trainer_free(gnnmg_trainer* trainer) { free_handle(trainer, Kind::kTrainer); }

gnnmg_status gnnmg_trainer_set_record(gnnmg_trainer* trainer, gnnmg_record record,
                                      const char* path) {
  return guard([&] {
    const auto t = hold<Trainer>(trainer, "trainer");
    t->check_not_running();
    GNNMG_CHECK_CONSTANT(record, GNNMG_RECORD_JSON_LINES, GNNMG_RECORD_TENSORBOARD, "record");
    const std::string where(path == nullptr ? std::string_view() : read_name(path, "path"));
    (record == GNNMG_RECORD_JSON_LINES ? t->json_lines : t->tensorboard) = where;
    t->get().set_records(t->json_lines, t->tensorboard);
  });
}

gnnmg_status gnnmg_trainer_start(gnnmg_trainer* trainer, gnnmg_epoch_fn on_epoch, void* user_data,
                                 gnnmg_release_fn release) {
  return guard_registration({}, user_data, release, [&](Registration& registration) {
    const auto t = hold<Trainer>(trainer, "trainer");
    start_training(*t, on_epoch, registration);
  });
}

gnnmg_status gnnmg_trainer_wait(gnnmg_trainer* trainer, int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    check_may_wait();
    const auto t = hold<Trainer>(trainer, "trainer");
    if (!t->running)
      fail(Status::kInvalidArgument, "the trainer was not started, or its end was reported before");
    return wait_for_training(*t, timeout_ms);
  });
}

gnnmg_status gnnmg_trainer_run(gnnmg_trainer* trainer, gnnmg_epoch_fn on_epoch, void* user_data,
                               gnnmg_release_fn release) {
  return guard_registration({}, user_data, release, [&](Registration& registration) {
    check_may_wait();
    const auto t = hold<Trainer>(trainer, "trainer");
    start_training(*t, on_epoch, registration);
    return wait_for_training(*t, -1);
  });
}

void gnnmg_trainer_stop(gnnmg_trainer* trainer) {
  if (forked()) return;
  in_call([trainer] {
    if (const auto object = find_handle(trainer, Kind::kTrainer))
      static_cast<Trainer&>(*object).get().stop();
  });
}

void gnnmg_trainer_cancel(gnnmg_trainer* trainer) {
  if (forked()) return;
  in_call([trainer] {
    if (const auto object = find_handle(trainer, Kind::kTrainer))
      static_cast<Trainer&>(*object).get().cancel();  // it stays in its job, and may run again
  });
}

gnnmg_status gnnmg_trainer_step(gnnmg_trainer* trainer, double* loss, int64_t timeout_ms) {
  if (loss != nullptr) *loss = 0;
  return guard([&] {
    check_timeout(timeout_ms);
    check_may_wait();
    Resumed<Trainer> t(trainer, "trainer", "step");
    Status answer = Status::kOk;
    double value = 0;
    const gnnmg_status sliced = work_in_slices(t, [&] {
      answer = t->get().step(gnnmg::base::Deadline::after_ms(timeout_ms), &value);
      return answer != Status::kPending;
    });
    if (sliced != GNNMG_OK) return sliced;
    if (answer == Status::kOk && loss != nullptr) *loss = value;
    return static_cast<gnnmg_status>(answer);
  });
}

gnnmg_status gnnmg_trainer_evaluate(gnnmg_trainer* trainer, gnnmg_split part,
                                    gnnmg_metrics* metrics, int64_t timeout_ms) {
  return guard(outs(Out{metrics, "metrics"}), [&] {
    check_timeout(timeout_ms);
    check_may_wait();
    Resumed<Trainer> t(trainer, "trainer", gnnmg::base::text("evaluate ", part));
    GNNMG_CHECK_CONSTANT(part, GNNMG_SPLIT_TRAIN, GNNMG_SPLIT_TEST, "part");
    std::optional<gnnmg::nn::Metrics> result;
    const gnnmg_status sliced = work_in_slices(t, [&] {
      result = t->get().evaluate(static_cast<gnnmg::data::SplitPart>(part),
                                 gnnmg::base::Deadline::after_ms(timeout_ms));
      return result.has_value();
    });
    if (sliced == GNNMG_OK) give(metrics, metrics_of(*result, t->task()));
    return sliced;
  });
}

gnnmg_status gnnmg_trainer_embed(gnnmg_trainer* trainer, DLManagedTensorVersioned** rows,
                                 int64_t timeout_ms) {
  return guard(outs(Out{rows, "rows"}), [&] {
    check_timeout(timeout_ms);
    check_may_wait();
    Resumed<Trainer> t(trainer, "trainer", "embed");
    std::optional<gnnmg::base::Tensor> result;
    const gnnmg_status sliced = work_in_slices(t, [&] {
      result = t->get().embed(gnnmg::base::Deadline::after_ms(timeout_ms));
      return result.has_value();
    });
    if (sliced == GNNMG_OK) *rows = export_tensor(*result, false).release();
    return sliced;
  });
}

gnnmg_status gnnmg_trainer_embed_to_file(gnnmg_trainer* trainer, const char* path,
                                         int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    check_may_wait();
    const std::string file(read_name(path, "path"));
    Resumed<Trainer> t(trainer, "trainer", "embed to " + file);
    return work_in_slices(t, [&] {
      return t->get().embed_to_file(file, gnnmg::base::Deadline::after_ms(timeout_ms));
    });
  });
}

gnnmg_status gnnmg_trainer_progress(const gnnmg_trainer* trainer, gnnmg_progress_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto t = find<Trainer>(trainer, "trainer");
    const gnnmg::train::Progress progress = t->get().progress();
    gnnmg_progress_info facts{};
    facts.state = static_cast<gnnmg_trainer_state>(progress.state);
    facts.epoch = progress.epoch;
    facts.num_epochs = progress.num_epochs;
    facts.step = progress.step;
    facts.num_steps = progress.num_steps;
    facts.seeds_done = progress.seeds_done;
    facts.loss = progress.loss;
    facts.accuracy = progress.accuracy;
    facts.seeds_per_second = progress.seeds_per_second;
    facts.elapsed_seconds = progress.elapsed_seconds;
    facts.validation = progress.validation;
    facts.best_validation = progress.best_validation;
    facts.best_epoch = progress.best_epoch;
    facts.evaluating = progress.evaluating;
    facts.has_validation = progress.has_validation;
    copy_seconds(progress, facts);
    give(info, facts);
  });
}

gnnmg_status gnnmg_trainer_get_model(const gnnmg_trainer* trainer, gnnmg_model** model) {
  return guard(outs(Out{model, "model"}), [&] {
    *model = new_handle<gnnmg_model>(find<Trainer>(trainer, "trainer")->model());
  });
}

gnnmg_status gnnmg_trainer_snapshot(const gnnmg_trainer* trainer, gnnmg_model** model) {
  return guard(outs(Out{model, "model"}), [&] {
    const auto t = find<Trainer>(trainer, "trainer");
    TorchScope scope(*t->context, gnnmg::nn::Loops::kOne);
    const auto copy = make_object<Model>(t->context, t->snapshot());
    copy->learn(t->model()->facts());
    *model = new_handle<gnnmg_model>(copy);
  });
}

}  // extern "C"
