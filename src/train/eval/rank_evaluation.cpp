#include "train/eval/rank_evaluation.h"

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "loader/device_source_parts.h"
#include "nn/torch/tensor.h"
#include "train/step/pass.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Phase;
using data::SplitPart;

// The features of all nodes, if the device has them in their own form; else undefined.
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

RankEvaluation::RankEvaluation(const Job& job, GroupShared& group, RankComm& comm,
                               const Replica& replica, const RankLoaders& loaders,
                               std::unique_ptr<PinnedCopies> copies)
    : job_(job),
      group_(group),
      comm_(comm),
      replica_(replica),
      loaders_(loaders),
      copies_(std::move(copies)) {}

nn::Metrics RankEvaluation::evaluate(SplitPart part, bool confusion) {
  if (comm_.spread()) confusion = agree(part, confusion);
  if (job_.split->part(part).empty()) {  // all ranks see this: their data are the same
    comm_.leave_together();
    fail_empty(job_, part);
  }
  const nn::Metrics metrics = measure(part, confusion);
  comm_.note(Phase::kIdle);
  return metrics;
}

bool RankEvaluation::agree(SplitPart part, bool confusion) {
  std::vector<int64_t> all = comm_.gather(static_cast<int64_t>(part) * 2 + confusion);
  for (int64_t& asked : all) {
    confusion |= asked % 2 == 1;
    asked /= 2;
  }
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    comm_.leave_together();
    throw base::Error(
        Status::kMismatch,
        base::text("evaluation: rank ", r, " is asked for the ",
                   part_name(static_cast<SplitPart>(all[r])), " part, rank 0 for the ",
                   part_name(static_cast<SplitPart>(all[0])), " part"),
        static_cast<int>(r));
  }
  return confusion;
}

nn::Metrics RankEvaluation::measure(SplitPart part, bool confusion) {
  const at::NoTF32Guard in_f32;  // training may hold the process's setting meanwhile
  comm_.note(Phase::kEvaluating);
  const Subject subject{replica_.evaluated(),
                        *job_.dataset,
                        job_.config.loss,
                        job_.split->part(part),
                        {.top_k = job_.config.top_k, .confusion = confusion}};
  const Participant participant = this->participant();
  // Graphs are not sampled: there is one way for them.
  if (job_.config.evaluation == EvaluationMode::kFull && !job_.dataset->of_graphs())
    return evaluate_full(subject, participant);
  return measure_sampled(subject, participant);
}

nn::Metrics RankEvaluation::measure_sampled(const Subject& subject,
                                            const Participant& participant) {
  loader::LoaderConfig config = loaders_.config();
  config.plan.batch_size = chunk();
  config.plan.batch_nodes = 0;
  config.plan.batches_per_step = 0;
  config.plan.partition = loader::Partition::kGlobal;
  config.plan.shuffle = config.plan.drop_last = false;
  config.purpose = base::Purpose::kEvaluationSample;
  set_loader(loaders_.make(subject.ids, config, host_calls_));
  comm_.note(Phase::kEvaluating, host_calls_);
  const base::HostQueue::Counting counting(host_calls_);
  const nn::Metrics metrics =
      evaluate_sampled(subject, participant, *loader_, [&](const loader::Batch& batch) {
        if (const nn::Device* device = subject.model.device()) receive(batch, *device);
        const PassInput input(job_, subject.model, batch, false);
        const at::Tensor rows = subject.model.forward(input.args());
        replica_.settle();
        return rows.cpu();
      });
  set_loader(nullptr);
  return metrics;
}

// Loaders are neither made nor destroyed under the lock that cancel() waits for: that may take as
// long as a device does.
void RankEvaluation::set_loader(std::unique_ptr<loader::Loader> next) {
  const std::lock_guard lock(mutex_);
  loader_.swap(next);
  if (loader_ && comm_.cancel().cancelled()) loader_->cancel();
}

void RankEvaluation::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  if (loader_) loader_->cancel();
}

base::Tensor RankEvaluation::embed() {
  comm_.note(Phase::kEvaluating);
  return train::embed(replica_.evaluated(), *job_.dataset, participant());
}

void RankEvaluation::embed_to_file(const std::string& path) {
  comm_.note(Phase::kEvaluating);
  train::embed_to_file(replica_.evaluated(), *job_.dataset, participant(), path);
}

// At most the number of samples, so that a chunk takes no more memory than they do.
int64_t RankEvaluation::chunk() const {
  return std::min(job_.config.eval_batch_size, std::max<int64_t>(job_.dataset->num_samples(), 1));
}

Participant RankEvaluation::participant() {
  const nn::Device* const device = replica_.model().device();
  return {.comm = comm_.get(),
          .wait = comm_.waits(),
          .rows = group_.rows,
          .cancel = group_.cancel,
          .storage = job_.environment.rows,
          .chunk = chunk(),
          .leaders = comm_.leaders(),
          .slice = comm_.slice(),
          .features =
              device ? features_there(*loaders_.source(), job_.store.get(), *device) : at::Tensor(),
          .copies = copies_.get(),
          .say = [this](const std::string& text) {
            // Once: the texts of a run's evaluations differ at most in the bound by free memory.
            if (std::exchange(told_, true)) return;
            job_.environment.log.add(base::LogLevel::kInfo, text);
          }};
}

}  // namespace gnnmg::train
