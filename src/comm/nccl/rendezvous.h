// The rendezvous of rank threads: all meet first, so that an error can name a missing rank, then
// rank 0 creates NCCL's id. Groups of one process and of many differ in how ranks exchange their
// RankInfo.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/address_board.h"
#include "comm/group_state.h"
#include "comm/nccl/engine.h"

namespace gnnmg::comm::nccl {

class RendezvousGroup : public ThreadGroup {
 public:
  // `devices`: of this process's ranks, in order.
  RendezvousGroup(const Table& nccl, const device::Table& table, std::vector<int> devices,
                  std::shared_ptr<GroupState> state, std::shared_ptr<AddressBoard> board);

  int world_size() const override { return state_->world_size(); }
  int num_local() const override { return static_cast<int>(devices_.size()); }
  std::unique_ptr<Collectives> connect(int rank, const Wait& wait) override;
  void abort(const std::string& why) noexcept override;
  std::optional<base::Error> cause() const override;

 protected:
  // Returns when all ranks have come and suit each other.
  virtual void meet(int rank, const Wait& wait) = 0;
  // Returns a value that a rank has put on the board; ends with the communicator.
  std::string get(int rank, const std::string& key, const Wait& wait);
  int device_of(int rank) const { return devices_[static_cast<size_t>(rank - first_rank())]; }

  const Table& nccl_;
  const device::Table& table_;
  const std::shared_ptr<GroupState> state_;
  const std::shared_ptr<AddressBoard> board_;

 private:
  Id agree_on_id(int rank, const Wait& wait);
  void end(int rank, const base::Error& error);
  const std::vector<int> devices_;
  const std::shared_ptr<device::LaunchOrder> gate_ =
      std::make_shared<device::LaunchOrder>(num_local());
};

inline constexpr const char* kRendezvous = "rendezvous";

}  // namespace gnnmg::comm::nccl
