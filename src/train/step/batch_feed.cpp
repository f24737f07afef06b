#include "train/step/batch_feed.h"

#include <algorithm>

#include "device/wait.h"
#include "loader/keep_rows.h"

namespace gnnmg::train {
namespace {

loader::LoaderConfig training_config(const Job& job, const RankLoaders& loaders) {
  loader::LoaderConfig config = loaders.config();
  config.prepare = loader::keep_rows(job.dataset, config.plan, job.environment.log);
  return config;
}

}  // namespace

BatchFeed::BatchFeed(const Job& job, RankComm& comm, const RankLoaders& loaders,
                     const nn::Device* device)
    : job_(job),
      comm_(comm),
      device_(device),
      loader_(loaders.make(job.split->part(data::SplitPart::kTrain), training_config(job, loaders),
                           host_calls_)) {}

void BatchFeed::time_queue(int64_t most) {
  waits_ = std::make_unique<QueueWaits>(*device_->table, device_->index, device_->queue, most);
}

EpochSize BatchFeed::seek(const Position& position) {
  if (epoch_ != position.epoch || step_ != position.step) {
    // The loader is in the next epoch already while the last step of this one is trained on.
    const bool ended = position.step > 0 && position.step == size_.num_steps;
    if (ended && epoch_ == position.epoch + 1) return size_;
    loader_->start_epoch(static_cast<uint64_t>(position.epoch), position.step);
    epoch_ = position.epoch;
    step_ = position.step;
  }
  size_ = {loader_->plan().num_steps(), loader_->plan().num_batches()};
  return size_;
}

void BatchFeed::begin_step() {
  if (waits_) waits_->begin_step();
}

loader::BatchRef BatchFeed::next(StepSeconds& times, int64_t& bus_bytes) {
  const Clock::time_point asked = Clock::now();
  if (waits_) waits_->begin();
  loader::BatchRef batch = take();
  if (waits_) {
    if (!batch->empty()) receive(*batch, *device_);
    waits_->end();
  }
  times.wait_seconds += seconds_since(asked);
  times.sample_seconds += batch->sample_seconds;
  times.gather_seconds += batch->gather_seconds;
  if (batch->device) bus_bytes += batch->device->bus_bytes;
  return batch;
}

loader::BatchRef BatchFeed::take() {
  comm_.note(comm::Phase::kSampling, host_calls_);
  const base::HostQueue::Counting counting(host_calls_);
  while (true) {
    comm_.check_cancel();
    std::optional<loader::BatchRef> batch = loader_->next(base::Deadline::after_ms(200));
    if (!batch) continue;
    if (!*batch)
      base::fail(base::Status::kInternal, "the loader ended at step ", step_, " of ",
                 size_.num_steps);
    if ((*batch)->last_of_step && ++step_ == size_.num_steps &&
        epoch_ + 1 < job_.config.num_epochs) {
      loader_->start_epoch(static_cast<uint64_t>(++epoch_));
      step_ = 0;
    }
    return std::move(*batch);
  }
}

void BatchFeed::end_passes(StepSeconds& times) const {
  if (!waits_) return;
  const Clock::time_point given = Clock::now();
  device::wait_for(*device_->table, device_->index, device_->queue);
  times.compute_seconds += seconds_since(given);
  const std::optional<double> waited = waits_->seconds();
  if (!waited) return;
  const double both = times.wait_seconds + times.compute_seconds;
  times.wait_seconds = std::min(*waited, both);
  times.compute_seconds = both - times.wait_seconds;
}

}  // namespace gnnmg::train
