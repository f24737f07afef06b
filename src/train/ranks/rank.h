// One rank: a replica, its optimiser, its loader and its end of the communicator, on a thread of
// its own.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "train/eval/embedding.h"
#include "train/eval/evaluation.h"
#include "train/job/job.h"
#include "train/ranks/device.h"
#include "train/step/captured/pipeline.h"
#include "train/step/exchange.h"
#include "train/step/queue_waits.h"

namespace gnnmg::train {

// Through here ranks change what the host reads, which nobody does any more that was left behind
// with a device that hangs, whenever that goes on.
class HostDoor {
 public:
  // Runs `change`, which waits for nothing; Error(kCancelled) once the door is closed.
  template <typename F>
  void pass(const F& change) {
    const std::lock_guard lock(mutex_);
    if (closed_) base::fail(base::Status::kCancelled, "training was cancelled");
    change();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
};

// What the ranks of one group share.
struct GroupShared {
  std::shared_ptr<comm::ThreadGroup> comm;  // null until the processes have met
  base::CancelToken cancel;                 // of this group: switched by a failure too
  std::atomic<int64_t> arrived{0};          // ranks of this process, see Rank::meet_here()
  StageRows rows;
  const std::shared_ptr<HostDoor> door = std::make_shared<HostDoor>();

  // The communicator of a rank that could not be made: it goes when the others have been told why.
  void keep(int rank, std::unique_ptr<comm::Collectives> comm);
  std::unique_ptr<comm::Collectives> give_up(int rank);  // null: there is none

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<comm::Collectives>> kept_;
};

// All functions run on the rank's thread, cancel() aside, and all but it are collective.
class Rank {
 public:
  // Meets the other ranks and takes over model, optimiser and position of the first. `rank` counts
  // in the whole world. `device` is the one that it works on, and outlives it; null: the CPU.
  Rank(const Job& job, Training& training, GroupShared& group, int rank, RankDevice* device);

  // Before a command, which the host knows by this name: processes find out where theirs differ.
  void begin_call(const std::string& name) { comm_->set_caller(name); }
  // Before a command. Where the host has changed the weights since the last one ended, all ranks
  // take over those of the first.
  void follow_host();
  // After a command that failed: nothing of this rank's waits on its device for other ranks any
  // more. Not for one that is lost. False where the device does not come to its end within `rest`.
  bool call_off(std::chrono::milliseconds rest) noexcept;
  // After a command, also one that failed: what the host finds, which is the last step that was
  // done. Of a device that is lost, nothing more.
  void hand_to_host();

  // Trains on until all epochs are done, `max_steps` steps are, or a stop is agreed on.
  void train(int64_t max_steps);
  nn::Metrics evaluate(data::SplitPart part);
  base::Tensor embed();  // see embedding.h
  void embed_to_file(const std::string& path);
  const Position& position() const { return position_; }

  // Any thread: waits for the loader end.
  void cancel() noexcept;

 private:
  void step();
  // Collective: who was busy longest in the epoch.
  void find_slowest(const EpochSums& sums, EpochReport& report);
  void diverged();
  void write_failed();
  // Collective: waits while the rank that writes checkpoints finds the disk `busy`.
  void wait_for_disk(const std::function<bool()>& busy);
  // Before the last checkpoint of a training is taken, which gives way to the best.
  void make_room();
  // Waits until what was taken is on disk; fails on all ranks when it could not be put there.
  void flush();
  std::chrono::milliseconds slice() const;  // how long a rank may be busy without a word
  bool writes() const;                      // this rank writes checkpoints
  bool by_rank() const;                     // the loss is the mean of the ranks' means
  void end_epoch();
  void keep_best();  // the weights of now
  void finish();
  loader::BatchRef next_batch();
  // What mini-batches came to, here and in a device's memory.
  struct Sums {
    StepSums host;
    DeviceCounts device;
    void add(const Sums& other);
  };
  // Of an eager step on a device, which is through: what its queue has waited for mini-batches.
  void tell_of_lone_row();
  void tell_waiting(EpochSums& times) const;
  // Forward and backward pass of one mini-batch.
  Sums run_batch(const loader::Batch& batch);
  // Of all of this rank's in a step, where batch norm takes its statistics from the whole step.
  // Collective; adds the seconds of its all-reduces to `reduce_seconds`.
  Sums run_together(std::span<const loader::BatchRef> batches, double& reduce_seconds);
  // What all ranks together have made of a step becomes the position; `update` changes the model.
  void commit_step(const StepSums& sums, const EpochSums& times, double rate,
                   const std::function<void()>& update);
  // What may follow from it: a stop, a checkpoint, the end.
  void follow_step(const StepSums& sums);

