#include "train/ranks/group.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/background.h"
#include "base/memory.h"
#include "base/thread_room.h"
#include "comm/nccl/thread_group.h"
#include "nn/torch/failure.h"
#include "nn/torch/intraop.h"
#include "nn/torch/parallel.h"
#include "train/job/meeting.h"
#include "train/ranks/exit.h"

namespace gnnmg::train {
namespace {

using base::Status;

// Time for a rank to report that the communicator has ended.
constexpr std::chrono::milliseconds kUnreported(1000);

// LibTorch's warnings on this thread go to the log; its own handler would print them.
class LogWarnings final : public c10::WarningHandler {
 public:
  explicit LogWarnings(base::Log& log) : log_(log) {}
  void process(const c10::Warning& warning) override {
    log_.add(base::LogLevel::kWarning, warning.msg());
  }

 private:
  base::Log& log_;
};

// The cores of the process, or as many as OpenMP's own variable allows.
int cores_to_use() {
  const int cores = base::available_cores();
  const char* given = std::getenv("OMP_NUM_THREADS");
  int allowed = 0;
  if (given) std::from_chars(given, given + std::strlen(given), allowed);
  return allowed > 0 ? std::min(cores, allowed) : cores;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

base::Error error_of(const std::exception_ptr& error, int rank) {
  try {
    std::rethrow_exception(error);
  } catch (const base::Error& e) {
    return {e.status(), e.what(), e.rank() < 0 ? rank : e.rank(), e.system_error()};
  } catch (const c10::Error& e) {
    const nn::TorchFailure failure = nn::failure_of(e);
    return {failure.status, failure.text, rank};
  } catch (const std::bad_alloc&) {
    return {Status::kNoMemory, "out of memory", rank};
  } catch (const std::system_error& e) {
    const base::Error refused = base::refused_resource(e);
    return {refused.status(), refused.what(), rank, refused.system_error()};
  } catch (const std::exception& e) {
    return {Status::kInternal, first_line(e.what()), rank};
  } catch (...) {
    return {Status::kInternal, "unknown exception", rank};
  }
}

// Allocates nothing if memory has run out.
base::Error as_error(const std::exception_ptr& error, int rank) noexcept {
  try {
    return error_of(error, rank);
  } catch (...) {
    return {Status::kNoMemory, "out of memory", rank};
  }
}

base::Error cancelled(const char* words) noexcept {
  try {
    return {Status::kCancelled, words};
  } catch (const std::bad_alloc&) {
    return {Status::kCancelled, "canceled"};
  }
}

// The communicator of a process that trains alone. A single rank needs no NCCL.
std::shared_ptr<comm::ThreadGroup> make_group(const Job& job) {
  const std::vector<int>& devices = job.config.devices;
  if (devices.size() < 2) return comm::ThreadGroup::create(job.config.num_ranks);
  const device::Table& table = *job.environment.devices;
  return comm::nccl::make_thread_group(*table.of<comm::nccl::Table>(), table, devices);
}

}  // namespace

RankGroup::RankGroup(std::shared_ptr<const Job> job, std::shared_ptr<Training> training)
    : job_(std::move(job)),
      shared_training_(std::move(training)),
      ends_(job_->config.devices.empty()
                ? nullptr
                : std::make_shared<RankEnds>(*job_->environment.devices, job_->config.num_ranks,
                                             device::drain_limit(job_->config.deadline_ms))),
      ranks_(job_->config.num_ranks, nullptr) {
  const int num_ranks = job_->config.num_ranks;
  if (!job_->environment.processes) shared_.comm = make_group(*job_);
  watch_exit();
  threads_.reserve(num_ranks);  // push_back() cannot fail, which would end the program
  try {
    for (int r = 0; r < num_ranks; ++r)
      threads_.push_back(base::start_thread([this, r, budget = base::current_budget()] {
        const base::BudgetScope charged(budget);
        run(r);
      }));
  } catch (const std::system_error& e) {
    {
      std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    base::fail(Status::kNoMemory, "cannot start a thread for a rank: ", e.what());
  }
}

RankGroup::~RankGroup() {
  cancel();
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (!job_->config.devices.empty()) empty_cache(*job_->environment.devices);
}

std::string RankGroup::destroy(std::unique_ptr<RankGroup> group) {
  if (!group || !group->ends_) return {};
  group->cancel();
  const std::shared_ptr<RankEnds> ends = group->ends_;
  const std::shared_ptr<HostLatch> latch = group->shared_.latch;
  const int first_rank = group->first_rank();
  const auto since = Clock::now();
  std::optional<base::Background> end;
  try {
    end.emplace([last = std::shared_ptr<RankGroup>(std::move(group))]() mutable {
      device::free_unless_exit([last = std::move(last)]() mutable { last.reset(); });
    });
  } catch (const base::Error&) {  // no thread: this one has destroyed the group
    return {};
  }
  if (end->over_unless([&] { return ends->only_quarantined_left(since); })) return {};
  end->leave();
  latch->close();
  return ends->text_of_left(first_rank);
}

// Ranks notice that the communicator has ended, and end the group. If none does, all ranks are
// blocked, in their drivers or in a callback: then this function ends the group, and RankEnds
// checks their devices.
void RankGroup::check_communicator() {
  std::optional<base::Error> cause;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ || running_ == 0 || !shared_.comm) return;
    cause = shared_.comm->cause();
    if (!cause) return;
    if (comm_ended_ == Clock::time_point()) comm_ended_ = Clock::now();
    if (Clock::now() < comm_ended_ + kUnreported) return;
  }
  end(*cause);
}

void RankGroup::abandon_hung() {
  if (!ends_) return;
  check_communicator();
  {
    const std::lock_guard lock(mutex_);
    if (!failure_ || running_ == 0 || abandoned_ || !ends_->only_quarantined_work(failed_at_))
      return;
    abandoned_ = true;
  }
  shared_.latch->close();
  job_->environment.host.notify();
}

void RankGroup::start(const Command& command) {
  if (job_->environment.processes) {
    std::lock_guard meeting(meeting_);
    if (!met_) under_way_.emplace(training_);
  }
  {
    std::lock_guard lock(mutex_);
    command_ = command;
    running_ = job_->config.num_ranks;
    ++generation_;
  }
  wake_.notify_all();
}

bool RankGroup::idle() const {
  std::lock_guard lock(mutex_);
  return running_ == 0 || abandoned_;
}

std::optional<base::Error> RankGroup::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void RankGroup::cancel() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (running_ == 0) return;
  }
  end(cancelled("training was canceled"));
}

