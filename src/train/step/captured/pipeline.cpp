#include "train/step/captured/pipeline.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <new>
#include <ranges>
#include <thread>

#include "base/device_wait.h"
#include "base/kernel_gate.h"
#include "nn/fixed_shape.h"

namespace gnnmg::train {

using base::Placement;
using Ahead = CapturedTimes::Ahead;
using Part = CapturedTimes::Part;

namespace {

// Number of mini-batches that decide the shapes of passes.
constexpr int64_t kLookedAt = 8;

constexpr int64_t place_of(size_t offset) { return static_cast<int64_t>(offset / sizeof(double)); }
constexpr int64_t kLoss = place_of(offsetof(StepNumbers, loss));  // `correct` follows
constexpr int64_t kBadStepsAt = place_of(offsetof(StepNumbers, bad_steps));
static_assert(kStepNumbersOfHost == kLoss);

int64_t most_seeds(const Job& job, const loader::LoaderConfig& loading) {
  return std::min<int64_t>(loading.plan.batch_size,
                           static_cast<int64_t>(job.split->part(data::SplitPart::kTrain).size()));
}

}  // namespace

std::string CapturedPipeline::why_not(const Job& job, const nn::Model& model,
                                      const loader::DeviceSource& source, comm::Collectives& comm) {
  if (job.dataset->of_graphs()) return "mini-batches of graphs differ in shape";
  if (std::string why = nn::why_not_of_one_shape(model.config()); !why.empty()) return why;
  if (job.config.deterministic) return "deterministic training exchanges mini-batch by mini-batch";
  const auto law = job.sampler->neighbors();
  if (!law) return "a device has no such sampler";
  if (source.graph() == loader::GraphPlacement::kHost) return "the host samples";
  if (law->config->draw != sample::Draw::kUniform)
    return "fan-outs of LABOR are means and no bounds";
  for (const int64_t fanout : law->config->fanouts)
    if (fanout < 0) return "a fan-out of -1 has no bound";
  if (!law->config->transpose) return "the sampler makes no lists by source";
  if (source.features() == loader::FeaturePlacement::kHost)
    return "the host gathers the rows of features";
  if (comm.world_size() > 1 && comm.queued() == nullptr)
    return "the ranks exchange through the host";
  return {};
}

CapturedPipeline::CapturedPipeline(Parts parts)
    : parts_(std::move(parts)),
      device_(*parts_.model.device()),
      table_(*device_.table),
      updates_(*parts_.optimizer.queued()),
      max_seeds_(most_seeds(parts_.job, parts_.loading)),
      sampling_(table_, device_.index),
      gathering_(table_, device_.index, parts_.source->parts().gather_multiprocessors),
      staging_(table_, device_.index, Placement::kPinned) {
  for (base::Mark& mark : copied_) mark = base::make_mark(table_, device_.index);
  for (base::Mark& mark : done_) mark = base::make_mark(table_, device_.index);
}

CapturedPipeline::~CapturedPipeline() {
  try {
    comm::Wait wait;
    wait.deadline = base::Deadline::after_ms(1000);
    if (in_flight() > 0 && !alone()) await(device_.queue, wait);  // ends the exchange
  } catch (const std::exception&) {
  }
  for (base::DeviceQueue* queue : {sampling_.get(), gathering_.get(), device_.queue})
    base::wait_to_free(table_, device_.index, queue);
}

StepNumbers* CapturedPipeline::numbers() {
  return reinterpret_cast<StepNumbers*>(numbers_.mutable_data_ptr<double>());
}

void* CapturedPipeline::packed() {
  const int64_t count = parts_.model.flat_gradients().numel();
  return buffer_.narrow(0, count, kStepNumbersPacked).mutable_data_ptr();
}

void CapturedPipeline::warm_up() {
  const base::MemoryCall call;  // libraries and loaded kernels take memory, too
  const c10::AutoGradMode grad(true);
  const at::Tensor flat = parts_.model.flat_parameters().detach();
  const at::TensorOptions doubles = flat.options().dtype(at::kDouble);
  new (staging_.reserve(2 * sizeof(Staged))) Staged[2];
  numbers_ = at::zeros({static_cast<int64_t>(sizeof(StepNumbers) / sizeof(double))}, doubles);
  if (!alone() || by_rank())
    buffer_ = at::zeros({flat.numel() + kStepNumbersPacked}, flat.options());
  if (parts_.leads) {
    good_ = flat.clone();
    for (auto& kept : before_)
      for (const at::Tensor& array : updates_.arrays()) kept.push_back(at::empty_like(array));
  }
  updates_.begin();
  const std::shared_ptr<const loader::EpochPlan> plan = make_plan(0);
  times_ = std::make_unique<CapturedTimes>(table_, device_.index, device_.queue,
                                           std::max<int64_t>(plan->num_own(0), 1), kAhead);

  const CapturedParts shared{
      parts_.job,       parts_.model, parts_.source->parts(),      sampling_.get(),
      gathering_.get(), max_seeds_,   numbers_.narrow(0, kLoss, 2)};
  const auto work = [&](base::DeviceQueue* queue, std::function<void()> put) {
    return std::make_unique<CapturedWork>(table_, queue, std::move(put));
  };
  begin_ = work(device_.queue, [this] { put_begin(); });
  last_ = work(device_.queue, [this] { put_last(); });
  empty_ = work(device_.queue, [this] {
    put_begin();
    put_last();
  });
  end_ = work(device_.queue, [this] { put_end(); });
  for (size_t i = 0; i < kAhead; ++i) {
    auto made = std::make_unique<CapturedSlot>(shared);
    CapturedSlot* const slot = made.get();
    if (shapes_.empty()) choose_shapes(*slot, *plan);
    write(*slot, *plan, 0);  // all shapes hold this mini-batch
    slot->put_sample();
    slot->reserve_rows();
    samples_.push_back(work(sampling_.get(), [this, slot] {
      slot->put_sample();
      if (shapes_.size() > 1) slot->put_counts();
    }));
    if (slot->gathers()) {
      table_.wait(gathering_.get(), sampling_.get());
      slot->put_gather();
      gathers_.push_back(work(gathering_.get(), [slot] { slot->put_gather(); }));
      table_.wait(device_.queue, gathering_.get());
    }
    table_.wait(device_.queue, sampling_.get());
    for (const PassShape& shape : std::views::reverse(shapes_)) {
      if (i == 0 || &shape == &shapes_.back()) {  // slots differ in nothing that a shape takes
        put_begin();
        slot->put_pass(shape);
      }
      passes_.push_back(work(device_.queue, [this, slot, &shape] {
        if (merged()) put_begin();
        slot->put_pass(shape);
        if (merged()) put_last();
      }));
    }
    slots_.push_back(std::move(made));
  }
  settle();
}

std::string CapturedPipeline::capture() {
  const c10::AutoGradMode grad(true);
  std::vector<CapturedWork*> all;
  for (const auto* list : {&samples_, &gathers_, &passes_})
    for (const auto& each : *list) all.push_back(each.get());
  if (!merged()) all.insert(all.end(), {begin_.get(), last_.get()});
  if (!alone()) all.insert(all.end(), {empty_.get(), end_.get()});
  for (CapturedWork* each : all)
    if (std::string why = each->capture(); !why.empty()) return why;
  return {};
}

void CapturedPipeline::fill_cache() {
  const c10::AutoGradMode grad(true);
  for (const PassShape& shape : std::views::reverse(shapes_)) {
    put_begin();
    slots_.front()->put_pass(shape);
  }
  settle();
}

// Changes no weight, because the computed passes have the weight 0.
void CapturedPipeline::settle() {
  put_begin();
  put_last();
  if (!alone()) put_end();
  base::wait_for(table_, device_.index, device_.queue);
  set_bad_steps(static_cast<double>(parts_.bad_steps));
}

void CapturedPipeline::write(CapturedSlot& slot, const loader::EpochPlan& plan, int64_t number) {
  const auto batch = static_cast<uint64_t>(number);
  slot.write(plan.batch(number),
             {parts_.loading.sample_seed, parts_.loading.purpose, plan.epoch(), batch},
             {parts_.job.config.seed, plan.epoch(), batch});
}

// The first mini-batches of the first epoch decide, on all ranks and also for a resumed training.
void CapturedPipeline::choose_shapes(CapturedSlot& slot, const loader::EpochPlan& plan) {
  PassShape most;
  for (int64_t number = 0; number < std::clamp<int64_t>(plan.num_batches(), 1, kLookedAt);
       ++number) {
    write(slot, plan, number);
    slot.put_sample();
    slot.put_counts();
    base::wait_for(table_, device_.index, sampling_.get());
    most.include(slot.counts());
  }
  shapes_ = train::choose_shapes(most, slot.bound());
}

void CapturedPipeline::put_begin() {
  const c10::NoGradGuard no_grad;
  parts_.model.flat_gradients().zero_();
  numbers_.narrow(0, kLoss, 2).zero_();
}

// The rank's part of the exchange; for a single rank, the end of the step.
void CapturedPipeline::put_last() {
  const c10::NoGradGuard no_grad;
  const at::Tensor gradients = parts_.model.flat_gradients();
  if (buffer_.defined()) updates_.pack(numbers(), packed());
  if (by_rank()) updates_.scale();
  if (alone()) return put_end();
  buffer_.narrow(0, 0, gradients.numel()).copy_(gradients);
}

void CapturedPipeline::put_end() {
  const c10::NoGradGuard no_grad;
  at::Tensor gradients = parts_.model.flat_gradients();
  if (!alone()) gradients.copy_(buffer_.narrow(0, 0, gradients.numel()));
  updates_.total(numbers(), alone() ? nullptr : packed());
  updates_.scale();
  updates_.judge(numbers());
  if (parts_.leads) updates_.keep(numbers(), good_.mutable_data_ptr());
  updates_.update();
}

std::shared_ptr<const loader::EpochPlan> CapturedPipeline::make_plan(int64_t epoch) const {
  return std::make_shared<const loader::EpochPlan>(parts_.job.split->part(data::SplitPart::kTrain),
                                                   parts_.loading.plan,
                                                   static_cast<uint64_t>(epoch));
}

const loader::EpochPlan& CapturedPipeline::seek(int64_t epoch, int64_t step) {
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
  window_.clear();  // its samples are overwritten once nothing reads them
  table_.wait(sampling_.get(), gathering_.get());
  table_.wait(sampling_.get(), device_.queue);
  sampled_ = gathered_ = next_place_;
  window_.push_back({plan_, loader::first_item(*plan_, step, next_place_++)});
  return *plan_;
}

// Fills the window, with the next epoch too, so that the queues have work in between.
void CapturedPipeline::fill() {
  while (window_.size() < kAhead) {
    auto [plan, last] = window_.back();
    loader::Item item = loader::item_behind(*plan, last);
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
void CapturedPipeline::sample_through(size_t count, const Waiting& wait) {
  for (size_t i = 0; i < std::min(count, window_.size()); ++i) {
    const auto& [plan, item] = window_[i];
    if (item.place < sampled_) continue;
    sampled_ = item.place + 1;
    if (item.number < 0) continue;
    const size_t at = static_cast<size_t>(item.place) % kAhead;
    const base::Mark& copied = copied_[at];
    if (!table_.reached(copied.get())) await(copied, wait());  // the slot's last input is read
    write(*slots_[at], *plan, item.number);
    times_->run(Ahead::kSample, item.place, sampling_.get(), *samples_[at]);
    table_.mark(sampling_.get(), copied.get());
  }
}

void CapturedPipeline::gather_through(size_t count) {
  for (size_t i = 0; i < std::min(count, window_.size()); ++i) {
    const loader::Item& item = window_[i].item;
    if (item.place < gathered_) continue;
    gathered_ = item.place + 1;
    if (item.number < 0 || gathers_.empty()) continue;
    const size_t at = static_cast<size_t>(item.place) % kAhead;
    table_.wait_mark(gathering_.get(), copied_[at].get());
    times_->run(Ahead::kGather, item.place, gathering_.get(), *gathers_[at]);
  }
}

// The smallest shape for the mini-batch of a slot. The sample's counts are on the host already if
// sampling is faster than training.
size_t CapturedPipeline::shape_of(size_t at, const Waiting& wait) {
  if (shapes_.size() == 1) return 0;
  const base::Mark& copied = copied_[at];
  if (!table_.reached(copied.get())) await(copied, wait());
  return smallest_for(shapes_, slots_[at]->counts());
}

void CapturedPipeline::start(const Wanted& wanted, const Waiting& wait) {
  const c10::AutoGradMode grad(true);
  Staged& staged = staged_of(started_);
  StepNumbers& numbers = staged.wanted = {};
  numbers.stop = wanted.stop ? 1 : 0;
  numbers.write_failed = wanted.write_failed ? 1 : 0;
  numbers.share = by_rank() ? 1.0 / parts_.comm.world_size() : 0;
  numbers.learning_rate = wanted.learning_rate;
  numbers.clip_norm = parts_.job.config.clip_norm;
  times_->begin(started_);
  if (parts_.leads) {
    const std::vector<at::Tensor> arrays = updates_.arrays();
    for (size_t i = 0; i < arrays.size(); ++i)
      table_.copy(device_.queue, before_[started_ % 2][i].mutable_data_ptr(),
                  arrays[i].const_data_ptr(), static_cast<int64_t>(arrays[i].nbytes()));
  }
  ++started_;
  if (!merged()) begin_->run();
  times_->end_part(Part::kCompute);
  for (bool last = false; !last;) last = pass(staged, wait);
  if (!alone()) {
    times_->end_part(Part::kRest);
    const bool wide = buffer_.scalar_type() == at::kDouble;
    parts_.comm.queued()->all_reduce(
        {buffer_.data_ptr(), wide ? base::DType::kF64 : base::DType::kF32, {buffer_.numel()}},
        comm::ReduceOp::kSum, device_.queue, wait());
    times_->end_part(Part::kReduce);
    end_->run();
    fetch(staged);
    times_->end_part(Part::kUpdate);
  }
  table_.mark(device_.queue, done_[(started_ - 1) % 2].get());
}

// Starts the pass of the step's next mini-batch, and samples and gathers the following ones. True
// for the last one of the step.
bool CapturedPipeline::pass(Staged& staged, const Waiting& wait) {
  fill();
  sample_through(1, wait);
  gather_through(1);
  const loader::Item item = window_.front().item;
  const size_t at = static_cast<size_t>(item.place) % kAhead;
  times_->end_part(Part::kRest);
  const size_t shape = item.number >= 0 ? shape_of(at, wait) : 0;
  table_.wait_mark(device_.queue, copied_[at].get());
  table_.wait(device_.queue, gathering_.get());
  times_->end_part(Part::kWait);
  // The next sample reuses the buffers that the previous pass reads: wait for that pass.
  table_.wait(sampling_.get(), device_.queue);
  if (item.number >= 0) {
    staged.wanted.weight += slots_[at]->weight();
    staged.wanted.labelled += static_cast<double>(slots_[at]->labelled());
    staged.wanted.seeds += static_cast<double>(window_.front().plan->batch(item.number).size());
    times_->trains_on(item.place, slots_[at]->bytes());
  }
  if (item.last_of_step && merged()) send(staged);
  if (item.number >= 0) {
    passes_[(at + 1) * shapes_.size() - 1 - shape]->run();
    ++num_passes_[shape];
  } else if (merged()) {
    empty_->run();
  }
  if (item.last_of_step && merged() && alone()) fetch(staged);
  times_->end_part(Part::kCompute);
  if (item.last_of_step && !merged()) {
    send(staged);
    last_->run();
    if (alone()) fetch(staged);
    times_->end_part(alone() ? Part::kUpdate : Part::kCompute);
  }
  window_.pop_front();
  // Only after the pass: a device has few hardware queues, also for loaders and exchanges, and work
  // that shares one begins in the order in which this thread starts it.
  sample_through(1, wait);
  gather_through(1);
  sample_through(2, wait);
  return item.last_of_step;
}

void CapturedPipeline::send(Staged& staged) {
  if (by_rank() && staged.wanted.weight > 0) staged.wanted.own_share = 1 / staged.wanted.weight;
  table_.copy(device_.queue, numbers(), &staged.wanted, kStepNumbersOfHost * sizeof(double));
}

// Copies the step's result to the host.
void CapturedPipeline::fetch(Staged& staged) {
  table_.copy(device_.queue, &staged.found, numbers(), sizeof staged.found);
  table_.copy(device_.queue, &staged.updates, updates_.numbers(), sizeof staged.updates);
}

bool CapturedPipeline::read(StepResult& result, const comm::Wait& wait) {
  await(done_[read_ % 2], wait);
  const StepNumbers& found = staged_of(read_).found;
  StepSums& sums = result.sums;
  sums.loss = found.all_loss;
  sums.weight = found.all_weight;
  sums.correct = std::llround(found.all_correct);
  sums.labelled = std::llround(found.all_labelled);
  sums.seeds = std::llround(found.all_seeds);
  sums.stop = found.any_stop > 0;
  sums.write_failed = found.any_write_failed > 0;
  sums.bad = found.good == 0;
  result.learning_rate = found.learning_rate;
  result.bus_bytes = times_->bytes(read_);
  return times_->add(read_, result.times);
}

void CapturedPipeline::take() { updates_.note(staged_of(read_++).updates); }

// Error if an exchange hangs or has lost a rank.
void CapturedPipeline::await(const std::function<bool()>& over, const comm::Wait& wait) {
  if (!alone()) return parts_.comm.queued()->await(over, wait);
  for (int turn = 0; !over(); ++turn) {
    wait.cancel.check("training");
    if (wait.deadline.passed() && !over())
      base::fail(base::Status::kTimeout, "GPU ", device_.index,
                 " has not come to the end of a step within ",
                 static_cast<double>(parts_.job.config.deadline_ms) / 1000, " s");
    if (turn < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void CapturedPipeline::await(base::DeviceQueue* queue, const comm::Wait& wait) {
  await([&] { return table_.finished(queue); }, wait);
}

void CapturedPipeline::await(const base::Mark& mark, const comm::Wait& wait) {
  await([&] { return table_.reached(mark.get()); }, wait);
}

// Waits for the device, also after a failed exchange: a device leaves a canceled one soon.
void CapturedPipeline::drain(const comm::Wait& wait) {
  try {
    await(device_.queue, wait);
    return;
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kDeviceLost) throw;
  }
  if (!base::comes_to_rest(table_, device_.queue,
                           base::time_to_rest(parts_.job.config.deadline_ms)))
    base::fail(base::Status::kTimeout, "the device is still at a step that was called off");
}

void CapturedPipeline::call_off(const comm::Wait& wait) {
  if (in_flight() > 0) drain(wait);
}

void CapturedPipeline::roll_back(const comm::Wait& wait) {
  if (in_flight() == 0) return;
  drain(wait);
  started_ = read_;
  const std::vector<at::Tensor> arrays = updates_.arrays();
  for (size_t i = 0; i < arrays.size(); ++i) copy_into(arrays[i], before_[read_ % 2][i]);
}

void CapturedPipeline::look_back(const std::function<void()>& look, const comm::Wait& wait) {
  const std::vector<at::Tensor> arrays = updates_.arrays();
  const bool ahead = in_flight() > 0;
  if (ahead) {
    await(device_.queue, wait);  // reading weights waits, and cannot be canceled
    for (size_t i = 0; i < arrays.size(); ++i) {
      copy_into(before_[2][i], arrays[i]);
      copy_into(arrays[i], before_[read_ % 2][i]);
    }
  }
  look();
  if (ahead)
    for (size_t i = 0; i < arrays.size(); ++i) copy_into(arrays[i], before_[2][i]);
}

void CapturedPipeline::restore_good(const comm::Wait& wait) {
  drain(wait);
  started_ = read_;
  set_bad_steps(0);
  if (parts_.leads) copy_into(parts_.model.flat_parameters().detach(), good_);
}

void CapturedPipeline::follow_weights() {
  if (warm() && parts_.leads) copy_into(good_, parts_.model.flat_parameters().detach());
}

void CapturedPipeline::copy_into(const at::Tensor& to, const at::Tensor& from) {
  table_.copy(device_.queue, to.mutable_data_ptr(), from.const_data_ptr(),
              static_cast<int64_t>(to.nbytes()));
}

void CapturedPipeline::set_bad_steps(double count) {
  const c10::NoGradGuard no_grad;
  numbers_[kBadStepsAt].fill_(count);
}

}  // namespace gnnmg::train
