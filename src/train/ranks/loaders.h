// Loaders of one rank: its mini-batches of a plan, in host memory or on its device.
#pragma once

#include <memory>
#include <span>

#include "loader/loader.h"
#include "train/ranks/device.h"
#include "train/ranks/rank_comm.h"

namespace gnnmg::train {

// Use it on the rank's thread only.
class RankLoaders {
 public:
  // Opens graph and features on the device; `device`: null for the CPU. `comm` is connected. The
  // arguments must outlive the object. Errors as of RankDevice::open_source().
  RankLoaders(const Job& job, const RankComm& comm, RankDevice* device, int64_t batches_per_step);

  // The settings for training.
  loader::LoaderConfig config() const;
  // A loader over `ids`, canceled if the rank is. Calls of the host that it makes count in
  // `host_calls`.
  std::unique_ptr<loader::Loader> make(std::span<const int64_t> ids,
                                       const loader::LoaderConfig& config,
                                       const base::HostQueue::Count& host_calls) const;
  // Graph and features on the device; null for the CPU.
  const std::shared_ptr<const loader::DeviceSource>& source() const { return source_; }

 private:
  const Job& job_;
  const RankComm& comm_;
  const int64_t batches_per_step_;
  std::shared_ptr<const loader::DeviceSource> source_;
};

}  // namespace gnnmg::train