// The program ends: takes this process out of the job.
void RankGroup::end_with_program() noexcept {
  if (idle()) return;
  if (comm::Processes* processes = job_->environment.processes.get()) {
    try {
      processes->set_leave_reason("its program has ended in the middle of a trainer's work");
    } catch (const std::exception&) {  // no memory for the text
    }
    processes->leave();
    processes->drain();
  }
  end(cancelled("training was canceled: the program ends"));
}

// Ranks that wait for a callback of the host do not count if that callback exits the program.
bool RankGroup::idle_for_exit() const {
  std::lock_guard lock(mutex_);
  return running_ <= (base::HostQueue::inside_callback() ? host_calls_->load() : 0);
}

void RankGroup::end(base::Error why) noexcept {
  std::lock_guard lock(mutex_);
  // A rank that was aborted, or that lost a peer, may report before the rank with the cause does.
  const auto follows = [](Status status) {
    return status == Status::kAborted || status == Status::kPeerLost;
  };
  const bool cause = failure_ && follows(failure_->status()) && !follows(why.status()) &&
                     why.status() != Status::kCancelled;
  if (failure_ && !cause) return;
  if (!failure_) failed_at_ = Clock::now();
  failure_ = std::move(why);
  // Before the ranks are canceled: the communicator keeps the first cause that it gets.
  abort_communicator();
  shared_.cancel.cancel();
  for (Rank* rank : ranks_)
    if (rank) rank->cancel();
  wake_.notify_all();
  job_->environment.host.notify();
}

void RankGroup::abort_communicator() noexcept {
  if (!shared_.comm || !failure_) return;
  // All ranks of all processes find these failures themselves, from equal numbers.
  if (failure_->status() == Status::kDiverged || failure_->status() == Status::kMismatch) return;
  const comm::Processes* processes = job_->environment.processes.get();
  std::string words;
  try {
    words = processes ? base::text(own_name(*processes), ": ", failure_->what())
                      : std::string(failure_->what());
  } catch (const std::bad_alloc&) {  // no memory for the text: an abort without one
  }
  shared_.comm->abort(words);
}

