// One step of a rank: its mini-batches, the exchange with the other ranks, the update; and what
// becomes of a training whose loss is not finite.
#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/kernel_gate.h"
#include "data/arrays.h"
#include "nn/graph_facts.h"
#include "train/ranks/exit.h"
#include "train/ranks/rank.h"
#include "train/step/relay.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Phase;

// "; features x, row R, column C: ..." where one of the features is not finite, which is then why
// training diverged. Those in mapped files are not read for it: their file may shrink meanwhile.
std::string cause_in(const Job& job) {
  if (!job.features) return {};
  const auto* sparse = std::get_if<base::CsrMatrix>(job.features);
  const base::Tensor& values = sparse ? sparse->values : std::get<base::Tensor>(*job.features);
  if (base::MappedFile::behind(values.owner())) return {};
  try {
    base::ThreadPool pool(1);
    data::check_finite(*job.features, base::text("features ", job.dataset->feature), pool);
    return {};
  } catch (const base::Error& error) {
    return base::text("; ", error.what());
  }
}

}  // namespace

void Rank::Sums::add(const Sums& other) {
  host.add(other.host);
  if (!other.device.defined()) return;
  device = device.defined() ? device.add(other.device) : other.device;
}

// Samples that the host made, of a custom sampler, may have edges that it gave no ids: a device
// must not look them up.
void Rank::check_edge_ids(const loader::Batch& batch) const {
  if (!nn::edge_needs(model_->config()).any()) return;
  for (const sample::BlockStore& store : batch.sample.stores)
    if (std::ranges::any_of(store.edge_ids.span(), [](int64_t id) { return id < 0; }))
      base::fail(Status::kInvalidArgument,
                 "the model reads what edges carry, and the mini-batch has edges of unknown ids");
}

nn::ForwardArgs Rank::args_of(const loader::Batch& batch, bool training, Held& held) const {
  nn::ForwardArgs args;
  if (device_) {
    check_edge_ids(batch);
    // step() has received those of training.
    args = training ? made_args_on(batch, device_->get(), held.sparse)
                    : args_on(batch, device_->get(), held.sparse);
  } else {
    args.input = input_of(batch, job_.store.get());
    args.blocks = batch.sample.blocks;
    args.node_ids = {batch.sample.node_ids.data(), static_cast<size_t>(batch.sample.num_nodes())};
    args.graph_ptr = batch.sample.graph_ptr.span();
  }
  args.graph = job_.dataset->graph;
  args.degrees = batch.sample.degrees.span();
  held.edges = nn::told_edges(model_->config(), batch.sample, device_ ? &device_->get() : nullptr);
  args.edges = held.edges;
  args.training = training;
  args.dropout = {job_.config.seed, batch.epoch, static_cast<uint64_t>(batch.number)};
  return args;
}

Rank::Sums Rank::add_loss(const loader::Batch& batch, const at::Tensor& logits,
                          at::Tensor& total) const {
  Sums sums;
  const nn::Targets targets = nn::gather_targets(*job_.dataset, batch.seeds, logits.scalar_type());
  const nn::SendThere send = [&](const at::Tensor& host) {
    return device_ ? device_->sends().put(host) : host;
  };
  const nn::LossSum loss = nn::loss_sum(job_.config.loss, logits, targets, send);
  const Correct correct = count_correct(job_.dataset->task, logits, targets.labels, send);
  sums.host.weight = loss.weight;
  sums.host.seeds = static_cast<int64_t>(batch.seeds.size());
  sums.host.labelled = correct.labelled;
  if (device_) {
    // Whether it is finite shows when it is read, at the end of the step.
    const at::Tensor value = loss.sum.detach().to(at::kDouble);
    sums.device =
        at::stack({value, correct.on_device.defined() ? correct.on_device : at::zeros_like(value)});
    total = total.defined() ? total.add(loss.sum) : loss.sum;
    return sums;
  }
  sums.host.correct = correct.correct;
  const double value = loss.sum.item<double>();
  if (std::isfinite(value)) {
    sums.host.loss = value;
    total = total.defined() ? total.add(loss.sum) : loss.sum;
  } else {
    sums.host.bad = true;
  }
  return sums;
}

Rank::Sums Rank::run_batch(const loader::Batch& batch) {
  // In the first one libraries and kernels are loaded, which takes memory.
  std::optional<base::MemoryCall> call;
  if (device_ && !std::exchange(has_run_, true)) call.emplace();
  at::Tensor total;
  Held held;
  const Sums sums = add_loss(batch, model_->forward(args_of(batch, true, held)), total);
  if (total.defined()) total.backward();
  return sums;
}

