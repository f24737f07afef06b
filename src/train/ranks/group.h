// The threads of a trainer's ranks. They live from one command to the next, so that replicas and
// loaders last over single steps. The first failure ends the group.
#pragma once

#include <condition_variable>
#include <optional>
#include <thread>

#include "device/exit.h"
#include "train/ranks/rank.h"
#include "train/ranks/rank_ends.h"

namespace gnnmg::train {

struct Command {
  enum class Kind { kTrain, kEvaluate, kEmbed } kind = Kind::kTrain;
  std::string call{};  // name of the host's call
  int64_t max_steps = std::numeric_limits<int64_t>::max();
  data::SplitPart part = data::SplitPart::kValidation;
  bool confusion = false;  // an evaluation with the confusion matrix
  std::string path{};      // file for the rows of all nodes; empty: memory
  // The reason why this process cannot carry it out, for the other processes.
  std::optional<base::Error> obstacle{};
};

class RankGroup {
 public:
  RankGroup(std::shared_ptr<const Job> job, std::shared_ptr<Training> training);
  ~RankGroup();  // cancels and joins
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  // Destroys the group. If its devices stay busy, a background thread goes on with that, and the
  // result names them; otherwise the result is empty.
  static std::string destroy(std::unique_ptr<RankGroup> group);

  // Starts a command on all ranks. The one before must have ended.
  void start(const Command& command);
  // True once the command has ended on all ranks that were not abandoned. The host queue is
  // notified then.
  bool idle() const;
  // Abandons ranks whose device stays busy after a failure. The thread that waits for the command
  // calls it several times a second.
  void abandon_hung();
  // Ends the running command, if any, with Error(kCancelled). Any thread.
  void cancel() noexcept;
  // The first failure. After one the group can only be destroyed.
  std::optional<base::Error> failure() const;
  // After the command: the result of an evaluation.
  const nn::Metrics& metrics() const { return metrics_; }
  // After the command: the rows of all nodes. The group forgets them.
  base::Tensor take_rows() { return std::exchange(rows_, base::Tensor()); }

 private:
  // Ranks are counted within the process here.
  void run(int number);
  void open_device(std::optional<RankDevice>& device, int number);
  std::unique_ptr<Rank> make_rank(int number, const Command& command, RankDevice* device);
  // Handles an exception of a rank, on its thread.
  void take_failure(const std::exception_ptr& thrown, Rank* rank, const RankDevice* device,
                    int number) noexcept;
  base::Error lost_device(const RankDevice& device, const base::Error& why, int number) noexcept;
  std::string lost_text(const RankDevice& device, const base::Error& why, int number);
  void call_off(Rank* rank, const RankDevice& device, int number) noexcept;
  // Hands the last commit to the host after a failure.
  void hand_over(Rank& rank) noexcept;
  void carry_out(const Command& command, Rank& rank, int number);
  void end(base::Error why) noexcept;
  void check_communicator();
  void abort_communicator() noexcept;  // once there are both it and a failure; with the lock held
  void end_with_program() noexcept;
  bool idle_for_exit() const;
  int first_rank() noexcept;  // number in the world; 0 before it is known
  int ranks_on_machine() const;

  std::shared_ptr<const Job> job_;
  const std::shared_ptr<Training> shared_training_;
  Training& training_ = *shared_training_;
  const std::shared_ptr<RankEnds> ends_;  // null for the CPU
  GroupShared shared_;
  nn::Metrics metrics_;
  base::Tensor rows_;

  std::mutex meeting_;  // guards the three below; taken before mutex_
  bool met_ = false;    // a rank has met the other processes, or tried to
  std::optional<Meeting> under_way_;
  std::exception_ptr meeting_error_;

  mutable std::mutex mutex_;  // guards all below, and shared_.comm
  std::condition_variable wake_;
  Command command_;
  uint64_t generation_ = 0;
  int running_ = 0;
  bool leaving_ = false;
  bool abandoned_ = false;  // nobody waits for the ranks that are still at work
  std::optional<base::Error> failure_;
  Clock::time_point failed_at_;
  Clock::time_point comm_ended_;                // set by check_communicator()
  int tried_devices_ = 0;                       // ranks that have tried to open their device
  std::optional<base::Error> device_obstacle_;  // the first failure to open one
  std::vector<Rank*> ranks_;                    // null until a rank has met the others
  std::vector<std::thread> threads_;
  // Calls of host functions that this group's ranks wait for.
  const base::HostQueue::Count host_calls_ = std::make_shared<std::atomic<int>>(0);
  device::ExitGuard exit_guard_{[this] { end_with_program(); }, [this] { return idle_for_exit(); }};
};

}  // namespace gnnmg::train