void RankGroup::run(int number) {
  LogWarnings handler(job_->environment.log);
  c10::WarningUtils::WarningHandlerGuard guard(&handler);
  const base::HostQueue::Counting counting(host_calls_);
  const int asked = job_->config.torch_threads;
  const int threads = asked > 0 ? asked : std::max(1, cores_to_use() / ranks_on_machine());
  // LibTorch's own sums depend on the number of its threads, those of our loops do not.
  nn::set_intraop_threads(job_->config.deterministic ? 1 : threads);
  nn::set_loop_threads(threads);
  const nn::IntraopScope loops(nn::Loops::kMany);
  if (loops.refused() && number == 0) nn::IntraopScope::tell(job_->environment.log);

  std::optional<RankDevice> device;
  std::unique_ptr<Rank> rank;
  uint64_t seen = 0;
  while (true) {
    Command command;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return leaving_ || generation_ != seen; });
      // A new command is carried out even if the group is leaving: other ranks may wait for this
      // one.
      if (generation_ == seen) break;
      seen = generation_;
      command = command_;
    }
    if (ends_) ends_->set_at_work(number, true);
    try {
      const device::TimeoutScope patience(job_->config.deadline_ms, shared_.cancel);
      if (!device && !job_->config.devices.empty()) open_device(device, number);
      if (!rank) rank = make_rank(number, command, device ? &*device : nullptr);
      rank->begin_call(command.call);
      rank->follow_host();
      // Only now, after a collective of this command: no rank is still in the command before.
      if (command.obstacle) throw base::Error(*command.obstacle);
      carry_out(command, *rank, number);
      rank->hand_to_host();
    } catch (...) {
      take_failure(std::current_exception(), rank.get(), device ? &*device : nullptr, number);
    }
    if (ends_) ends_->set_at_work(number, false);
    bool all_idle;
    {
      std::lock_guard lock(mutex_);
      all_idle = --running_ == 0;
    }
    if (all_idle) job_->environment.host.notify();
  }
  {
    std::lock_guard lock(mutex_);
    ranks_[number] = nullptr;
  }
  if (!ends_) return;
  device::set_drain_limit(ends_->limit());
  if (device) device::wait_to_free(*device->get().table, device->get().index, device->get().queue);
  rank.reset();
  ends_->close(number);
  device.reset();
  ends_->set_gone(number);
}

void RankGroup::take_failure(const std::exception_ptr& thrown, Rank* rank, const RankDevice* device,
                             int number) noexcept {
  const std::optional<base::Error> lost = device ? device->lost() : std::nullopt;
  end(lost ? lost_device(*device, *lost, number) : as_error(thrown, first_rank() + number));
  (void)shared_.take(first_rank() + number);  // closed only now: the others have the cause
  if (device && !lost) call_off(rank, *device, number);
}

// After a failure: drains the rank's device and hands the last commit to the host. A device that
// stays busy is quarantined, and nothing of it is touched.
void RankGroup::call_off(Rank* rank, const RankDevice& device, int number) noexcept {
  const nn::Device& on = device.get();
  const bool drained =
      rank ? rank->call_off(ends_->limit()) : device::drain(*on.table, on.queue, ends_->limit());
  if (drained && rank) hand_over(*rank);
  if (drained) return;
  try {
    ends_->quarantine(number);
  } catch (const std::bad_alloc&) {  // no memory: abandon_hung() does it later
  }
}