  // Captured steps and such over their shapes, in rank_captured.cpp; collective. Whether there are
  // any, and once before the first what they take; as the log says. All ranks or none, since their
  // exchanges differ. Error(kUnsupported) where they have to be captured and cannot.
  void choose_capture();
  void capture_steps();
  void give_up_capture(std::string why);
  // Starts the next step, and reads the one before it. False where none is in flight and none may
  // be started.
  bool advance_captured(int64_t& max_steps);
  void start_captured(int64_t step);
  void read_captured();
  void log_shapes();  // how many mini-batches took which
  // Loss and counts of a mini-batch; its loss is added to `total`, on the CPU where it is finite.
  Sums add_loss(const loader::Batch& batch, const at::Tensor& logits, at::Tensor& total) const;
  void check_edge_ids(const loader::Batch& batch) const;
  // What a pass reads beside its mini-batch; kept until the pass is over.
  struct Held {
    nn::SparseView sparse;
    std::vector<nn::EdgeValues> edges;
  };
  nn::ForwardArgs args_of(const loader::Batch& batch, bool training, Held& held) const;
  // Waits for what the device was given, where there is one.
  void settle() const;
  // The first rank's, on its device: the host's model and optimiser become equal to it, and are
  // for `then`, which waits for nothing.
  void copy_to_host(const std::function<void()>& then = [] {});
  // Takes a checkpoint.
  void save(CheckpointWriter::Why why);
  void seek_loader();
  std::unique_ptr<loader::Loader> make_loader(std::span<const int64_t> ids,
                                              const loader::LoaderConfig& config,
                                              const base::HostQueue::Count& host_calls);
  loader::LoaderConfig loader_config() const;
  std::vector<int32_t> process_of_rank() const;
  void tell_of_steps_of_few_parts();
  void put_evaluation_loader(std::unique_ptr<loader::Loader> next);
  nn::Metrics evaluate_part(data::SplitPart part);
  Participant participant();
  int64_t chunk() const;  // nodes or graphs of an evaluation at a time
  bool agree(bool flag);
  void check_part(data::SplitPart part);  // the same on all processes
  void find_leaders();
  void begin();  // what the constructor does, connected
  void connect();
  // Waits until all ranks of this process are here, before one of them fails for a reason that all
  // have seen: its failure ends what the others are in. Error(kTimeout) where one does not come.
  void meet_here();
  // Before all ranks of all processes fail for such a reason, of which none tells the others: waits
  // until all have seen it, so that none loses the first one that leaves instead.
  void leave_together();
  comm::Wait wait() const;
  // Of what takes as long as a process needs to get ready: data that is pinned, say.
  comm::Wait wait_for_start() const;
  // Tells the others where this rank is: in a callback while it is in `host_calls`.
  void note(comm::Phase phase, base::HostQueue::Count host_calls = nullptr);
  bool spread() const { return job_.environment.processes != nullptr; }
  // Changes model, optimiser and position together: whole, or after a cancel not at all.
  void commit(const std::function<void()>& change);
  void show();
  // Where its time went, for the host; with what its device gathered, at the end of an epoch.
  void tell_times(const feature::DeviceTraffic& traffic = {});

  const Job& job_;
  Training& training_;
  GroupShared& group_;
  const int rank_;
  const bool leads_;  // the first rank of this process: what the training keeps is in its hands
  RankDevice* const device_;  // null: the CPU
  std::vector<int> leaders_;  // by rank, the first one of its process; empty: one process
  std::unique_ptr<comm::Collectives> comm_;
  std::shared_ptr<nn::Model> model_;
  std::unique_ptr<Optimizer> own_optimizer_;  // of all but the process's first rank on the CPU
  Optimizer* optimizer_ = nullptr;
  Position position_;
  Position done_;       // as of the last commit; on a device
  Snapshot handed_;     // the weights that the host found last; taken on the process's first rank
  Snapshot last_good_;  // on a device, in place of the training's
  std::unique_ptr<StepExchange> exchange_;
  bool has_run_ = false;      // a mini-batch, eagerly
  bool joint_norms_ = false;  // the model has batch norms, and they are synchronised

  // What the loaders that this rank waits for, one of them at a time, call of the host's.
  const base::HostQueue::Count host_calls_ = std::make_shared<std::atomic<int>>(0),
                               evaluation_calls_ = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<const loader::DeviceSource> source_;  // of the loaders; null: the CPU's
  std::unique_ptr<PinnedCopies> copies_;                // of evaluations on a device
  std::mutex loaders_;                                  // guards the pointers against cancel()
  std::unique_ptr<loader::Loader> loader_;
  std::unique_ptr<loader::Loader> evaluation_loader_;
  int64_t loader_epoch_ = -1;  // what loader_ hands out next
  int64_t loader_step_ = 0;
  int64_t num_steps_ = 0, num_batches_ = 0;  // of the epoch of position_
  feature::DeviceTraffic traffic_;           // until this epoch began
  bool stop_agreed_ = false;
  std::unique_ptr<QueueWaits> waits_;       // where steps on a device go by true counts
  std::unique_ptr<CapturedStep> captured_;  // in place of loader_; null: steps go by true counts
  Clock::time_point read_at_;               // when the last of them was
};

}  // namespace gnnmg::train
