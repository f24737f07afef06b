#include "train/step/captured/pipeline.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <ranges>

#include "device/launch_order.h"
#include "device/wait.h"
#include "nn/config/fixed_shape.h"

namespace gnnmg::train {

using Part = CapturedTimes::Part;

namespace {

constexpr int64_t place_of(size_t offset) { return static_cast<int64_t>(offset / sizeof(double)); }
constexpr int64_t kLoss = place_of(offsetof(StepNumbers, loss));  // `correct` follows
constexpr int64_t kBadStepsAt = place_of(offsetof(StepNumbers, bad_steps));
static_assert(kStepNumbersOfHost == kLoss);

}  // namespace

std::string CapturedPipeline::why_not(const Job& job, const nn::Model& model,
                                      const loader::DeviceSource& source, comm::Collectives& comm) {
  if (job.dataset->of_graphs()) return "mini-batches of graphs differ in shape";
  if (std::string why = nn::why_not_of_one_shape(model.config()); !why.empty()) return why;
  if (job.config.deterministic) return "deterministic training exchanges mini-batch by mini-batch";
  if (job.config.average == Average::kEma) return "average=ema takes the weights of each step";
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
      wait_(parts_.comm, device_, parts_.job.config.deadline_ms),
      ring_({parts_.job, parts_.model, parts_.source, parts_.loading}, wait_),
      staging_(table_, device_.index, device::Placement::kPinned) {
  for (device::OwnedEvent& mark : done_) mark = device::make_owned_event(table_, device_.index);
}

CapturedPipeline::~CapturedPipeline() {
  try {
    comm::Wait wait;
    wait.deadline = base::Deadline::after_ms(1000);
    if (in_flight() > 0 && !alone()) wait_.for_queue(device_.queue, wait);  // ends the exchange
  } catch (const std::exception&) {  // wait_to_free() quarantines the device
  }
  ring_.wait_to_free();
  device::wait_to_free(table_, device_.index, device_.queue);
}

StepNumbers* CapturedPipeline::numbers() {
  return reinterpret_cast<StepNumbers*>(numbers_.mutable_data_ptr<double>());
}

void* CapturedPipeline::packed() {
  const int64_t count = parts_.model.flat_gradients().numel();
  return buffer_.narrow(0, count, kStepNumbersPacked).mutable_data_ptr();
}

void CapturedPipeline::warm_up() {
  const device::MemoryCall call;  // libraries and loaded kernels take memory, too
  const c10::AutoGradMode grad(true);
  reserve();
  updates_.begin();
  const std::shared_ptr<const loader::EpochPlan> plan = ring_.make_plan(0);
  times_ =
      std::make_unique<CapturedTimes>(table_, device_.index, device_.queue,
                                      std::max<int64_t>(plan->num_own(0), 1), CapturedRing::kAhead);
  make_work();
  ring_.warm_up(*plan, numbers_.narrow(0, kLoss, 2), *times_);
  for (size_t at = 0; at < CapturedRing::kAhead; ++at) warm_up_slot(at);
  settle();
}

void CapturedPipeline::reserve() {
  const at::Tensor flat = parts_.model.flat_parameters().detach();
  new (staging_.reserve(2 * sizeof(Staged))) Staged[2];
  numbers_ = at::zeros({static_cast<int64_t>(sizeof(StepNumbers) / sizeof(double))},
                       flat.options().dtype(at::kDouble));
  if (!alone() || by_rank())
    buffer_ =
        at::zeros({parts_.model.flat_gradients().numel() + kStepNumbersPacked}, flat.options());
  if (parts_.leads) history_ = std::make_unique<StepHistory>(parts_.model, updates_);
}

void CapturedPipeline::make_work() {
  const auto work = [&](std::function<void()> put) {
    return std::make_unique<CapturedWork>(table_, device_.queue, std::move(put));
  };
  begin_ = work([this] { put_begin(); });
  last_ = work([this] { put_last(); });
  empty_ = work([this] {
    put_begin();
    put_last();
  });
  end_ = work([this] { put_end(); });
}

void CapturedPipeline::warm_up_slot(size_t at) {
  CapturedSlot* const slot = &ring_.slot(at);
  for (const PassShape& shape : std::views::reverse(shapes())) {
    if (at == 0 || &shape == &shapes().back()) {  // other slots would load nothing new
      put_begin();
      slot->put_pass(shape);
    }
    passes_.push_back(std::make_unique<CapturedWork>(table_, device_.queue, [this, slot, &shape] {
      if (merged()) put_begin();
      slot->put_pass(shape);
      if (merged()) put_last();
    }));
  }
}

std::string CapturedPipeline::capture() {
  const c10::AutoGradMode grad(true);
  std::vector<CapturedWork*> all;
  ring_.add_work(all);
  for (const auto& each : passes_) all.push_back(each.get());
  if (!merged()) all.insert(all.end(), {begin_.get(), last_.get()});
  if (!alone()) all.insert(all.end(), {empty_.get(), end_.get()});
  for (CapturedWork* each : all)
    if (std::string why = each->capture(); !why.empty()) return why;
  return {};
}

void CapturedPipeline::fill_cache() {
  const c10::AutoGradMode grad(true);
  for (const PassShape& shape : std::views::reverse(shapes())) {
    put_begin();
    ring_.slot(0).put_pass(shape);
  }
  settle();
}

// Changes no weight, because the computed passes have the weight 0.
void CapturedPipeline::settle() {
  put_begin();
  put_last();
  if (!alone()) put_end();
  device::wait_for(table_, device_.index, device_.queue);
  set_bad_steps(static_cast<double>(parts_.bad_steps));
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
  if (history_) updates_.keep(numbers(), history_->good());
  updates_.update();
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
  if (history_) history_->keep(started_);
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
  table_.record(device_.queue, done_[(started_ - 1) % 2].get());
}

// Starts the pass of the step's next mini-batch, and samples and gathers the following ones. True
// for the last one of the step.
bool CapturedPipeline::pass(Staged& staged, const Waiting& wait) {
  ring_.begin_next(wait);
  const loader::Item item = ring_.next();
  times_->end_part(Part::kRest);
  const size_t shape = item.number >= 0 ? ring_.shape_of_next(wait) : 0;
  ring_.hold_model_queue();
  times_->end_part(Part::kWait);
  ring_.hold_samples();
  if (item.number >= 0) count(staged);
  if (item.last_of_step && merged()) send(staged);
  run_pass(item, shape);
  if (item.last_of_step && merged() && alone()) fetch(staged);
  times_->end_part(Part::kCompute);
  if (item.last_of_step && !merged()) {
    send(staged);
    last_->run();
    if (alone()) fetch(staged);
    times_->end_part(alone() ? Part::kUpdate : Part::kCompute);
  }
  ring_.advance(wait);
  return item.last_of_step;
}

// Adds the figures of the next mini-batch.
void CapturedPipeline::count(Staged& staged) {
  const loader::Item& item = ring_.next();
  const CapturedSlot& slot = ring_.slot(CapturedRing::slot_of(item));
  staged.wanted.weight += slot.weight();
  staged.wanted.labeled += static_cast<double>(slot.labeled());
  staged.wanted.seeds += static_cast<double>(ring_.num_seeds());
  times_->trains_on(item.place, slot.bytes());
}

void CapturedPipeline::run_pass(const loader::Item& item, size_t shape) {
  if (item.number >= 0) {
    const size_t slots_end = (CapturedRing::slot_of(item) + 1) * shapes().size();
    passes_[slots_end - 1 - shape]->run();
    ++num_passes_[shape];
  } else if (merged()) {
    empty_->run();
  }
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
  wait_.for_event(done_[read_ % 2], wait);
  const StepNumbers& found = staged_of(read_).found;
  StepSums& sums = result.sums;
  sums.loss = found.all_loss;
  sums.weight = found.all_weight;
  sums.correct = std::llround(found.all_correct);
  sums.labeled = std::llround(found.all_labeled);
  sums.seeds = std::llround(found.all_seeds);
  sums.stop = found.any_stop > 0;
  sums.write_failed = found.any_write_failed > 0;
  sums.bad = found.good == 0;
  result.learning_rate = found.learning_rate;
  result.bus_bytes = times_->bytes(read_);
  return times_->add(read_, result.times);
}

void CapturedPipeline::take() { updates_.note(staged_of(read_++).updates); }

void CapturedPipeline::call_off(const comm::Wait& wait) {
  if (in_flight() > 0) wait_.drain(wait);
}

void CapturedPipeline::roll_back(const comm::Wait& wait) {
  if (in_flight() == 0) return;
  wait_.drain(wait);
  started_ = read_;
  history_->restore(read_);
}

void CapturedPipeline::look_back(const std::function<void()>& look, const comm::Wait& wait) {
  if (in_flight() == 0) return look();
  wait_.for_queue(device_.queue, wait);  // reading weights waits, and cannot be canceled
  history_->look_back(read_, look);
}

void CapturedPipeline::restore_good(const comm::Wait& wait) {
  wait_.drain(wait);
  started_ = read_;
  set_bad_steps(0);
  if (history_) history_->restore_good();
}

void CapturedPipeline::follow_weights() {
  if (history_) history_->follow_weights();
}

void CapturedPipeline::set_bad_steps(double count) {
  const c10::NoGradGuard no_grad;
  numbers_[kBadStepsAt].fill_(count);
}

}  // namespace gnnmg::train
