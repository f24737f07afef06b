// The threads of a trainer's ranks. They live from one command to the next, so that a caller who
// asks for single steps finds replicas and loaders as they were; the first failure ends the group.
#pragma once

#include <condition_variable>
#include <optional>
#include <thread>

#include "base/exit.h"
#include "train/ranks/rank.h"
#include "train/ranks/rank_ends.h"

namespace gnnmg::train {

struct Command {
  enum class Kind { kTrain, kEvaluate, kEmbed } kind = Kind::kTrain;
  std::string call{};  // what the host has called
  int64_t max_steps = std::numeric_limits<int64_t>::max();
  data::SplitPart part = data::SplitPart::kValidation;
  std::string path{};  // where the rows of all nodes go; empty: to memory
  // Why this process cannot carry it out, which the others are to be told.
  std::optional<base::Error> obstacle{};
};

class RankGroup {
 public:
  RankGroup(std::shared_ptr<const Job> job, std::shared_ptr<Training> training);
  ~RankGroup();  // cancels and joins
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  // Destroys it, which is left to a thread in the background where devices do not come to their
  // end. Returns what is told of those, or nothing.
  static std::string let_go(std::unique_ptr<RankGroup> group);

  // Has all ranks carry out a command; the one before must have ended.
  void start(const Command& command);
  // True when all ranks are at rest, or left behind. Notifies the host queue when it becomes so.
  bool at_rest() const;
  // Now and then, by who waits for it: behind a failure, leaves those behind whose device does not
  // come to its end.
  void look();
  // Ends the command that is under way, if any, with Error(kCancelled). Any thread.
  void cancel() noexcept;
  // The first failure; the group is of no more use then.
  std::optional<base::Error> failure() const;
  const nn::Metrics& metrics() const { return metrics_; }  // of an evaluation, at rest
  // Of all nodes, at rest after they went to memory; the group forgets them.
  base::Tensor take_rows() { return std::exchange(rows_, base::Tensor()); }

 private:
  // Ranks are counted within the process here.
  void run(int number);
  void open_device(std::optional<RankDevice>& device, int number);
  std::unique_ptr<Rank> make_rank(int number, const Command& command, RankDevice* device);
  // What a rank's thread does with what it has caught.
  void take_failure(const std::exception_ptr& thrown, Rank* rank, const RankDevice* device,
                    int number) noexcept;
  base::Error lost_device(const RankDevice& device, const base::Error& why, int number) noexcept;
  std::string lost_text(const RankDevice& device, const base::Error& why, int number);
  void call_off(Rank* rank, const RankDevice& device, int number) noexcept;
  // Gives the host what it can have after a failure.
  void hand_over(Rank& rank) noexcept;
  void carry_out(const Command& command, Rank& rank, int number);
  void end(base::Error why) noexcept;
  void find_end();
  void abort_communicator() noexcept;  // once there are both it and a failure; with the lock held
  void end_with_program() noexcept;
  bool at_rest_for_exit() const;
  int first_rank() noexcept;  // of this process in the world; 0 before that is known
  int neighbours() const;

  std::shared_ptr<const Job> job_;
  const std::shared_ptr<Training> shared_training_;
  Training& training_ = *shared_training_;
  const std::shared_ptr<RankEnds> ends_;  // null: the CPU
  GroupShared shared_;
  nn::Metrics metrics_;
  base::Tensor rows_;

  std::mutex meeting_;  // guards the three below; taken before mutex_
  bool met_ = false;    // the other processes, or tried to
  std::optional<Meeting> under_way_;
  std::exception_ptr meeting_error_;

  mutable std::mutex mutex_;  // guards all below, and shared_.comm
  std::condition_variable wake_;
  Command command_;
  uint64_t generation_ = 0;
  int running_ = 0;
  bool leaving_ = false;
  bool left_behind_ = false;  // ranks at work; nobody waits for them
  std::optional<base::Error> failure_;
  Clock::time_point failed_at_;
  Clock::time_point comm_ended_;                // as look() has found it
  int tried_devices_ = 0;                       // ranks that have opened theirs, or could not
  std::optional<base::Error> device_obstacle_;  // of the first that could not; then it stays
  std::vector<Rank*> ranks_;                    // null until a rank has met the others
  std::vector<std::thread> threads_;
  const base::HostQueue::Count host_calls_ = std::make_shared<std::atomic<int>>(0);  // of ranks
  base::ExitGuard exit_guard_{[this] { end_with_program(); }, [this] { return at_rest_for_exit(); },
                              !job_->config.devices.empty()};
};

}  // namespace gnnmg::train
