#include "train/step/captured/ring.h"

#include <algorithm>

#include "device/wait.h"

namespace gnnmg::train {
namespace {

using Ahead = CapturedTimes::Ahead;

// Number of mini-batches that decide the shapes of passes.
constexpr int64_t kLookedAt = 8;

int64_t most_seeds(const Job& job, const loader::LoaderConfig& loading) {
  return std::min<int64_t>(loading.plan.batch_size,
                           static_cast<int64_t>(job.split->part(data::SplitPart::kTrain).size()));
}

}  // namespace

CapturedRing::CapturedRing(Parts parts, const StepWait& wait)
    : parts_(std::move(parts)),
      wait_(wait),
      device_(*parts_.model.device()),
      table_(*device_.table),
      sampling_(table_, device_.index),
      gathering_(table_, device_.index, parts_.source->parts().gather_multiprocessors) {
  for (device::OwnedEvent& mark : copied_) mark = device::make_owned_event(table_, device_.index);
}

void CapturedRing::warm_up(const loader::EpochPlan& plan, const at::Tensor& counts,
                           CapturedTimes& times) {
  times_ = &times;
  const CapturedParts shared{
      parts_.job,      parts_.model,     parts_.source->parts(),
      sampling_.get(), gathering_.get(), most_seeds(parts_.job, parts_.loading),
      counts};
  for (size_t i = 0; i < kAhead; ++i) {
    auto made = std::make_unique<CapturedSlot>(shared);
    CapturedSlot* const slot = made.get();
    if (shapes_.empty()) choose_shapes(*slot, plan);
    write(*slot, plan, 0);  // all shapes hold this mini-batch
    slot->put_sample();
    slot->reserve_rows();
    samples_.push_back(std::make_unique<CapturedWork>(table_, sampling_.get(), [this, slot] {
      slot->put_sample();
      if (shapes_.size() > 1) slot->put_counts();
    }));
    slots_.push_back(std::move(made));
    if (!slot->gathers()) continue;
    table_.wait(gathering_.get(), sampling_.get());
    slot->put_gather();
    gathers_.push_back(
        std::make_unique<CapturedWork>(table_, gathering_.get(), [slot] { slot->put_gather(); }));
  }
  table_.wait(device_.queue, gathering_.get());
  table_.wait(device_.queue, sampling_.get());
}

void CapturedRing::wait_to_free() const {
  for (device::Queue* queue : {sampling_.get(), gathering_.get()})
    device::wait_to_free(table_, device_.index, queue);
}

void CapturedRing::add_work(std::vector<CapturedWork*>& all) const {
  for (const auto* list : {&samples_, &gathers_})
    for (const auto& each : *list) all.push_back(each.get());
}

void CapturedRing::write(CapturedSlot& slot, const loader::EpochPlan& plan, int64_t number) {
  const auto batch = static_cast<uint64_t>(number);
  slot.write(plan.batch(number),
             {parts_.loading.sample_seed, parts_.loading.purpose, plan.epoch(), batch},
             {parts_.job.config.seed, plan.epoch(), batch});
}

// The first mini-batches of the first epoch decide, on all ranks and also for a resumed training.
void CapturedRing::choose_shapes(CapturedSlot& slot, const loader::EpochPlan& plan) {
  PassShape most;
  for (int64_t number = 0; number < std::clamp<int64_t>(plan.num_batches(), 1, kLookedAt);
       ++number) {
    write(slot, plan, number);
    slot.put_sample();
    slot.put_counts();
    device::wait_for(table_, device_.index, sampling_.get());
    most.include(slot.counts());
  }
  shapes_ = train::choose_shapes(most, slot.bound());
}

std::shared_ptr<const loader::EpochPlan> CapturedRing::make_plan(int64_t epoch) const {
  return std::make_shared<const loader::EpochPlan>(parts_.job.split->part(data::SplitPart::kTrain),
                                                   parts_.loading.plan,
                                                   static_cast<uint64_t>(epoch));
}

const loader::EpochPlan& CapturedRing::seek(int64_t epoch, int64_t step) {
  const auto number = static_cast<uint64_t>(epoch);
  if (!plan_ || plan_->epoch() != number) {
    const auto found = std::ranges::find_if(
        window_, [&](const Upcoming& next) { return next.plan->epoch() == number; });
    plan_ = found != window_.end() ? found->plan : make_plan(epoch);
  }
  if (step >= plan_->num_steps()) return *plan_;
  if (!window_.empty()) {
    const auto& [plan, item] = window_.front();
    if (plan == plan_ && item.step == step && item.index == 0) return *plan_;
  }
  window_.clear();  // the samples in it are overwritten once nothing reads them
  table_.wait(sampling_.get(), gathering_.get());
  hold_samples();
  sampled_ = gathered_ = next_place_;
  window_.push_back({plan_, loader::first_item(*plan_, step, next_place_++)});
  return *plan_;
}

// Fills the window, with the next epoch too, so that the queues have work in between.
void CapturedRing::fill() {
  while (window_.size() < kAhead) {
    auto [plan, last] = window_.back();
    loader::Item item = loader::item_after(*plan, last);
    if (item.step >= plan->num_steps()) {
      const auto epoch = static_cast<int64_t>(plan->epoch()) + 1;
      if (epoch >= parts_.job.config.num_epochs) return;
      plan = make_plan(epoch);
      item = loader::first_item(*plan, 0, item.place);
    }
    window_.push_back({std::move(plan), item});
    next_place_ = item.place + 1;
  }
}

// Samples the first `count` of the window. The last pass of each slot is in the model's queue
// already: the pass that is started next has another slot.
void CapturedRing::sample_through(size_t count, const Waiting& wait) {
  for (size_t i = 0; i < std::min(count, window_.size()); ++i) {
    const auto& [plan, item] = window_[i];
    if (item.place < sampled_) continue;
    sampled_ = item.place + 1;
    if (item.number < 0) continue;
    const size_t at = slot_of(item);
    const device::OwnedEvent& copied = copied_[at];
    // The slot's last input must be read.
    if (!table_.reached(copied.get())) wait_.for_event(copied, wait());
    write(*slots_[at], *plan, item.number);
    times_->run(Ahead::kSample, item.place, sampling_.get(), *samples_[at]);
    table_.record(sampling_.get(), copied.get());
  }
}

void CapturedRing::gather_through(size_t count) {
  for (size_t i = 0; i < std::min(count, window_.size()); ++i) {
    const loader::Item& item = window_[i].item;
    if (item.place < gathered_) continue;
    gathered_ = item.place + 1;
    if (item.number < 0 || gathers_.empty()) continue;
    const size_t at = slot_of(item);
    table_.wait_event(gathering_.get(), copied_[at].get());
    times_->run(Ahead::kGather, item.place, gathering_.get(), *gathers_[at]);
  }
}

void CapturedRing::begin_next(const Waiting& wait) {
  fill();
  sample_through(1, wait);
  gather_through(1);
}

int64_t CapturedRing::num_seeds() const {
  return static_cast<int64_t>(window_.front().plan->batch(next().number).size());
}

size_t CapturedRing::shape_of_next(const Waiting& wait) {
  if (shapes_.size() == 1) return 0;
  const size_t at = slot_of(next());
  const device::OwnedEvent& copied = copied_[at];
  if (!table_.reached(copied.get())) wait_.for_event(copied, wait());
  return smallest_for(shapes_, slots_[at]->counts());
}

void CapturedRing::hold_model_queue() const {
  table_.wait_event(device_.queue, copied_[slot_of(next())].get());
  table_.wait(device_.queue, gathering_.get());
}

void CapturedRing::hold_samples() const { table_.wait(sampling_.get(), device_.queue); }

// Only after the pass: a device has few hardware queues, also for loaders and exchanges, and work
// that shares one begins in the order in which this thread starts it.
void CapturedRing::advance(const Waiting& wait) {
  window_.pop_front();
  sample_through(1, wait);
  gather_through(1);
  sample_through(2, wait);
}

}  // namespace gnnmg::train