// Opens the rank's device. With several processes it then waits until all ranks of this process
// have tried: the others learn of an obstacle when this process joins.
void RankGroup::open_device(std::optional<RankDevice>& device, int number) {
  std::optional<base::Error> obstacle;
  const int index = job_->config.devices[number];
  try {
    ends_->open(number, index, base::text("GPU ", index), nullptr);
    device.emplace(*job_, number);
    ends_->open(number, device->get().index, device->name(), device->get().queue);
  } catch (...) {
    if (!job_->environment.processes) throw;
    const base::Error error = as_error(std::current_exception(), number);
    obstacle.emplace(error.status(), base::text("GPU ", index, " cannot be used: ", error.what()));
  }
  if (!job_->environment.processes) return;
  std::unique_lock lock(mutex_);
  if (obstacle && !device_obstacle_) device_obstacle_ = obstacle;
  ++tried_devices_;
  wake_.notify_all();
  const std::chrono::milliseconds longest(job_->environment.meet_timeout_ms);
  const bool all = wake_.wait_for(
      lock, longest, [&] { return tried_devices_ == job_->config.num_ranks || failure_; });
  if (!all && !device_obstacle_)
    device_obstacle_.emplace(
        Status::kTimeout,
        base::text("GPUs are not open after ", static_cast<double>(longest.count()) / 1000, " s"));
}

base::Error RankGroup::lost_device(const RankDevice& device, const base::Error& why,
                                   int number) noexcept {
  const int rank = first_rank() + number;
  try {
    return {Status::kDeviceLost, lost_text(device, why, number), rank};
  } catch (const std::bad_alloc&) {
    return {Status::kDeviceLost, "a GPU is lost", rank};
  }
}

std::string RankGroup::lost_text(const RankDevice& device, const base::Error& why, int number) {
  std::string text =
      base::text("rank ", first_rank() + number, ": ", device.name(), " is lost: ", why.what(),
                 "; go on in another process, on other GPUs, or on the CPU");
  // Only the first rank's thread changes that position.
  if (number == 0)
    text += base::text("; the model is what it was at step ", training_.position.step, " of epoch ",
                       training_.position.epoch, ", when it was last read from there");
  return text;
}

void RankGroup::hand_over(Rank& rank) noexcept {
  try {
    rank.hand_to_host();
  } catch (const std::exception& error) {
    try {
      job_->environment.log.add(
          base::LogLevel::kWarning,
          base::text("the model could not be read from the first rank's GPU, and stays what it "
                     "was: ",
                     first_line(error.what())));
    } catch (const std::bad_alloc&) {  // no memory for the text
    }
  }
}

// The first rank that calls this meets the other processes, for all ranks of this one.
std::unique_ptr<Rank> RankGroup::make_rank(int number, const Command& command, RankDevice* device) {
  {
    std::lock_guard meeting(meeting_);
    if (!std::exchange(met_, true) && job_->environment.processes) {
      try {
        auto group = meet(*job_, training_, command.call,
                          command.obstacle ? command.obstacle : device_obstacle_, shared_.cancel);
        std::lock_guard lock(mutex_);
        shared_.comm = std::move(group);
        abort_communicator();
      } catch (...) {
        meeting_error_ = std::current_exception();
      }
      under_way_.reset();
    }
    if (meeting_error_) std::rethrow_exception(meeting_error_);
  }
  auto rank = std::make_unique<Rank>(*job_, training_, shared_, shared_.comm->first_rank() + number,
                                     device);
  std::lock_guard lock(mutex_);
  ranks_[number] = rank.get();
  if (failure_) rank->cancel();
  return rank;
}

int RankGroup::first_rank() noexcept {
  std::lock_guard lock(mutex_);
  return shared_.comm ? shared_.comm->first_rank() : 0;
}

// Number of ranks that share this machine's cores, if each process has as many as this one.
int RankGroup::ranks_on_machine() const {
  int processes = 1;
  if (const comm::Processes* all = job_->environment.processes.get()) {
    processes = 0;
    for (int p = 0; p < all->num_processes(); ++p)
      processes += all->host(p) == all->host(all->process());
  }
  return processes * job_->config.num_ranks;
}

void RankGroup::carry_out(const Command& command, Rank& rank, int number) {
  switch (command.kind) {
    case Command::Kind::kTrain:
      return rank.train(command.max_steps);
    case Command::Kind::kEvaluate: {
      const nn::Metrics metrics = rank.evaluation().evaluate(command.part, command.confusion);
      if (number == 0) metrics_ = metrics;
      return;
    }
    case Command::Kind::kEmbed: {
      if (!command.path.empty()) return rank.evaluation().embed_to_file(command.path);
      base::Tensor rows = rank.evaluation().embed();
      if (number == 0) rows_ = std::move(rows);
      return;
    }
  }
}

}  // namespace gnnmg::train
