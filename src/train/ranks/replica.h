// The model and the optimizer of one rank, in the host's memory or on the rank's device.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "train/ranks/device.h"
#include "train/ranks/rank_comm.h"

namespace gnnmg::train {

// Use it on the rank's thread only. "The host's" are the job's model, and optimizer and position of
// the training, which the host reads between commands.
class Replica {
 public:
  // Copies the host's state. On the CPU the first rank of a process works on the host's model
  // itself. `device`: null for the CPU. The arguments must outlive the object.
  static std::unique_ptr<Replica> create(const Job& job, Training& training, HostLatch& latch,
                                         bool leads, RankDevice* device);
  virtual ~Replica() = default;

  nn::Model& model() const { return *model_; }
  Optimizer& optimizer() const { return *optimizer_; }
  RankDevice* device() const { return device_; }
  // The model that evaluations use: the average of the weights once there is one, until training
  // ends.
  nn::Model& evaluated() const { return done_.averages() ? *average_ : *model_; }

  // Waits for all work in the device's queue. Errors as of device::wait_for().
  virtual void settle() const = 0;
  // False if the device is still busy after `limit`.
  virtual bool drain(std::chrono::milliseconds limit) const = 0;

  // A commit has changed model and optimizer, and the position with them.
  virtual void set_position(const Position& position) = 0;
  // Runs `look`, which must not block, while the host's state is equal to this replica's at
  // `position`. Call it on the first rank of a process.
  virtual void show_host(const Position& position, const std::function<void()>& look) = 0;
  // Makes the host's state equal to the last commit. Of a lost device the host gets nothing more.
  void hand_to_host();
  // True if the host has changed the weights since the last hand_to_host().
  bool host_changed() const { return handed_.taken() && !handed_.equals(*job_.model); }
  // Collective: takes over the weights of the host of rank 0.
  void follow_host(const RankComm& comm);

  // The weights of the last good step. The first rank of a process keeps and restores them.
  void keep_good();
  void restore_good();
  // Within a commit: takes the model's weights into the average, which has `count` before.
  void average(int64_t count);
  // The weights of the best validation.
  virtual void keep_best() = 0;
  // The model gets the weights that training ends with: the best ones, or else the average.
  void end();

 protected:
  Replica(const Job& job, Training& training, bool leads, RankDevice* device)
      : job_(job), training_(training), leads_(leads), device_(device), done_(training.position) {}
  // Clones the host's model, and makes an optimizer with the state of the host's.
  void clone();
  virtual Snapshot& good() = 0;

  const Job& job_;
  Training& training_;
  const bool leads_;
  RankDevice* const device_;
  std::shared_ptr<nn::Model> model_;
  std::shared_ptr<nn::Model> average_;        // null without one
  std::unique_ptr<Optimizer> own_optimizer_;  // null on the rank that works on the host's
  Optimizer* optimizer_ = nullptr;
  Position done_;    // position of the last commit
  Snapshot handed_;  // weights that the host got last; taken on the first rank of a process
};

}  // namespace gnnmg::train
