// A rank's life: how it meets the others, what it does for each command, what it is fed with. Steps
// are in rank_step.cpp, what comes between epochs in rank_epoch.cpp.
#include "train/ranks/rank.h"

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <thread>

#include "base/device_wait.h"
#include "loader/device_source_parts.h"
#include "nn/torch_tensor.h"
#include "train/background.h"
#include "train/ranks/take_over.h"
#include "train/step/precision.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Phase;
using data::SplitPart;

// The features of all nodes where the device has them as they are given; undefined: it has not.
at::Tensor features_there(const loader::DeviceSource& source, const feature::FeatureStore* store,
                          const nn::Device& device) {
  if (!store || source.features() != loader::FeaturePlacement::kDevice) return {};
  const feature::DeviceRows& rows = source.parts().table->rows();
  if (rows.data == nullptr || rows.dtype != store->dtype()) return {};
  return at::from_blob(
      const_cast<void*>(rows.data), {store->num_rows(), store->num_cols()}, {rows.stride, 1},
      [](void*) {}, at::TensorOptions(nn::scalar_type(rows.dtype)).device(device.torch()),
      device.torch());
}

}  // namespace

Rank::Rank(const Job& job, Training& training, GroupShared& group, int rank, RankDevice* device)
    : job_(job),
      training_(training),
      group_(group),
      rank_(rank),
      leads_(rank == group.comm->first_rank()),
      device_(device),
      position_(job.config),
      done_(position_) {
  try {
    if (device_) copies_ = std::make_unique<PinnedCopies>(device_->get());  // before any waits
    connect();
    begin();
  } catch (...) {
    group_.keep(rank_, std::move(comm_));
    throw;
  }
}

void GroupShared::keep(int rank, std::unique_ptr<comm::Collectives> comm) {
  const std::lock_guard lock(mutex_);
  kept_[rank] = std::move(comm);
}

std::unique_ptr<comm::Collectives> GroupShared::give_up(int rank) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(rank);
  if (found == kept_.end()) return nullptr;
  std::unique_ptr<comm::Collectives> comm = std::move(found->second);
  kept_.erase(found);
  return comm;
}

void Rank::begin() {
  if (leads_ && !device_) {
    model_ = job_.model;
    optimizer_ = training_.optimizer.get();
  } else {
    model_ = job_.model->clone_on(device_ ? &device_->get() : nullptr);
    own_optimizer_ = Optimizer::create(*model_, job_.config.optimizer);
    own_optimizer_->load_state(training_.optimizer->state());
    optimizer_ = own_optimizer_.get();
  }
  position_ = done_ = training_.position;
  if (device_) {
    source_ = device_->open_source(loader_config(), comm_->world_size());
    traffic_ = source_->traffic(device_->get().queue);  // of others over the same rows
    job_.environment.log.add(
        base::LogLevel::kInfo,
        base::text("rank ", rank_, " works on ", device_->name(), ": ", source_->describe()));
  }
  tell_of_steps_of_few_parts();
  loader_ = make_loader(job_.split->part(SplitPart::kTrain), loader_config(), host_calls_);
  joint_norms_ = job_.config.sync_batch_norm && model_->batch_statistics_width() > 0;
  exchange_ =
      StepExchange::create(job_.config.deterministic, *model_, *comm_, position_.batches_per_step);
  // Where a rank pins memory of the host's, no other one of the process has a kernel that waits for
  // ranks: calls of CUDA that wait for such kernels would hold up what those wait for.
  if (device_) meet_here();
  comm_->barrier(wait_for_start());  // nobody reads the first replica any more
  choose_capture();
}

// Once a training.
void Rank::tell_of_steps_of_few_parts() {
  if (!job_.book || rank_ != 0 || position_.batches_per_step >= job_.book->num_parts() ||
      training_.told_of_few_parts.exchange(true))
    return;
  job_.environment.log.add(
      base::LogLevel::kInfo,
      base::text("a step has ", position_.batches_per_step, " mini-batches, each of one of ",
                 job_.book->num_parts(), " parts, so no step sees all parts, which may cost ",
                 "accuracy; batches_per_step ", job_.book->num_parts(), " avoids it"));
}

comm::Wait Rank::wait_for_start() const {
  comm::Wait patient = wait();
  if (spread()) patient.deadline = base::Deadline::after_ms(job_.environment.meet_timeout_ms);
  return patient;
}

