#include "train/job/job.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "comm/nccl/table.h"
#include "data/weights.h"
#include "device/wait.h"
#include "dist/part_dataset.h"
#include "graph/homogeneous.h"
#include "io/checksum.h"
#include "nn/loss.h"
#include "nn/model/graph_facts.h"
#include "nn/torch/tensor.h"
#include "train/eval/evaluation.h"
#include "train/eval/metric.h"
#include "train/optim/decay.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

using base::Status;
using data::SplitPart;
using data::Task;

void check_model(const nn::ModelConfig& model, const data::Dataset& dataset,
                 const sample::Sampler& sampler) {
  if (model.reads_features() && model.input_dim != dataset.feature_dim())
    base::fail(Status::kInvalidArgument, "the model reads ", model.input_dim,
               " features a node, but the data set has ", dataset.feature_dim());
  if (!model.reads_features() && model.input_dim != dataset.graph->num_nodes())
    base::fail(Status::kInvalidArgument, "the model has weights for ", model.input_dim,
               " nodes, but the data set has ", dataset.graph->num_nodes());
  if (model.output_width() != dataset.num_classes)
    base::fail(Status::kInvalidArgument, "the model has ", model.output_width(),
               " outputs, but the data set has ", dataset.num_classes,
               dataset.task == Task::kMulticlass ? " classes" : " targets");
  const bool of_graphs = dataset.of_graphs();
  if (of_graphs != sampler.of_graphs())
    base::fail(Status::kInvalidArgument, dataset.title(), ": its labels are of ",
               dataset.sample_name(), "s, but the seeds of the sampler are ",
               of_graphs ? "nodes" : "graphs");
  if (of_graphs != (model.readout != nn::Readout::kNone))
    base::fail(Status::kInvalidArgument, dataset.title(), ": its labels are of ",
               dataset.sample_name(), "s, so the model ", of_graphs ? "needs a" : "takes no",
               " readout");
  if (model.num_layers != sampler.num_layers())
    base::fail(Status::kInvalidArgument, "the model has ", model.num_layers,
               " layers, but the sampler draws ", sampler.num_layers(), " hops");
}

void check_loss(const nn::LossRule& loss, Task task) {
  using nn::Loss;
  const bool of_numbers = loss.kind == Loss::kMeanSquaredError ||
                          loss.kind == Loss::kMeanAbsoluteError || loss.kind == Loss::kHuber;
  const auto refuse = [&](const char* needs) {
    base::fail(Status::kInvalidArgument, "loss ", nn::name_of(loss.kind), ": needs ", needs);
  };
  if (loss.kind == Loss::kCrossEntropy && task != Task::kMulticlass)
    refuse("one class a node, which the data set has not");
  if (loss.kind == Loss::kBinaryCrossEntropy && task != Task::kBinary)
    refuse("targets of 0 and 1, which the data set has not");
  if (of_numbers && task == Task::kMulticlass) refuse("targets, but the data set has classes");
  if (loss.kind == Loss::kFocal && task == Task::kRegression)
    refuse("classes or targets of 0 and 1, but the data set has numbers");
  if (loss.label_smoothing > 0 && loss.kind != Loss::kCrossEntropy)
    base::fail(Status::kInvalidArgument, "label_smoothing=", loss.label_smoothing,
               " has an effect only with loss=cross_entropy, and the loss is ",
               nn::name_of(loss.kind), "; leave it out");
}

// Checks that the parts of the graph that are here suffice for exact validations.
void check_evaluation(const Job& job) {
  if (job.config.evaluation == EvaluationMode::kFull &&
      !job.split->part(SplitPart::kValidation).empty())
    expect_exact(*job.model, *job.dataset);
}

std::string sum_of(std::span<const uint16_t> book) {
  io::Sha256 sum;
  sum.add({reinterpret_cast<const uint8_t*>(book.data()), book.size_bytes()});
  return sum.finish();
}

// Checks that there are mini-batches.
void check_plan(const Job& job, std::span<const int64_t> train) {
  const TrainerConfig& config = job.config;
  if (!config.drop_last && config.partition != loader::Partition::kParts) return;
  if (loader::EpochPlan(train, plan_config(job, 1, 0, 1), 0).num_batches() > 0) return;
  const char* samples = job.dataset->sample_name();
  base::fail(Status::kInvalidArgument, "drop_last: leaves no mini-batch, because the ",
             train.size(), " training ", samples, "s",
             job.book ? ", those of each part by themselves," : "", " are fewer than batch_size ",
             config.batch_size);
}

