// A rank whose steps are captured, or over the same shapes: the decision, and the loop that starts
// a step before it looks at the one before.
#include <c10/util/Exception.h>

#include "nn/torch_failure.h"
#include "train/ranks/rank.h"

namespace gnnmg::train {

using base::Status;
using comm::Phase;

namespace {

// What a step over bounds lacks, where one for true counts may go: one line. Other failures go
// through.
template <typename F>
std::string what_lacks(const F& f) {
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

void Rank::choose_capture() {
  if (!device_) return;
  std::string why = job_.config.capture == Capture::kUnpadded
                        ? "capture is unpadded"
                        : CapturedStep::why_not(job_, *model_, *source_, *comm_);
  if (why.empty()) why = device_->why_no_capture();
  if (agree(!why.empty())) return give_up_capture(std::move(why));
  captured_ = std::make_unique<CapturedStep>(
      CapturedStep::Parts{.job = job_,
                          .model = *model_,
                          .optimizer = *optimizer_,
                          .comm = *comm_,
                          .source = source_,
                          .loading = loader_config(),
                          .batches_per_step = position_.batches_per_step,
                          .bad_steps = position_.bad_steps,
                          .leads = leads_});
}

void Rank::capture_steps() {
  read_at_ = Clock::now();
  if (!captured_ || captured_->warm() || position_.finished) return;
  note(Phase::kStarting);
  // Where a rank takes memory, no other one of the process has a kernel that waits for ranks.
  std::string why = what_lacks([&] { captured_->warm_up(); });
  meet_here();
  if (agree(!why.empty())) return give_up_capture(std::move(why));
  const bool off = job_.config.capture == Capture::kOff;
  meet_here();
  if (leads_) empty_cache(*device_->get().table);  // what follows takes memory of its own
  meet_here();
  std::string refused;
  why = what_lacks([&] {
    if (!off) refused = captured_->capture();
    if (off || !refused.empty()) captured_->fill_cache();
    device_->set_aside_for_evaluations();  // what was went with the rest of the cache
  });
  meet_here();
  if (agree(!why.empty())) return give_up_capture(std::move(why));
  if (!refused.empty() && job_.config.capture == Capture::kOn)
    base::fail(Status::kUnsupported, "capture: ", device_->name(), " captures no steps: ", refused,
               "; leave the choice to the trainer");
  job_.environment.log.add(
      refused.empty() ? base::LogLevel::kInfo : base::LogLevel::kWarning,
      base::text("rank ", rank_, ": steps are ",
                 off || !refused.empty() ? "eager, over the shapes of captured ones, for "
                                         : "captured and repeated, for ",
                 "mini-batches of up to ", list_sizes(captured_->shapes()),
                 refused.empty()
                     ? std::string()
                     : base::text(", as ", device_->name(), " captures nothing: ", refused)));
  traffic_ = source_->traffic(device_->get().queue);  // warming up has gathered
  read_at_ = Clock::now();
}

void Rank::give_up_capture(std::string why) {
  if (captured_) {
    meet_here();
    captured_.reset();
    meet_here();
  }
  const bool elsewhere = why.empty();
  if (elsewhere) why = "those of another rank cannot be captured";
  if (job_.config.capture == Capture::kOn)
    throw base::Error(elsewhere ? Status::kAborted : Status::kUnsupported,
                      base::text("capture: steps on ", device_->name(), " cannot be captured: ",
                                 why, "; leave the choice to the trainer"));
  job_.environment.log.add(base::LogLevel::kInfo,
                           base::text("rank ", rank_, ": steps are eager, without padding: ", why));
  const int64_t world = comm_->world_size();
  waits_ = std::make_unique<QueueWaits>(*device_->get().table, device_->get().index,
                                        device_->get().queue,
                                        (exchange_->batches_per_step() + world - 1) / world);
}

void Rank::log_shapes() {
  if (!captured_ || captured_->shapes().size() < 2) return;
  const std::span<const PassShape> shapes = captured_->shapes();
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i)
    text += base::text(i == 0 ? "" : ", ", captured_->num_passes()[i], " of up to ",
                       shapes[i].rows(), i == 0 ? " nodes" : "");
  job_.environment.log.add(base::LogLevel::kDebug,
                           base::text("rank ", rank_, ": padded mini-batches: ", text));
}

bool Rank::advance_captured(int64_t& max_steps) {
  const int64_t in_flight = captured_->in_flight();
  const int64_t next = position_.step + in_flight;
  if (next < num_steps_ && max_steps != 0) {
    --max_steps;
    start_captured(next);
    if (in_flight > 0) read_captured();
    return true;
  }
  if (in_flight == 0) return false;
  read_captured();
  return true;
}

void Rank::start_captured(int64_t step) {
  group_.cancel.check("training");
  if (captured_->in_flight() == 0) read_at_ = Clock::now();  // behind an evaluation, say
  note(Phase::kComputing);
  captured_->start({.learning_rate = job_.config.optimizer.learning_rate *
                                     position_.schedule.factor(position_.epoch, step, num_steps_),
                    .stop = training_.stop.load(),
                    .write_failed = writes() && training_.checkpoints->failed()},
                   [this] { return wait(); });
}

// Steps overlap: the seconds of one are those since the host had read the one before, and its parts
// are the device's, which was earlier at them.
void Rank::read_captured() {
  const CapturedStep::Result result = captured_->read(wait());
  EpochSums times = result.times;
  const Clock::time_point now = Clock::now();
  times.seconds = std::chrono::duration<double>(now - read_at_).count();
  if (!result.timed) times.compute = times.seconds;
  read_at_ = now;
  commit_step(result.sums, times, result.learning_rate, [&] {
    captured_->take();
    if (!result.sums.bad && result.sums.weight > 0)
      optimizer_->set_learning_rate(result.learning_rate);
  });
  follow_step(result.sums);
}

}  // namespace gnnmg::train