Rank::Sums Rank::run_together(std::span<const loader::BatchRef> batches, double& reduce_seconds) {
  const nn::SumOverRanks here = [&](at::Tensor& values) {
    settle();
    const Clock::time_point start = Clock::now();
    comm_->all_reduce({values.data_ptr(), base::DType::kF64, {values.numel()}},
                      comm::ReduceOp::kSum, wait());
    exchange_->mark();
    reduce_seconds += seconds_since(start);
  };
  // A communicator has one thread, and backward passes on a device run on LibTorch's.
  Relay relay;
  const std::thread::id own = std::this_thread::get_id();
  const nn::SumOverRanks sum = [&](at::Tensor& values) {
    if (comm_->world_size() == 1) return;
    if (std::this_thread::get_id() == own)
      here(values);
    else
      relay.ask([&] { here(values); });
  };
  model_->take_batch_statistics();  // of a step that was given up
  std::vector<Held> held(batches.size());
  std::vector<nn::ForwardArgs> args;
  for (size_t i = 0; i < batches.size(); ++i) args.push_back(args_of(*batches[i], true, held[i]));
  const std::vector<at::Tensor> logits = model_->forward_step(args, sum);
  Sums sums;
  at::Tensor total;
  for (size_t i = 0; i < batches.size(); ++i) sums.add(add_loss(*batches[i], logits[i], total));
  // Of a mean of means each rank's part has to be right before gradients cross the ranks.
  if (total.defined() && by_rank() && sums.host.weight > 0) total = total.div(sums.host.weight);
  // All ranks or none: a rank without a loss still takes part in the gradients of the others.
  if (!total.defined() || sums.host.bad)
    model_->absent_backward(sum);
  else if (device_ && comm_->world_size() > 1)
    relay.serve([&, warnings = c10::WarningUtils::get_warning_handler()] {
      c10::WarningUtils::WarningHandlerGuard guard(warnings);
      device_->get().table->use(device_->get().queue);
      total.backward();
    });
  else
    total.backward();
  return sums;
}

// Once a training: every epoch may have such a mini-batch.
void Rank::tell_of_lone_row() {
  if (!model_->take_lone_row() || training_.told_of_lone_row.exchange(true)) return;
  job_.environment.log.add(
      base::LogLevel::kWarning,
      base::text(
          "step ", position_.step, " of epoch ", position_.epoch,
          ": a batch norm got one row, which has no variance. It took the running statistics "
          "and left them as they are, as it does with every such row from here on; a "
          "batch_size that leaves no short mini-batch, or drop_last, avoids it"));
}

// What the host has waited for mini-batches while its device was at the passes before is theirs.
void Rank::tell_waiting(EpochSums& times) const {
  const std::optional<double> waited = waits_->seconds();
  if (!waited) return;
  const double both = times.wait + times.compute;
  times.wait = std::min(*waited, both);
  times.compute = both - times.wait;
}

