#include "train/checkpoint/writer.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/memory.h"
#include "device/exit.h"
#include "dist/host.h"
#include "nn/state/file_settings.h"
#include "train/checkpoint/state.h"
#include "train/job/job.h"
#include "train/optim/optimizer_file.h"

namespace gnnmg::train {

using base::Status;

void CheckpointConfig::check() const {
  if (folder.empty()) base::fail(Status::kInvalidArgument, "checkpoints: folder is empty");
  if (every_steps < 0)
    base::fail(Status::kInvalidArgument, "checkpoints: every_steps ", every_steps,
               ": expected 0 or more");
  if (!(every_seconds >= 0))
    base::fail(Status::kInvalidArgument, "checkpoints: every_seconds ", every_seconds,
               ": expected 0 or more");
  if (keep < 1)
    base::fail(Status::kInvalidArgument, "checkpoints: keep ", keep, ": expected 1 or more");
}

namespace {

// Adds the settings to the weights, so that their file opens alone.
void describe(const Job& job, io::StateFile& weights) {
  if (!weights.metadata.empty()) return;
  const nn::ModelConfig& config = job.model->config();
  weights.metadata[nn::kFileSettings] = nn::write_file_settings(
      {config, config.framework, nn::facts_of(*job.dataset), dist::library_version()});
}

}  // namespace

void copy_files(const Job& job, const data::Fingerprint& data, const Position& position,
                const Training& training, CheckpointFiles& files) {
  job.model->copy_state(files.model);
  describe(job, files.model);
  copy_state(*training.optimizer, *job.model, files.optimizer);
  if (position.num_averaged > 0) {
    training.average->copy_state(files.average);
    describe(job, files.average);
  } else {
    files.average = {};
  }
  files.state = write_state(job, training.world_size(), data, training.id, position);
}

io::StateFile best_weights(const Job& job, const Training& training) {
  if (!training.best.taken()) return {};
  const std::unique_ptr<nn::Model> model = job.model->clone();
  training.best.restore(*model);
  io::StateFile best = model->state();
  describe(job, best);
  return best;
}

namespace {

// One checkpoint in memory, used again for later ones.
struct Image {
  CheckpointFiles files;
  io::StateFile moments;  // memory for files.optimizer, until the optimizer has a state
  bool used = false;
  int64_t step = 0;
  bool best = false;
};

}  // namespace

struct CheckpointWriter::State {
  State(const Job& of, data::Fingerprint facts, std::string training, const CheckpointConfig& c,
        std::function<void()> on_idle)
      : job(of),
        data(std::move(facts)),
        config(c),
        ended(std::move(on_idle)),
        budget(base::current_budget()),
        series(c.folder, c.keep, std::move(training)) {}

  // Fresh pages cost more than the copy into them, so they are made here and not while training
  // waits. `model`: null where the image has its own.
  void prepare(Image& image, const io::StateFile* model) {
    const base::BudgetScope charged(budget);
    io::StateFile weights, moments;
    try {
      if (model)
        for (const auto& [key, tensor] : model->tensors)
          weights.tensors.emplace_back(key, base::Tensor::zeros(tensor.dtype(), tensor.shape()));
      moments = reserve_state(job.config.optimizer, *job.model);
    } catch (const std::exception&) {
      return;  // take() needs the memory, too, and reports the failure
    }
    std::lock_guard lock(mutex);
    if (image.used) return;
    if (model) image.files.model = std::move(weights);
    image.moments = std::move(moments);
  }

  bool idle() {
    std::lock_guard lock(mutex);
    return !writing && !waiting;
  }

  void work() {
    prepare(images[0], nullptr);
    bool both = false;
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return waiting || leaving; });
      if (!waiting) return;
      writing = std::exchange(waiting, nullptr);
      lock.unlock();
      wake.notify_all();  // take() may wait for its turn
      if (!std::exchange(both, true)) prepare(images[1], &writing->files.model);
      std::optional<base::Error> error = write(*writing);
      lock.lock();
      writing = nullptr;
      if (error && !failure) failure = std::move(error);
      if (waiting) continue;
      lock.unlock();
      ended();
      lock.lock();
    }
  }

  // Returns the failure. If memory has run out, its text needs none.
  std::optional<base::Error> write(const Image& image) noexcept {
    try {
      return write_or_tell(image);
    } catch (const std::exception&) {
      return base::Error(Status::kNoMemory, "out of memory");
    }
  }

  std::optional<base::Error> write_or_tell(const Image& image) {
    try {
      series.add(image.step, image.files, image.best);
    } catch (const base::Error& e) {
      if (e.status() != Status::kNan) return e;
      // A diverged training reports this itself; earlier checkpoints stay.
      job.environment.log.add(base::LogLevel::kWarning,
                              base::text("checkpoint not written: ", e.what()));
    }
    return std::nullopt;
  }

  bool best_waits() const { return waiting && waiting->best; }  // call it with the lock held

  const Job& job;
  const data::Fingerprint data;
  const CheckpointConfig config;
  const std::function<void()> ended;
  const std::shared_ptr<base::MemoryBudget> budget;

  // Used by the first rank only.
  Clock::time_point last = Clock::now();  // time of the last take()
  bool owed = false;                      // a due checkpoint was postponed
  int64_t best_epoch = -1;                // epoch of `best`
  io::StateFile best;                     // shared by the images

  mutable std::mutex mutex;  // guards all below; images while they are one of the two
  std::condition_variable wake;
  CheckpointSeries series;
  bool folder_checked = false;
  std::array<Image, 2> images;
  Image* writing = nullptr;
  Image* waiting = nullptr;
  bool leaving = false;
  std::optional<base::Error> failure;
  std::thread thread;
  // Checkpoints that were taken are written even if the program ends.
  const device::ExitGuard exit_guard{[] {}, [this] { return idle(); }};
};

