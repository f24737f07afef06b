#include "train/step/joint_norm_step.h"

#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "nn/torch/parallel.h"
#include "train/step/pass.h"

namespace gnnmg::train {

void JointNormStep::pass(const loader::BatchRef& batch, int64_t, StepSeconds&) {
  batches_.push_back(batch);
}

void JointNormStep::finish_passes(StepSeconds& times) {
  const Clock::time_point got = Clock::now();
  const double reduce_seconds = run_together();
  statistics_ = c_.replica.model().take_batch_statistics();
  batches_.clear();
  times.compute_seconds += seconds_since(got) - reduce_seconds;
  times.reduce_seconds += reduce_seconds;
}

void JointNormStep::fold_statistics() { c_.replica.model().fold_batch_statistics(statistics_); }

double JointNormStep::run_together() {
  nn::Model& model = c_.replica.model();
  double reduce_seconds = 0;
  const nn::SumOverRanks here = [&](at::Tensor& values) {
    c_.replica.settle();
    const Clock::time_point start = Clock::now();
    c_.comm.get().all_reduce({values.data_ptr(), base::DType::kF64, {values.numel()}},
                             comm::ReduceOp::kSum, c_.comm.wait());
    c_.comm.restart_busy();
    reduce_seconds += seconds_since(start);
  };
  // A communicator has one thread, and backward passes on a device run on LibTorch's.
  Relay relay;
  const std::thread::id own = std::this_thread::get_id();
  const nn::SumOverRanks sum = [&](at::Tensor& values) {
    if (c_.comm.world_size() == 1) return;
    if (std::this_thread::get_id() == own)
      here(values);
    else
      relay.ask([&] { here(values); });
  };
  model.take_batch_statistics();  // drops those of a step that was given up
  std::deque<PassInput> inputs;
  std::vector<nn::ForwardArgs> args;
  for (const loader::BatchRef& batch : batches_)
    args.push_back(inputs.emplace_back(c_.job, model, *batch, true).args());
  const std::vector<at::Tensor> logits = model.forward_step(args, sum);
  at::Tensor total;
  for (size_t i = 0; i < batches_.size(); ++i)
    sums_.add(add_loss(c_.job, c_.comm, c_.replica.device(), batches_[i]->seeds, logits[i], total));
  backward(std::move(total), sum, relay);
  return reduce_seconds;
}

void JointNormStep::backward(at::Tensor total, const nn::SumOverRanks& sum, Relay& relay) {
  const StepSums& sums = sums_.host;
  // For a mean of means, each rank's part has to be right before gradients cross the ranks.
  if (total.defined() && by_rank() && sums.weight > 0) total = total.div(sums.weight);
  // All ranks or none: a rank without a loss still takes part in the gradients of the others.
  if (!total.defined() || sums.bad) return c_.replica.model().absent_backward(sum);
  const nn::Device* const device = c_.replica.model().device();
  const nn::TorchThreads threads(nn::TorchThreads::take_largest());
  if (!device || c_.comm.world_size() == 1) return total.backward();
  relay.serve([&, warnings = c10::WarningUtils::get_warning_handler()] {
    c10::WarningUtils::WarningHandlerGuard guard(warnings);
    device->table->use(device->queue);
    total.backward();
  });
}

namespace {

struct Taken {
  std::mutex mutex;
  std::set<std::pair<const device::Table*, int>> devices;
};
Taken& taken() {
  static Taken& taken = *new Taken;  // trainers may outlive main
  return taken;
}

}  // namespace

JointNormsTurn::JointNormsTurn(const device::Table& table, const std::vector<int>& devices)
    : table_(table), devices_(devices) {
  const std::lock_guard lock(taken().mutex);
  for (const int device : devices_)
    if (taken().devices.contains({&table_, device}))
      base::fail(base::Status::kBusy,
                 "another trainer with synchronized batch norms is at work on ", "GPU ", device,
                 ": they take turns");
  for (const int device : devices_) taken().devices.emplace(&table_, device);
}

JointNormsTurn::~JointNormsTurn() {
  const std::lock_guard lock(taken().mutex);
  for (const int device : devices_) taken().devices.erase({&table_, device});
}

}  // namespace gnnmg::train
