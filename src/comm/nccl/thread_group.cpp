// Ranks of one process: they exchange their cards on a local board.
#include "comm/nccl/thread_group.h"

#include <mutex>
#include <utility>

#include "comm/check.h"
#include "comm/nccl/cards.h"
#include "comm/nccl/meeting.h"
#include "comm/nccl/settings.h"

namespace gnnmg::comm::nccl {
namespace {

class LocalGroup final : public MeetingGroup {
 public:
  LocalGroup(const Table& nccl, const base::DeviceTable& table, const std::vector<int>& devices)
      : MeetingGroup(nccl, table, devices,
                     std::make_shared<GroupState>(static_cast<int>(devices.size())),
                     make_local_board()) {}

  std::vector<std::string> remarks() const override {
    const std::lock_guard lock(mutex_);
    return remarks_;
  }

 private:
  void meet(int rank, const Wait& wait) override {
    board_->put(base::text("card/", rank), pack(make_card(nccl_, table_, device_of(rank))));
    try {
      state_->meet(rank, 0, kRendezvous, wait);
    } catch (const base::Error& error) {
      // A faster rank may have ended the communicator for a reason that this rank would find as
      // well.
      for (int r = 0; r < world_size(); ++r)
        if (error.status() != base::Status::kAborted || !board_->has(base::text("card/", r))) throw;
      check_cards(all_cards(rank, wait), nccl_.built_version);
      throw;
    }
    const std::vector<Card> cards = all_cards(rank, wait);
    check_cards(cards, nccl_.built_version);
    const std::lock_guard lock(mutex_);
    remarks_ = remarks_on(cards);
  }

  std::vector<Card> all_cards(int rank, const Wait& wait) {
    std::vector<Card> cards;
    for (int r = 0; r < world_size(); ++r)
      cards.push_back(unpack(get(rank, base::text("card/", r), wait)));
    return cards;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> remarks_;  // set once the ranks have met
};

}  // namespace

std::shared_ptr<ThreadGroup> make_thread_group(const Table& nccl, const base::DeviceTable& table,
                                               std::vector<int> devices) {
  check_world(static_cast<int>(devices.size()));
  check_environment(static_cast<int>(devices.size()));
  return std::make_shared<LocalGroup>(nccl, table, devices);
}

}  // namespace gnnmg::comm::nccl
