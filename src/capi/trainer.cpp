#include "capi/trainer.h"

#include <cmath>

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/callback.h"
#include "capi/comm.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/metrics.h"
#include "capi/sampler.h"
#include "capi/tensor.h"
#include "capi/train_settings.h"
#include "capi/trainer_devices.h"
#include "graph/homogeneous.h"

namespace gnnmg::capi {

Trainer::Trainer(std::shared_ptr<Model> model, std::shared_ptr<Comm> comm,
                 std::unique_ptr<train::Trainer> made, const data::Dataset& data)
    : Object(kKind, model->context, model->queue),
      model_(std::move(model)),
      use_(*model_),
      comm_(std::move(comm)),
      task_(data.task),
      num_classes_(data.num_classes),
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
  if (!model_->occupancy.try_hold()) fail_busy(*model_, "trainer's model");
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
    if (!model_->occupancy.try_read()) fail_busy(*model_, "trainer's model");
    share = Read<Model>(model_);
  }
  return trainer_->snapshot();
}

void Trainer::check_not_running() const {
  if (running)
    fail(Status::kBusy,
         "the trainer was started; gnnmg_trainer_wait() has to report its end first, and "
         "gnnmg_trainer_stop() or gnnmg_trainer_cancel() ends it early");
}

namespace {

static_assert(static_cast<int32_t>(train::TrainerState::kIdle) == GNNMG_TRAINER_STATE_IDLE &&
              static_cast<int32_t>(train::TrainerState::kRunning) == GNNMG_TRAINER_STATE_RUNNING &&
              static_cast<int32_t>(train::TrainerState::kStopping) ==
                  GNNMG_TRAINER_STATE_STOPPING &&
              static_cast<int32_t>(train::TrainerState::kFinished) ==
                  GNNMG_TRAINER_STATE_FINISHED &&
              static_cast<int32_t>(train::TrainerState::kFailed) == GNNMG_TRAINER_STATE_FAILED);

// Tells if edges have tensors, which models may read by their ids.
bool has_edge_tensors(const graph::Graph& graph) {
  if (const graph::Elsewhere* rows = graph.elsewhere()) return !rows->edge_columns().empty();
  return !graph.edge_columns().empty();
}

// The sampler of a trainer that is given none.
std::shared_ptr<const sample::Sampler> default_sampler(const data::Dataset& data, int num_layers) {
  constexpr int64_t kFanout = 10;
  graph::expect_homogeneous(*data.graph, "models");
  const bool edge_ids = has_edge_tensors(*data.graph);
  if (data.of_graphs())
    return sample::make_graphs_sampler(
        data.graph, data.graph_ptr,
        {.num_layers = num_layers, .edge_ids = edge_ids, .transpose = true});
  sample::NeighborConfig config;
  config.fanouts.assign(static_cast<size_t>(num_layers), kFanout);
  config.edge_ids = edge_ids;
  config.transpose = true;
  return sample::make_neighbor_sampler(data.graph, config);
}

// The sampler of a handle, if training can use it.
std::shared_ptr<const sample::Sampler> checked_sampler(const gnnmg_sampler* sampler,
                                                       const Dataset& dataset) {
  const auto s = read<Sampler>(sampler, "sampler");
  check_fit(*s, dataset);
  if (s->edges().outgoing)
    fail(Status::kUnsupported,
         "the sampler follows outgoing edges, and a trainer evaluates along incoming ones; turn "
         "the graph round with GNNMG_TRANSFORM_REVERSE_EDGES instead");
  if (!s->has_transpose())
    fail(Status::kUnsupported, "the sampler was made without `transpose`, which training needs");
  return s->get();
}

gnnmg_epoch_info epoch_info(const train::EpochReport& report) {
  gnnmg_epoch_info info{};
  info.struct_size = sizeof info;
  info.epoch = report.epoch;
  info.num_epochs = report.num_epochs;
  info.num_steps = report.steps;
  info.train_loss = report.train_loss;
  info.train_accuracy = report.train_accuracy;
  info.learning_rate = report.learning_rate;
  info.evaluation_seconds = report.evaluation_seconds;
  info.seeds_per_second = report.seeds_per_second;
  info.mean_busy_seconds = report.mean_busy_seconds;
  info.most_busy_seconds = report.most_busy_seconds;
  info.slowest_rank = report.slowest_rank;
  const bool on_gpu = !report.ranks.empty() && report.ranks[0].device >= 0;
  info.device = on_gpu ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_CPU;
  info.num_ranks = static_cast<int32_t>(report.ranks.size());
  info.best = report.best;
  info.times = times_of(report);
  return info;
}

// Runs on a thread of the host's.
train::EpochFunction epoch_function(gnnmg_epoch_fn function, data::Task task,
                                    std::shared_ptr<UserData> user) {
  if (function == nullptr) return {};
  return [function, task, user = std::move(user)](const train::EpochReport& report) {
    const gnnmg_metrics validation = metrics_of(report.validation, task);
    gnnmg_epoch_info info = epoch_info(report);
    if (report.evaluated) info.validation = &validation;
    try {
      return function(&info, user->get());
    } catch (const base::ThreadEnd&) {
      throw;
    } catch (...) {
      fail(Status::kCallback, "the epoch callback threw an exception after epoch ", report.epoch);
    }
  };
}

// Runs on a thread of the host's.
train::LossFunction loss_function(gnnmg_loss_fn function, std::shared_ptr<UserData> user) {
  if (function == nullptr) return {};
  return [function, user = std::move(user)](train::LossBatch& batch) {
    gnnmg_loss_batch given{};
    given.struct_size = sizeof given;
    given.dtype = dtype_code(batch.dtype);
    given.num_rows = batch.rows;
    given.num_columns = batch.columns;
    given.seeds = batch.seeds;
    given.logits = batch.logits;
    given.classes = batch.classes;
    given.targets = batch.targets;
    given.weights = batch.weights;
    given.gradient = batch.gradient;
    given.weight = batch.weight;
    int32_t answer = 0;
    try {
      answer = function(&given, user->get());
    } catch (const base::ThreadEnd&) {
      throw;
    } catch (...) {
      fail(Status::kCallback, "the loss function threw an exception");
    }
    batch.loss = given.loss;
    batch.weight = given.weight;
    return answer;
  };
}

// With a hold on the trainer.
void start_training(Trainer& trainer, gnnmg_epoch_fn on_epoch, Registration& registration) {
  trainer.check_not_running();
  trainer.begin_work();
  try {
    std::shared_ptr<UserData> user = registration.take(trainer.queue);
    trainer.get().set_epoch_function(epoch_function(on_epoch, trainer.task(), user));
    trainer.user = std::move(user);
    trainer.get().start();
    trainer.running = true;
    // Freed since this call found the handle: the cancel came before the work.
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
  } catch (const base::ThreadEnd&) {  // suspended like a call that answers GNNMG_PENDING
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

gnnmg_status gnnmg_trainer_create(gnnmg_model* model, const gnnmg_dataset* dataset,
                                  const gnnmg_sampler* sampler, const gnnmg_comm* comm,
                                  const gnnmg_trainer_config* config, const char* settings,
                                  gnnmg_trainer** trainer) {
  return guard(outs(Out{trainer, "trainer"}), [&] {
    const auto m = hold<Model>(model, "model");
    const auto d = read<Dataset>(dataset, "dataset");
    std::shared_ptr<const gnnmg::sample::Sampler> draws;
    if (sampler != nullptr) draws = checked_sampler(sampler, *d);
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
    if (m->place())
      fail(Status::kUnsupported, "the model lies on GPU ", m->place()->index(),
           ", and a trainer makes a replica of one in main memory on each GPU that it takes; bring "
           "it back with gnnmg_model_set_device() and GNNMG_DEVICE_CPU first");
    TrainerSettings read = read_trainer(config, settings);
    DeviceChoice choice =
        job ? choose_devices(read, m->context->devices, job->devices, job->processes()->process())
            : choose_devices(read, m->context->devices, {}, 0);
    gnnmg::train::TrainerConfig& training = read.config;
    training.num_ranks = choice.num_ranks;
    training.devices = std::move(choice.devices);
    training.check();
    if ((*m).get()->config().reads_features()) d->need_features();
    d->need_labels();
    training.split = d->split().name;
    training.split_index = d->split().index;
    if (!draws) draws = default_sampler(*d->data(), (*m).get()->config().num_layers);
    TorchScope scope(*m->context);
    const std::shared_ptr<Context>& c = m->context;
    gnnmg::train::Environment environment{*c->queue, c->log, c->pool};
    if (!training.devices.empty()) environment.devices = c->devices.table();
    environment.stay_beside_devices = c->options().gpu_affinity;
    environment.keeps = c;
    environment.rows = c->options().evaluation_rows;
    if (job) {
      environment.processes = job->processes();
      environment.meet_timeout_ms = job->join_ms();
    }
    const auto store = d->features();
    draws = gnnmg::nn::training_sampler(*(*m).get(), std::move(draws), store && store->sparse());
    auto made = gnnmg::train::Trainer::create((*m).get(), d->data(), std::move(draws), training,
                                              environment);
    m.share()->learn(gnnmg::nn::facts_of(*d->data()));
    if (!choice.note.empty()) c->log.add(gnnmg::base::LogLevel::kInfo, std::move(choice.note));
    *trainer = new_handle<gnnmg_trainer>(
        make_object<Trainer>(m.share(), std::move(job), std::move(made), *d->data()));
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

gnnmg_status gnnmg_trainer_set_loss(gnnmg_trainer* trainer, gnnmg_loss_fn function, void* user_data,
                                    gnnmg_release_fn release) {
  return guard_registration({}, user_data, release, [&](Registration& registration) {
    const auto t = hold<Trainer>(trainer, "trainer");
    t->check_not_running();
    if (function != nullptr && t->on_device())
      fail(Status::kUnsupported,
           "a loss function needs a trainer on the CPU, and this one works on GPUs; create it with "
           "config.device GNNMG_DEVICE_CPU");
    t->get().set_loss_function(loss_function(function, registration.take(t->queue)));
  });
}

gnnmg_status gnnmg_trainer_set_learning_rate(gnnmg_trainer* trainer, double rate) {
  return guard([&] {
    const auto t = find<Trainer>(trainer, "trainer");
    if (!(rate >= 0) || std::isinf(rate))
      fail(Status::kInvalidArgument, "rate is ", rate, ", expected a finite number of at least 0");
    t->get().set_learning_rate(rate);
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
      static_cast<Trainer&>(*object)
          .get()
          .cancel();  // the trainer stays in its job, and may run again
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

gnnmg_status gnnmg_trainer_evaluate(gnnmg_trainer* trainer, gnnmg_part part, gnnmg_metrics* metrics,
                                    gnnmg_tensor** confusion, int64_t timeout_ms) {
  const bool wanted = confusion != nullptr;
  if (wanted) *confusion = nullptr;
  return guard(outs(Out{metrics, "metrics"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    check_may_wait();
    Resumed<Trainer> t(trainer, "trainer", gnnmg::base::text("evaluate ", part, ' ', wanted));
    GNNMG_CHECK_CONSTANT(part, GNNMG_PART_TRAIN, GNNMG_PART_TEST, "part");
    if (wanted) check_confusion(t->task(), t->num_classes());
    std::optional<gnnmg::nn::Metrics> result;
    const gnnmg_status sliced = work_in_slices(t, [&] {
      result = t->get().evaluate(static_cast<gnnmg::data::SplitPart>(part),
                                 gnnmg::base::Deadline::after_ms(timeout_ms), wanted);
      return result.has_value();
    });
    if (sliced != GNNMG_OK) return sliced;
    if (wanted) *confusion = confusion_of(*result, t->task(), t->num_classes()).release();
    give(metrics, metrics_of(*result, t->task()));
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_trainer_embed(gnnmg_trainer* trainer, int32_t node_type, const char* path,
                                 gnnmg_tensor** rows, int64_t timeout_ms) {
  const RowsPlace place(path, rows);
  return guard(place.check(), [&]() -> gnnmg_status {
    check_only_node_type(node_type);
    check_timeout(timeout_ms);
    check_may_wait();
    const std::string file = place.file();
    Resumed<Trainer> t(trainer, "trainer", "embed " + file);
    if (!file.empty())
      return work_in_slices(t, [&] {
        return t->get().embed_to_file(file, gnnmg::base::Deadline::after_ms(timeout_ms));
      });
    std::optional<gnnmg::base::Tensor> result;
    const gnnmg_status sliced = work_in_slices(t, [&] {
      result = t->get().embed(gnnmg::base::Deadline::after_ms(timeout_ms));
      return result.has_value();
    });
    if (sliced == GNNMG_OK) *rows = export_tensor(*result, false).release();
    return sliced;
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
    facts.device = t->on_device() ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_CPU;
    facts.num_ranks = t->get().config().num_ranks;
    facts.times = times_of(progress);
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