// Checks the device of each rank. Returns the number of ranks.
int check_devices(const TrainerConfig& config, const Environment& environment,
                  const nn::Model& model) {
  const std::vector<int>& devices = config.devices;
  if (devices.empty()) return std::max(config.num_ranks, 1);
  const auto count = static_cast<int>(devices.size());
  if (!environment.devices)
    base::fail(Status::kDependency, "devices: there is no GPU that this process can use");
  if (config.num_ranks != 0 && config.num_ranks != count)
    base::fail(Status::kInvalidArgument, "num_ranks ", config.num_ranks, ": with ", count,
               " devices it is ", count, ", or 0 for one a device");
  const int there = environment.devices->num_devices();
  for (int r = 0; r < count; ++r) {
    if (devices[r] < 0 || devices[r] >= there)
      base::fail(Status::kNotFound, "devices: there is no GPU ", devices[r], ", expected 0 to ",
                 there - 1);
    const auto first = std::ranges::find(devices, devices[r]) - devices.begin();
    if (first < r)
      base::fail(Status::kInvalidArgument, "devices: ranks ", first, " and ", r,
                 " are both on GPU ", devices[r],
                 ": NCCL needs a GPU of its own for each rank, because its kernels wait for each "
                 "other and would never run side by side on one; name each GPU once");
  }
  if ((count > 1 || environment.processes) && !environment.devices->of<comm::nccl::Table>())
    base::fail(Status::kDependency, "devices: ",
               environment.processes ? std::string("processes") : base::text(count, " GPUs"),
               " need NCCL among GPUs, which has not been loaded; train on one GPU in one process");
  if (model.device())
    base::fail(
        Status::kInvalidArgument,
        "the model lies on a GPU: the trainer takes one on the CPU, and makes its own there");
  return count;
}

}  // namespace

const char* part_name(SplitPart part) {
  static constexpr const char* kNames[] = {"training", "validation", "test"};
  return kNames[static_cast<int>(part)];
}

void fail_empty(const Job& job, SplitPart part) {
  base::fail(Status::kInvalidArgument, "split ", job.split->name, " ", job.split->index, ": its ",
             part_name(part), " part is empty");
}

void Snapshot::take(const nn::Model& model) {
  c10::NoGradGuard no_grad;
  const at::Tensor flat = model.flat_parameters().detach();
  if (parameters_.defined())
    parameters_.copy_(flat);
  else
    parameters_ = flat.clone();
  buffers_.resize(model.buffers().size());
  for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = model.buffers()[i].tensor.clone();
}

void Snapshot::take_to_host(const nn::Model& model) {
  c10::NoGradGuard no_grad;
  if (!model.device()) return take(model);
  device::wait_for(*model.device()->table, model.device()->index, model.device()->queue);
  parameters_ = model.flat_parameters().detach().cpu();
  buffers_.resize(model.buffers().size());
  for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = model.buffers()[i].tensor.cpu();
}

void Snapshot::restore(nn::Model& model) const {
  c10::NoGradGuard no_grad;
  model.flat_parameters().detach().copy_(parameters_);
  for (size_t i = 0; i < buffers_.size(); ++i) model.buffers()[i].tensor.copy_(buffers_[i]);
}

bool Snapshot::equals(const nn::Model& model) const {
  if (!parameters_.equal(model.flat_parameters())) return false;
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (!buffers_[i].equal(model.buffers()[i].tensor)) return false;
  return true;
}

std::vector<at::Tensor> Snapshot::tensors() const {
  std::vector<at::Tensor> all{parameters_};
  all.insert(all.end(), buffers_.begin(), buffers_.end());
  return all;
}

loader::PlanConfig plan_config(const Job& job, int64_t batches_per_step, int rank, int world_size) {
  const TrainerConfig& c = job.config;
  auto here = job.book ? dist::parts_here(*job.dataset) : std::nullopt;
  return {.batch_size = c.batch_size,
          .batches_per_step = batches_per_step,
          .rank = rank,
          .world_size = world_size,
          .partition = c.partition,
          .shuffle = c.shuffle,
          .drop_last = c.drop_last,
          .seed = c.seed,
          .batch_nodes = c.batch_nodes,
          .graph_ptr = job.dataset->graph_ptr,
          .book = job.book,
          .process_of_part = here ? std::move(here->process_of_part) : std::vector<int32_t>()};
}

Training::Training(const Job& job)
    : id(draw_training_id()),
      position(job.config),
      optimizer(Optimizer::create(*job.model, job.config.optimizer)),
      average(job.config.average == Average::kNone ? nullptr : job.model->clone()),
      times_(static_cast<size_t>(job.config.num_ranks)) {
  for (size_t r = 0; r < times_.size(); ++r) {
    times_[r].rank = static_cast<int32_t>(r);
    if (!job.config.devices.empty()) times_[r].device = job.config.devices[r];
  }
  progress_.num_epochs = job.config.num_epochs;
  if (!job.environment.processes) set_world_size(job.config, job.config.num_ranks);
}

void Training::set_world_size(const TrainerConfig& config, int ranks) {
  config.check_world(ranks);
  world_size_ = ranks;
  if (position.batches_per_step == 0) position.batches_per_step = ranks;
}

const data::Fingerprint& Training::fingerprint(const Job& job) {
  std::lock_guard lock(fingerprint_mutex_);
  if (fingerprint_.empty()) fingerprint_ = data::fingerprint(*job.dataset, *job.split);
  return fingerprint_;
}

