#include "train/step/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "nn/loss.h"
#include "train/ranks/device.h"
#include "train/step/host_loss.h"

namespace gnnmg::train {
namespace {

using data::Task;

// The number of right answers, 0-d: the highest logit for classes, the sign of the logit for binary
// targets. Undefined for a regression.
at::Tensor count_right(Task task, const at::Tensor& logits, const at::Tensor& labels,
                       const at::Tensor& known) {
  if (task == Task::kMulticlass) return (logits.argmax(1) == labels).sum();
  if (task == Task::kBinary) return (((logits > 0) == (labels > 0.5)) & known).sum();
  return {};
}

DeviceCounts counts_of(const at::Tensor& loss, const at::Tensor& right) {
  const at::Tensor value = loss.detach().to(at::kDouble);
  return at::stack({value, right.defined() ? right.to(at::kDouble) : at::zeros_like(value)});
}

}  // namespace

void PassSums::add(const PassSums& other) {
  host.add(other.host);
  if (!other.device.defined()) return;
  device = device.defined() ? device.add(other.device) : other.device;
}

PassSums add_loss(const Job& job, RankComm& comm, const RankDevice* device,
                  std::span<const int64_t> seeds, const at::Tensor& logits, at::Tensor& total) {
  const nn::SendThere send = [&](const at::Tensor& host) {
    return device ? device->sends().put(host) : host;
  };
  const nn::Targets targets = nn::gather_targets(*job.dataset, seeds, logits.scalar_type());
  const nn::LossSum loss = job.loss_function ? loss_of_host(job, comm, seeds, logits, targets)
                                             : nn::loss_sum(job.config.loss, logits, targets, send);
  PassSums sums;
  sums.host.weight = loss.weight;
  sums.host.seeds = static_cast<int64_t>(seeds.size());
  at::Tensor right;
  if (const Task task = job.dataset->task; task != Task::kRegression) {
    const c10::NoGradGuard no_grad;
    const bool classes = task == Task::kMulticlass;
    const at::Tensor known = classes ? targets.labels >= 0 : ~targets.labels.isnan();
    sums.host.labeled = known.sum().item<int64_t>();
    right = count_right(task, logits, send(targets.labels), classes ? known : send(known));
  }
  const auto add = [&] { total = total.defined() ? total.add(loss.sum) : loss.sum; };
  if (device) {
    sums.device = counts_of(loss.sum, right);
    add();
    return sums;
  }
  if (right.defined()) sums.host.correct = right.item<int64_t>();
  const double value = loss.sum.item<double>();
  sums.host.bad = !std::isfinite(value);
  if (sums.host.bad) return sums;
  sums.host.loss = value;
  add();
  return sums;
}

PassLoss loss_on_device(const Job& job, const at::Tensor& logits, const at::Tensor& labels,
                        const at::Tensor& known, const at::Tensor& weights) {
  const at::Tensor losses = nn::element_losses(job.config.loss, logits, labels);
  const at::Tensor sum = nn::weighted_sum(losses, weights.gt(0), weights.to(losses.scalar_type()));
  const c10::NoGradGuard no_grad;
  return {sum, counts_of(sum, count_right(job.dataset->task, logits, labels, known))};
}

}  // namespace gnnmg::train