void Rank::connect() {
  comm_ = group_.comm->connect(rank_, wait_for_start());
  training_.set_rank(rank_ - group_.comm->first_rank(), rank_);
  note(Phase::kStarting);
  if (leads_)
    for (const std::string& remark : group_.comm->remarks())
      job_.environment.log.add(base::LogLevel::kWarning, remark);
  if (!spread()) return;
  find_leaders();
  take_over(job_, training_, *comm_, leads_, [this] { return wait(); });
  comm_->barrier(wait());  // each process's first replica is what rank 0's is
}

void Rank::find_leaders() {
  int64_t own = group_.comm->first_rank();
  std::vector<int64_t> all(comm_->world_size());
  std::vector<base::TensorView> outputs;
  for (int64_t& leader : all) outputs.push_back({&leader, base::DType::kI64, {1}});
  comm_->all_gather({&own, base::DType::kI64, {1}}, outputs, wait());
  leaders_.assign(all.begin(), all.end());
}

// Empty where all ranks are of one process.
std::vector<int32_t> Rank::process_of_rank() const {
  std::vector<int32_t> processes;
  for (size_t r = 0; r < leaders_.size(); ++r) {
    const bool another = r > 0 && leaders_[r] != leaders_[r - 1];
    processes.push_back(r == 0 ? 0 : processes.back() + another);
  }
  return processes;
}

void Rank::note(Phase phase, base::HostQueue::Count host_calls) {
  comm_->set_position({position_.epoch, position_.step, phase, std::move(host_calls)});
}

void Rank::cancel() noexcept {
  std::lock_guard lock(loaders_);
  if (loader_) loader_->cancel();
  if (evaluation_loader_) evaluation_loader_->cancel();
}

comm::Wait Rank::wait() const {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(job_.config.deadline_ms);
  wait.cancel = group_.cancel;
  wait.excused = [&host = job_.environment.host] { return host.has_calls(); };
  wait.stall = base::Deadline::after_ms(job_.config.stall_limit_ms);
  return wait;
}

loader::LoaderConfig Rank::loader_config() const {
  const TrainerConfig& c = job_.config;
  loader::LoaderConfig config;
  config.plan = plan_config(job_, position_.batches_per_step, rank_, comm_->world_size());
  config.plan.process_of_rank = process_of_rank();
  config.num_threads = c.loader_threads;
  config.prefetch = c.prefetch;
  config.gather = gathers(job_.store.get());
  config.sample_seed = c.seed;
  return config;
}

std::unique_ptr<loader::Loader> Rank::make_loader(std::span<const int64_t> ids,
                                                  const loader::LoaderConfig& config,
                                                  const base::HostQueue::Count& host_calls) {
  const base::HostQueue::Counting counting(host_calls);  // its workers do
  auto made = std::make_unique<loader::Loader>(ids, job_.sampler, job_.store, config,
                                               &job_.environment.host, source_);
  if (group_.cancel.cancelled()) made->cancel();
  return made;
}

void Rank::commit(const std::function<void()>& change) {
  group_.cancel.check("training");
  // What it waits for on the device no cancel comes between.
  const base::DevicePatience patience(job_.config.deadline_ms, base::CancelToken());
  change();
  if (device_)
    done_ = position_;  // the host has it with the weights
  else if (leads_)
    training_.position = position_;
}

bool Rank::agree(bool flag) {
  double value = flag ? 1 : 0;
  comm_->all_reduce({&value, base::DType::kF64, {1}}, comm::ReduceOp::kMax, wait());
  exchange_->mark();
  return value > 0;
}