void Training::set_rank(int number, int rank) {
  std::lock_guard lock(progress_mutex_);
  times_[static_cast<size_t>(number)].rank = rank;
}

void Training::set_progress(const std::function<void(Progress&)>& change) {
  std::lock_guard lock(progress_mutex_);
  change(progress_);
}

Progress Training::progress() const {
  std::lock_guard lock(progress_mutex_);
  return progress_;
}

void Training::set_times(int number, const RankTimes& times) {
  std::lock_guard lock(progress_mutex_);
  times_[static_cast<size_t>(number)] = times;
}

std::vector<RankTimes> Training::times() const {
  std::lock_guard lock(progress_mutex_);
  return times_;
}

std::shared_ptr<const Job> make_job(std::shared_ptr<nn::Model> model, data::DatasetRef dataset,
                                    std::shared_ptr<const sample::Sampler> sampler,
                                    const TrainerConfig& config, const Environment& environment) {
  config.check();
  auto job = std::make_shared<Job>(Job{.model = std::move(model),
                                       .dataset = std::move(dataset),
                                       .sampler = std::move(sampler),
                                       .store = nullptr,
                                       .config = config,
                                       .environment = environment});
  const data::Dataset& data = *job->dataset;
  graph::expect_homogeneous(*data.graph, "models");
  if (data.task == Task::kNone)
    base::fail(Status::kNotFound, data.title(), " has no labels to train on");
  if (job->model->config().reads_features()) {
    job->store = features_for(*job->model, data);
    job->features = data.graph->node_column(data.feature);
  }
  if (config.partition == loader::Partition::kParts && data.parts) {
    job->book = dist::book_of(data.parts);
    job->book_sum = sum_of(data.parts->book);
  }
  job->split = &data.split(config.split, config.split_index);

  if (config.precision != Precision::kFull && job->model->config().dtype != base::DType::kF32)
    base::fail(Status::kInvalidArgument, "precision ",
               config.precision == Precision::kTf32 ? "tf32" : "bf16",
               ": is of products of f32, and the model's type is ",
               base::dtype_name(job->model->config().dtype));
  TrainerConfig& meant = job->config;
  meant.num_ranks = check_devices(config, environment, *job->model);
  if (meant.loss.kind == nn::Loss::kAuto) meant.loss.kind = nn::loss_for(data.task);
  check_loss(meant.loss, data.task);
  meant.best_by = metric_for(config.best_by, data.task, data.num_classes);
  check_model(job->model->config(), data, *job->sampler);
  (void)decay_groups(*job->model, config.optimizer);

  const std::span<const int64_t> train = job->split->part(SplitPart::kTrain);
  const auto where = base::text("split ", job->split->name, " ", job->split->index);
  if (train.empty()) base::fail(Status::kInvalidArgument, where, ": its training part is empty");
  const bool weighted = data.class_weights.defined() || data.sample_weights.defined();
  if (data::count_labeled(data, train) == 0)
    base::fail(Status::kInvalidArgument, where, ": none of its ", train.size(), " training ",
               data.sample_name(), "s has a label",
               weighted ? base::text(" that counts by the weights of classes and ",
                                     data.sample_name(), "s")
                        : "");
  if (config.batch_nodes > 0 && !data.of_graphs())
    base::fail(Status::kInvalidArgument, "batch_nodes ", config.batch_nodes, ": ", data.title(),
               " is not one of graphs, whose nodes it could count");
  check_plan(*job, train);
  if (config.evaluate_every > 0) check_evaluation(*job);
  const std::span<const int64_t> validation = job->split->part(SplitPart::kValidation);
  const std::string undefined = metric_undefined(meant.best_by, data, validation);
  job->validation_tells = undefined.empty();
  const bool validates = config.evaluate_every > 0 && job->validation_tells;
  const std::string lacks = validation.empty() || job->validation_tells
                                ? base::text(where, " has no validation part")
                                : base::text(where, ": its ", validation.size(), " validation ",
                                             data.sample_name(), "s ", undefined);
  if (!validates && config.early_stop_patience > 0)
    base::fail(Status::kInvalidArgument, "early_stop_patience ", config.early_stop_patience, ": ",
               lacks);
  if (!validates && config.schedule.kind == ScheduleKind::kPlateau)
    base::fail(Status::kInvalidArgument, "schedule plateau: ", lacks);
  if (config.evaluate_every > 0 && config.keep_best && !validation.empty() &&
      !job->validation_tells)
    job->environment.log.add(base::LogLevel::kWarning,
                             lacks + ": no epoch is the best, and the last weights stay");
  // Checks that the graph has the edge data that layers read.
  const nn::ModelConfig& layers = job->model->config();
  const nn::EdgeNeeds needs = nn::edge_needs(layers);
  (void)nn::GraphFacts(*data.graph, needs, nn::scalar_type(layers.dtype));
  return job;
}

}  // namespace gnnmg::train