void Rank::step() {
  const Clock::time_point start = Clock::now();
  Sums made;
  EpochSums times;
  std::vector<loader::BatchRef> together;
  const int64_t first = position_.step * exchange_->batches_per_step();
  exchange_->begin(std::min(exchange_->batches_per_step(), num_batches_ - first));
  if (waits_) waits_->begin_step();
  for (bool last = false; !last;) {
    const Clock::time_point asked = Clock::now();
    if (waits_) waits_->begin();
    const loader::BatchRef batch = next_batch();
    if (waits_) {
      if (!batch->empty()) receive(*batch, device_->get());
      waits_->end();
    }
    const Clock::time_point got = Clock::now();
    times.wait += std::chrono::duration<double>(got - asked).count();
    times.sample += batch->sample_seconds;
    times.gather += batch->gather_seconds;
    if (batch->device) times.bus_bytes += batch->device->bus_bytes;
    note(Phase::kComputing);
    last = batch->last_of_step;
    if (batch->empty()) continue;
    if (joint_norms_) {
      together.push_back(batch);
      continue;
    }
    const Sums own = run_batch(*batch);
    made.add(own);
    if (job_.config.deterministic) settle();  // the exchange would wait for it
    const Clock::time_point ran = Clock::now();
    note(Phase::kExchanging);
    times.compute += std::chrono::duration<double>(ran - got).count();
    exchange_->add(
        own.host, own.device, batch->number - first,
        model_->batch_statistics_width() > 0 ? model_->take_batch_statistics()[-1] : at::Tensor(),
        wait());
    times.reduce += seconds_since(ran);
  }

  at::Tensor joint_statistics;  // the same on all ranks
  if (joint_norms_) {
    const Clock::time_point got = Clock::now();
    double reduce = 0;
    made = run_together(together, reduce);
    joint_statistics = model_->take_batch_statistics();
    together.clear();
    times.compute += seconds_since(got) - reduce;
    times.reduce += reduce;
  }

  tell_of_lone_row();

  if (waits_) {
    // So would the end of the exchange: here it is told apart.
    const Clock::time_point given = Clock::now();
    settle();
    times.compute += seconds_since(given);
    tell_waiting(times);
  }
  const Clock::time_point computed = Clock::now();
  StepSums& sums = made.host;
  if (by_rank() && sums.weight > 0 && !joint_norms_) optimizer_->scale_gradients(1 / sums.weight);
  sums.stop = training_.stop.load();
  sums.write_failed = writes() && training_.checkpoints->failed();
  note(Phase::kExchanging);
  exchange_->reduce(sums, made.device, wait());
  times.reduce += seconds_since(computed);
  times.peers = std::min(exchange_->waited(), times.reduce);

  const Clock::time_point reduced = Clock::now();
  note(Phase::kUpdating);
  const double share = by_rank()         ? 1.0 / comm_->world_size()
                       : sums.weight > 0 ? 1 / sums.weight
                                         : 1.0;
  const double norm = optimizer_->scale_gradients(share);
  sums.bad = sums.bad || !std::isfinite(norm);
  if (!sums.bad && job_.config.clip_norm > 0) optimizer_->clip(norm, job_.config.clip_norm);
  const double rate = job_.config.optimizer.learning_rate *
                      position_.schedule.factor(position_.epoch, position_.step, num_steps_);
  commit_step(sums, times, rate, [&] {
    if (!sums.bad) {
      if (leads_) (device_ ? last_good_ : training_.last_good).take(*model_);
      if (sums.weight > 0) {
        optimizer_->set_learning_rate(rate);
        optimizer_->step();
      }
      if (joint_norms_) model_->fold_batch_statistics(joint_statistics);
      for (const at::Tensor& row : exchange_->statistics())
        model_->fold_batch_statistics(row.unsqueeze(0));
    }
    times.optimizer = seconds_since(reduced);
    times.seconds = seconds_since(start);
  });
  follow_step(sums);
}

void Rank::commit_step(const StepSums& sums, const EpochSums& times, double rate,
                       const std::function<void()>& update) {
  commit([&] {
    update();
    EpochSums& epoch = position_.sums;
    position_.bad_steps = sums.bad ? position_.bad_steps + 1 : 0;
    position_.last_loss = sums.bad ? std::nan("") : sums.weight > 0 ? sums.loss / sums.weight : 0;
    if (!sums.bad) {
      epoch.loss += sums.loss;
      epoch.weight += sums.weight;
      epoch.correct += sums.correct;
      epoch.labelled += sums.labelled;
    }
    epoch.seeds += sums.seeds;
    epoch.learning_rate = rate;
    epoch.wait += times.wait;
    epoch.sample += times.sample;
    epoch.gather += times.gather;
    epoch.compute += times.compute;
    epoch.reduce += times.reduce;
    epoch.peers += times.peers;
    epoch.bus_bytes += times.bus_bytes;
    epoch.optimizer += times.optimizer;
    epoch.seconds += times.seconds;
    ++position_.step;
    ++position_.total_steps;
  });
}

void Rank::follow_step(const StepSums& sums) {
  stop_agreed_ = stop_agreed_ || sums.stop;
  show();
  if (writes() && training_.checkpoints->due(position_.total_steps)) {
    note(Phase::kSaving);
    save(CheckpointWriter::Why::kDue);
  }
  if (leads_ && position_.total_steps < 3) watch_exit();
  if (position_.bad_steps == kBadSteps) diverged();
  if (sums.write_failed) write_failed();
}

bool Rank::by_rank() const { return job_.config.loss_average == LossAverage::kRanks; }

void Rank::diverged() {
  // All see this in the same numbers. The first rank of each process speaks for it; its other ranks
  // wait here until that failure has reached them.
  leave_together();
  while (!leads_) {
    group_.cancel.check("training");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  commit([&] {
    position_.bad_steps = 0;
    if (captured_)
      captured_->restore_good(wait());
    else if (const Snapshot& good = device_ ? last_good_ : training_.last_good; good.taken())
      good.restore(*model_);
  });
  base::fail(Status::kDiverged, "the loss or its gradient was not finite in ", kBadSteps,
             " steps in a row, the last of them step ", position_.step - 1, " of epoch ",
             position_.epoch, "; the model holds the weights of the last good step",
             cause_in(job_));
}

}  // namespace gnnmg::train
