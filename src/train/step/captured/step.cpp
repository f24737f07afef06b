#include "train/step/captured/step.h"

#include <c10/util/Exception.h>

#include "nn/torch/failure.h"

namespace gnnmg::train {

using base::Status;
using comm::Phase;

namespace {

// Runs `f`. Returns a one-line reason if captured steps are impossible but eager ones may work.
// Throws other failures.
template <typename F>
std::string reason_against(const F& f) {
  try {
    f();
  } catch (const base::Error& error) {
    if (error.status() != Status::kNoMemory && error.status() != Status::kUnsupported &&
        error.status() != Status::kRange)
      throw;
    return error.what();
  } catch (const c10::Error& error) {
    const nn::TorchFailure failure = nn::failure_of(error);
    if (failure.status != Status::kNoMemory) throw;
    return failure.text;
  }
  return {};
}

}  // namespace

CapturedStep::CapturedStep(const StepContext& context, std::unique_ptr<EagerStep> eager)
    : Step(context), eager_(std::move(eager)) {
  pipeline_ = std::make_unique<CapturedPipeline>(
      CapturedPipeline::Parts{.job = c_.job,
                              .model = c_.replica.model(),
                              .optimizer = c_.replica.optimizer(),
                              .comm = c_.comm.get(),
                              .source = c_.loaders.source(),
                              .loading = c_.loaders.config(),
                              .batches_per_step = c_.position.batches_per_step,
                              .bad_steps = c_.position.bad_steps,
                              .leads = c_.comm.leads()});
}

std::unique_ptr<Step> CapturedStep::prepare() {
  if (pipeline_->warm()) return nullptr;
  c_.comm.note(Phase::kStarting);
  // While a rank takes memory, no other rank of the process has a kernel that waits for ranks.
  std::string why = reason_against([&] { pipeline_->warm_up(); });
  c_.comm.meet_here();
  if (c_.comm.agree(!why.empty())) return give_up(why);
  empty_caches();
  std::string refused;
  const bool off = c_.job.config.capture == Capture::kOff;
  why = reason_against([&] {
    if (!off) refused = pipeline_->capture();
    if (off || !refused.empty()) pipeline_->fill_cache();
    device().set_aside_for_evaluations();  // the memory was freed with the rest of the cache
  });
  c_.comm.meet_here();
  if (c_.comm.agree(!why.empty())) return give_up(why);
  if (!refused.empty() && c_.job.config.capture == Capture::kOn)
    base::fail(Status::kUnsupported, "capture: ", device().name(), " captures no steps: ", refused,
               "; leave the choice to the trainer");
  log_kind(refused);
  c_.progress.restart_traffic();  // the first passes gathered rows
  return nullptr;
}

// Captured work takes its own memory from LibTorch's cache.
void CapturedStep::empty_caches() {
  c_.comm.meet_here();
  if (c_.comm.leads()) empty_cache(*device().get().table);
  c_.comm.meet_here();
}

std::unique_ptr<Step> CapturedStep::give_up(const std::string& why) {
  c_.comm.meet_here();
  pipeline_.reset();
  c_.comm.meet_here();
  eager_->replace_captured(why);
  return std::move(eager_);
}

void CapturedStep::log_kind(const std::string& refused) const {
  const bool eager = c_.job.config.capture == Capture::kOff || !refused.empty();
  c_.job.environment.log.add(
      refused.empty() ? base::LogLevel::kInfo : base::LogLevel::kWarning,
      base::text(
          "rank ", c_.comm.rank(), ": steps are ",
          eager ? "eager, over the shapes of captured ones, for " : "captured and repeated, for ",
          "mini-batches of up to ", list_sizes(pipeline_->shapes()),
          refused.empty() ? std::string()
                          : base::text(", as ", device().name(), " captures nothing: ", refused)));
}

EpochSize CapturedStep::seek(const Position& position) {
  const loader::EpochPlan& plan = pipeline_->seek(position.epoch, position.step + in_flight());
  return {plan.num_steps(), plan.num_batches()};
}

std::optional<StepResult> CapturedStep::run(const StepPlan& plan) {
  c_.comm.check_cancel();
  const bool first = in_flight() == 0;
  if (first) read_at_ = Clock::now();  // excludes evaluations, for example
  c_.comm.note(Phase::kComputing);
  pipeline_->start({.learning_rate = plan.learning_rate,
                    .stop = stop_requested(),
                    .write_failed = c_.checkpoints.failed()},
                   c_.comm.waits());
  if (first) return std::nullopt;
  return read();
}

std::optional<StepResult> CapturedStep::finish() {
  if (in_flight() == 0) return std::nullopt;
  return read();
}

// Steps overlap. The seconds of one are those since the last result; its parts are the device's
// own, which worked on them earlier.
StepResult CapturedStep::read() {
  StepResult result;
  const bool timed = pipeline_->read(result, c_.comm.wait());
  const Clock::time_point now = Clock::now();
  result.times.seconds = std::chrono::duration<double>(now - read_at_).count();
  if (!timed) result.times.compute_seconds = result.times.seconds;
  read_at_ = now;
  return result;
}

void CapturedStep::apply(StepResult& result) {
  pipeline_->take();
  if (!result.sums.bad && result.sums.weight > 0)
    c_.replica.optimizer().set_learning_rate(result.learning_rate);
}

void CapturedStep::log_summary() const {
  const std::span<const PassShape> shapes = pipeline_->shapes();
  if (shapes.size() < 2) return;
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i)
    text += base::text(i == 0 ? "" : ", ", pipeline_->num_passes()[i], " of up to ",
                       shapes[i].rows(), i == 0 ? " nodes" : "");
  c_.job.environment.log.add(base::LogLevel::kDebug,
                             base::text("rank ", c_.comm.rank(), ": padded mini-batches: ", text));
}

}  // namespace gnnmg::train
