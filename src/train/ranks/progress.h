// The progress of a rank for the host: its seconds, the state of training, and the figures
// of an epoch.
#pragma once

#include <memory>

#include "feature/device.h"
#include "loader/device_source.h"
#include "train/ranks/rank_comm.h"

namespace gnnmg::train {

// Use it on the rank's thread only.
class RankProgress {
 public:
  // `device`: null for the CPU. `source`: the rows there. Both must outlive the object.
  RankProgress(Training& training, RankComm& comm, const nn::Device* device,
               std::shared_ptr<const loader::DeviceSource> source);

  // After a commit: the rank's seconds, and on the first rank of a process the state of training.
  // `num_steps`: of the position's epoch.
  void show(const Position& position, int64_t num_steps) const;
  void show_evaluating() const;

  // Reports the seconds of an epoch that is over, and the rows that the device gathered in it.
  void end_epoch(const Position& position) const;
  // Rows that other work has gathered until now do not count for the next epoch.
  void restart_traffic();
  // Collective, after end_epoch() of all ranks: fills in everything about the epoch's steps.
  void fill(EpochReport& report, const Position& position) const;

 private:
  feature::DeviceTraffic traffic() const;
  void tell_times(const Position& position, const feature::DeviceTraffic& traffic) const;
  void find_slowest(EpochReport& report, const EpochSums& sums) const;

  Training& training_;
  RankComm& comm_;
  const nn::Device* const device_;
  const std::shared_ptr<const loader::DeviceSource> source_;
  feature::DeviceTraffic traffic_;  // counts at the beginning of this epoch
};

}  // namespace gnnmg::train