CheckpointWriter::CheckpointWriter(const Job& job, data::Fingerprint data, std::string training,
                                   const CheckpointConfig& config, std::function<void()> ended) {
  config.check();
  state_ =
      std::make_unique<State>(job, std::move(data), std::move(training), config, std::move(ended));
  job.model->copy_state(state_->images[0].files.model);
  state_->thread = base::start_thread([state = state_.get()] { state->work(); });
}

CheckpointWriter::~CheckpointWriter() {
  {
    std::lock_guard lock(state_->mutex);
    state_->leaving = true;
  }
  state_->wake.notify_all();
  state_->thread.join();
  if (!state_->failure) return;
  try {
    state_->job.environment.log.add(base::LogLevel::kError, state_->failure->what());
  } catch (const std::bad_alloc&) {  // no memory for the words
  }
}

const std::string& CheckpointWriter::folder() const { return state_->config.folder; }

void CheckpointWriter::protect(std::string name) {
  std::lock_guard lock(state_->mutex);
  state_->series.protect(std::move(name));
}

void CheckpointWriter::check_folder() {
  std::lock_guard lock(state_->mutex);
  if (std::exchange(state_->folder_checked, true)) return;
  try {
    state_->series.check_folder();
  } catch (...) {
    state_->folder_checked = false;
    throw;
  }
}

bool CheckpointWriter::due(int64_t total_steps) const {
  const CheckpointConfig& c = state_->config;
  return state_->owed || (c.every_steps > 0 && total_steps % c.every_steps == 0) ||
         (c.every_seconds > 0 && seconds_since(state_->last) >= c.every_seconds);
}

bool CheckpointWriter::due_after_epoch() const {
  return state_->config.every_steps == 0 && state_->config.every_seconds == 0;
}

void CheckpointWriter::take(const Position& position, const Training& training, Why why) {
  State& s = *state_;
  Image* image = nullptr;
  {
    std::unique_lock lock(s.mutex);
    s.owed = why == Why::kDue && s.best_waits();
    if (s.owed) return;
    if (why == Why::kEnd) s.wake.wait(lock, [&] { return !s.best_waits(); });
    s.waiting = nullptr;
    image = s.writing == &s.images[0] ? &s.images[1] : &s.images[0];
    image->used = true;
  }
  if (!image->moments.tensors.empty() && !training.optimizer->state().empty())
    image->files.optimizer = std::exchange(image->moments, {});
  if (s.best_epoch != position.best_epoch) {
    s.best = best_weights(s.job, training);
    s.best_epoch = position.best_epoch;
  }
  copy_files(s.job, s.data, position, training, image->files);
  image->files.best = s.best;
  image->step = position.total_steps;
  image->best = why == Why::kBest;
  s.last = Clock::now();
  {
    std::lock_guard lock(s.mutex);
    s.waiting = image;
  }
  s.wake.notify_all();
}

bool CheckpointWriter::best_waits() const {
  std::lock_guard lock(state_->mutex);
  return state_->best_waits();
}

bool CheckpointWriter::idle() const { return state_->idle(); }

bool CheckpointWriter::failed() const {
  std::lock_guard lock(state_->mutex);
  return state_->failure.has_value();
}

void CheckpointWriter::throw_failure() {
  std::lock_guard lock(state_->mutex);
  if (std::optional<base::Error> failure = std::exchange(state_->failure, std::nullopt))
    throw base::Error(*failure);
}

void CheckpointWriter::forget_failure() noexcept {
  std::lock_guard lock(state_->mutex);
  state_->failure.reset();
}

}  // namespace gnnmg::train