void Rank::meet_here() {
  const int64_t here = group_.comm->num_local();
  const int64_t all = (group_.arrived.fetch_add(1) / here + 1) * here;
  // Ranks come when they have taken their memory and pinned the host's, which may take a while.
  const base::Deadline deadline = base::Deadline::after_ms(job_.environment.meet_timeout_ms);
  while (group_.arrived < all) {
    group_.cancel.check("training");
    if (deadline.passed())
      base::fail(Status::kTimeout, all - group_.arrived, " of ", here,
                 " ranks of this process have not come to where the others are within ",
                 static_cast<double>(job_.environment.meet_timeout_ms) / 1000, " s");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Rank::leave_together() {
  // Only who has seen it comes here; one that has left in the meantime had.
  try {
    comm_->barrier(wait());
  } catch (const base::Error&) {
    group_.cancel.check("training");
  }
  meet_here();
}

bool Rank::call_off(std::chrono::milliseconds rest) noexcept {
  try {
    if (captured_) captured_->call_off(wait());
  } catch (const std::exception&) {  // why the command failed is told already
    rest = {};
  }
  return base::comes_to_rest(*device_->get().table, device_->get().queue, rest);
}

void Rank::hand_to_host() {
  if (!leads_) return;
  if (captured_) captured_->roll_back(wait());
  const auto take = [&] { handed_.take(*job_.model); };
  if (device_)
    copy_to_host(take);
  else
    take();
}

void Rank::copy_to_host(const std::function<void()>& then) {
  const c10::NoGradGuard no_grad;
  settle();  // copies to the host wait for as long as it takes
  Snapshot now;
  now.take_to_host(*model_);  // all of it, before anything is changed
  std::vector<nn::NamedTensor> state = optimizer_->state();
  for (nn::NamedTensor& part : state) part.tensor = part.tensor.cpu();
  group_.door->pass([&] {
    training_.optimizer->load_state(state);
    training_.optimizer->set_learning_rate(optimizer_->learning_rate());
    now.restore(*job_.model);
    training_.position = done_;
    then();
  });
}

void Rank::settle() const {
  if (device_) base::wait_for(*device_->get().table, device_->get().index, device_->get().queue);
}

void Rank::save(CheckpointWriter::Why why) {
  const auto take = [&] { training_.checkpoints->take(position_, training_, why); };
  if (!device_) return take();
  done_ = position_;
  if (captured_)
    captured_->look_back([&] { copy_to_host(take); }, wait());
  else
    copy_to_host(take);
}

void Rank::follow_host() {
  if (!agree(handed_.taken() && !handed_.equals(*job_.model))) return;
  if (leads_) (device_ ? last_good_ : training_.last_good) = {};
  take_over_weights(job_, *model_, *comm_, leads_, [this] { return wait(); });
  if (captured_) captured_->follow_weights();
}

void Rank::train(int64_t max_steps) {
  const InPrecision precision(*model_, job_.config.precision);
  stop_agreed_ = false;
  capture_steps();
  while (!position_.finished && !stop_agreed_) {
    seek_loader();
    if (captured_ && advance_captured(max_steps)) continue;
    if (position_.step == num_steps_) {
      end_epoch();
    } else {
      if (max_steps-- == 0) break;
      step();
    }
  }
  while (captured_ && captured_->in_flight() > 0) read_captured();  // behind a stop
  if (stop_agreed_ && !position_.finished) {
    make_room();
    if (writes()) save(CheckpointWriter::Why::kEnd);
  }
  if (stop_agreed_ || position_.finished) {
    flush();
    log_shapes();
  }
  note(Phase::kIdle);
}

void Rank::wait_for_disk(const std::function<bool()>& busy) {
  note(Phase::kSaving);
  meet_while(
      *comm_, [this] { return wait(); }, group_.cancel, slice(),
      writes() ? busy : std::function<bool()>());
}

void Rank::make_room() {
  wait_for_disk([this] { return training_.checkpoints->best_waits(); });
}

void Rank::flush() {
  wait_for_disk([this] { return !training_.checkpoints->idle(); });
  if (agree(writes() && training_.checkpoints->failed())) write_failed();
}

// Well below the deadline.
std::chrono::milliseconds Rank::slice() const {
  return std::chrono::milliseconds(std::clamp<int64_t>(job_.config.deadline_ms / 4, 1, 500));
}

bool Rank::writes() const { return rank_ == 0 && training_.checkpoints; }

void Rank::write_failed() {
  // One speaks, and training may go on from here.
  if (rank_ != 0) comm_->barrier(wait());
  training_.checkpoints->throw_failure();
}

void Rank::seek_loader() {
  if (captured_) {
    const loader::EpochPlan& plan =
        captured_->seek(position_.epoch, position_.step + captured_->in_flight());
    num_steps_ = plan.num_steps();
    num_batches_ = plan.num_batches();
    return;
  }
  if (loader_epoch_ != position_.epoch || loader_step_ != position_.step) {
    // The loader runs ahead into the next epoch while the last step of this one is worked on.
    const bool ended = position_.step > 0 && position_.step == num_steps_;
    if (ended && loader_epoch_ == position_.epoch + 1) return;
    loader_->start_epoch(static_cast<uint64_t>(position_.epoch), position_.step);
    loader_epoch_ = position_.epoch;
    loader_step_ = position_.step;
  }
  num_steps_ = loader_->plan().num_steps();
  num_batches_ = loader_->plan().num_batches();
}

loader::BatchRef Rank::next_batch() {
  note(Phase::kSampling, host_calls_);
  const base::HostQueue::Counting counting(host_calls_);
  while (true) {
    group_.cancel.check("training");
    std::optional<loader::BatchRef> batch = loader_->next(base::Deadline::after_ms(200));
    if (!batch) continue;
    if (!*batch)
      base::fail(Status::kInternal, "the loader ended at step ", position_.step, " of ",
                 num_steps_);
    if ((*batch)->last_of_step && ++loader_step_ == num_steps_ &&
        position_.epoch + 1 < job_.config.num_epochs) {
      loader_->start_epoch(static_cast<uint64_t>(++loader_epoch_));
      loader_step_ = 0;
    }
    return std::move(*batch);
  }
}

nn::Metrics Rank::evaluate(SplitPart part) {
  if (spread()) check_part(part);
  if (job_.split->part(part).empty()) {  // of all ranks: their data are the same
    leave_together();
    fail_empty(job_, part);
  }
  const nn::Metrics metrics = evaluate_part(part);
  note(Phase::kIdle);
  return metrics;
}

void Rank::check_part(SplitPart part) {
  int64_t own = static_cast<int64_t>(part);
  std::vector<int64_t> all(comm_->world_size());
  std::vector<base::TensorView> outputs;
  for (int64_t& other : all) outputs.push_back({&other, base::DType::kI64, {1}});
  comm_->all_gather({&own, base::DType::kI64, {1}}, outputs, wait());
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    leave_together();
    throw base::Error(
        Status::kMismatch,
        base::text("evaluation: rank ", r, " is asked for the ",
                   part_name(static_cast<SplitPart>(all[r])), " part, rank 0 for the ",
                   part_name(static_cast<SplitPart>(all[0])), " part"),
        static_cast<int>(r));
  }
}

// More than all are no more than all.
int64_t Rank::chunk() const {
  return std::min(job_.config.eval_batch_size, std::max<int64_t>(job_.dataset->num_samples(), 1));
}

Participant Rank::participant() {
  return {.comm = *comm_,
          .wait = [this] { return wait(); },
          .rows = group_.rows,
          .cancel = group_.cancel,
          .chunk = chunk(),
          .leaders = leaders_,
          .slice = slice(),
          .features =
              device_ ? features_there(*source_, job_.store.get(), device_->get()) : at::Tensor(),
          .copies = copies_.get()};
}

base::Tensor Rank::embed() {
  note(Phase::kEvaluating);
  return train::embed(*model_, *job_.dataset, participant());
}

void Rank::embed_to_file(const std::string& path) {
  note(Phase::kEvaluating);
  train::embed_to_file(*model_, *job_.dataset, participant(), path);
}

nn::Metrics Rank::evaluate_part(SplitPart part) {
  const at::NoTF32Guard in_f32;  // training may hold the setting of the whole process meanwhile
  note(Phase::kEvaluating);
  const Subject subject{*model_, *job_.dataset, job_.config.loss, job_.split->part(part)};
  const Participant participant = this->participant();
  // Of graphs nothing is sampled: there is one way.
  if (job_.config.evaluation == EvaluationMode::kFull && !job_.dataset->of_graphs())
    return evaluate_full(subject, participant);

  loader::LoaderConfig config = loader_config();
  config.plan.batch_size = chunk();
  config.plan.batch_nodes = 0;
  config.plan.batches_per_step = 0;
  config.plan.partition = loader::Partition::kGlobal;
  config.plan.shuffle = config.plan.drop_last = false;
  config.purpose = base::Purpose::kEvaluationSample;
  put_evaluation_loader(make_loader(subject.ids, config, evaluation_calls_));
  note(Phase::kEvaluating, evaluation_calls_);
  const base::HostQueue::Counting counting(evaluation_calls_);
  const nn::Metrics metrics =
      evaluate_sampled(subject, participant, *evaluation_loader_, [&](const loader::Batch& batch) {
        Held held;
        const at::Tensor rows = model_->forward(args_of(batch, false, held));
        settle();
        return rows.cpu();
      });
  put_evaluation_loader(nullptr);
  return metrics;
}

// Loaders are neither made nor destroyed under the lock, for which who cancels waits: that may take
// as long as a device does.
void Rank::put_evaluation_loader(std::unique_ptr<loader::Loader> next) {
  const std::lock_guard lock(loaders_);
  evaluation_loader_.swap(next);
  if (evaluation_loader_ && group_.cancel.cancelled()) evaluation_loader_->cancel();
}

}  // namespace gnnmg::train
