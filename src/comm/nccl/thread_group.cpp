// The meeting of rank threads: all come to a point first, where a missing one can be named; then
// they compare their devices and NCCL's versions, in which NCCL's own messages are poor or late;
// then rank 0 makes the id by which NCCL finds its ranks.
#include "comm/nccl/thread_group.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "comm/address_board.h"
#include "comm/check.h"
#include "comm/join/frame.h"
#include "comm/nccl/engine.h"

namespace gnnmg::comm::nccl {
namespace {

using base::Status;

constexpr const char* kRendezvous = "rendezvous";

// "2.28.9"
std::string version_text(int version) {
  const int unit = version < 10'000 ? 1000 : 10'000;  // up to 2.8, and since
  return base::text(version / unit, ".", version % unit / 100, ".", version % 100);
}

// What ranks tell each other before anything else.
struct Card {
  int version = 0;     // of NCCL
  std::string bus_id;  // of the device
  std::string device;  // its name
};

std::string pack(const Card& card) {
  FrameWriter out;
  out.i64(card.version);
  out.text(card.bus_id);
  out.text(card.device);
  return out.fields();
}

Card unpack(const std::string& bytes) {
  FrameReader in(bytes);
  Card card;
  card.version = static_cast<int>(in.i64());
  card.bus_id = in.text();
  card.device = in.text();
  in.finish();
  return card;
}

template <size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

// The same error on every rank.
void check_cards(const std::vector<Card>& cards, int built) {
  for (size_t r = 1; r < cards.size(); ++r)
    if (cards[r].version != cards[0].version)
      throw base::Error(
          Status::kMismatch,
          base::text("rendezvous: rank ", r, " has loaded NCCL ", version_text(cards[r].version),
                     ", but rank 0 NCCL ", version_text(cards[0].version),
                     ": all ranks need the same version"),
          static_cast<int>(r));
  if (cards[0].version < built)
    base::fail(Status::kDependency, "rendezvous: NCCL ", version_text(cards[0].version),
               " is loaded, expected ", version_text(built),
               " or later; if another library of this program has brought it, let gnnmg load its "
               "own first");
  for (size_t r = 1; r < cards.size(); ++r)
    for (size_t other = 0; other < r; ++other)
      if (cards[r].bus_id == cards[other].bus_id)
        throw base::Error(
            Status::kInvalidArgument,
            base::text("rendezvous: ranks ", other, " and ", r, " are both on the GPU at ",
                       cards[r].bus_id, " (", cards[r].device,
                       "): NCCL needs a GPU of its own for each rank, because its kernels wait for "
                       "each other and would never run side by side on one; start at most as many "
                       "ranks as there are GPUs"),
            static_cast<int>(r));
}

class NcclThreadGroup final : public ThreadGroup {
 public:
  NcclThreadGroup(const Table& nccl, const base::DeviceTable& table, std::vector<int> devices)
      : nccl_(nccl),
        table_(table),
        devices_(std::move(devices)),
        state_(std::make_shared<GroupState>(static_cast<int>(devices_.size()))),
        board_(make_local_board()) {}

  int world_size() const override { return state_->world_size(); }

  std::unique_ptr<Collectives> connect(int rank, const Wait& wait) override {
    if (rank < 0 || rank >= world_size())
      base::fail(Status::kInvalidArgument, "rank ", rank, " is none of ranks 0 to ",
                 world_size() - 1);
    if (!state_->enter(rank, 0))
      base::fail(Status::kInvalidArgument, "rank ", rank, " is already connected");
    std::unique_ptr<Parts> parts;  // aborted after the others have been told why
    try {
      board_->put(base::text("card/", rank), pack(own_card(rank)));
      meet(rank, wait);
      parts = std::make_unique<Parts>(nccl_, table_, devices_[rank]);
      const Id id = agree_on_id(rank, wait);
      if (state_->ended()) state_->throw_cause(rank, 0);
      parts->handle.init(world_size(), id, rank, devices_[rank]);
      state_->watch(rank, 0, kRendezvous, wait, [&] { return parts->handle.ready(); });
      return make_engine(state_, rank, std::move(parts));
    } catch (const Failure& failure) {
      const base::Error error(
          status_of(failure.result()),
          base::text("rendezvous: NCCL cannot start on rank ", rank, ": ", failure.what(),
                     "; if it cannot reach the others, is NCCL_SOCKET_IFNAME the right network "
                     "interface?"),
          rank);
      const bool called_off = state_->ended();  // before NCCL saw anything of it
      end(rank, error);
      if (called_off) wait.cancel.check(kRendezvous);
      if (called_off || error.status() == Status::kPeerLost) state_->throw_cause(rank, 0);
      throw base::Error(error);
    } catch (const base::Error& error) {
      end(rank, error);
      if (error.status() == Status::kAborted) wait.cancel.check(kRendezvous);
      throw;
    }
  }

  void abort(const std::string& why) noexcept override {
    state_->end({Status::kAborted, why, -1, std::numeric_limits<uint64_t>::max(), {}});
  }

 private:
  void end(int rank, const base::Error& error) {
    state_->end({error.status(), error.what(), error.rank() < 0 ? rank : error.rank(), 0, {}});
    state_->leave(rank);
  }

  Card own_card(int rank) const {
    Card card;
    check(nccl_, nccl_.version(&card.version), nullptr);
    const base::DeviceInfo info = table_.info(devices_[rank]);
    card.bus_id = bounded(info.bus_id);
    card.device = bounded(info.name);
    return card;
  }

  // All have come, and fit together.
  void meet(int rank, const Wait& wait) {
    try {
      state_->meet(rank, 0, kRendezvous, wait);
    } catch (const base::Error& error) {
      // Who has looked first may have ended it, for a reason that this rank would find as well.
      for (int r = 0; r < world_size(); ++r)
        if (error.status() != Status::kAborted || !board_->has(base::text("card/", r))) throw;
      check_cards(all_cards(rank, wait), nccl_.built_version);
      throw;
    }
    check_cards(all_cards(rank, wait), nccl_.built_version);
  }

  std::string get(int rank, const std::string& key, const Wait& wait) {
    const auto there = [&] { return board_->has(key); };
    try {
      if (!there()) state_->watch(rank, 0, kRendezvous, wait, there);
    } catch (const base::Error&) {
      // Another rank may have ended it all with what this one was about to read, and will find too.
      if (!there()) throw;
    }
    return *board_->get(key, [] { return true; });
  }

  std::vector<Card> all_cards(int rank, const Wait& wait) {
    std::vector<Card> cards;
    for (int r = 0; r < world_size(); ++r)
      cards.push_back(unpack(get(rank, base::text("card/", r), wait)));
    return cards;
  }

  Id agree_on_id(int rank, const Wait& wait) {
    Id id{};
    if (rank == 0) {
      check(nccl_, nccl_.unique_id(&id), nullptr);
      board_->put("id", std::string(id.bytes, sizeof id.bytes));
      return id;
    }
    const std::string bytes = get(rank, "id", wait);
    std::memcpy(id.bytes, bytes.data(), sizeof id.bytes);
    return id;
  }

  const Table& nccl_;
  const base::DeviceTable& table_;
  const std::vector<int> devices_;
  const std::shared_ptr<GroupState> state_;
  const std::shared_ptr<AddressBoard> board_;
};

}  // namespace

std::shared_ptr<ThreadGroup> make_thread_group(const Table& nccl, const base::DeviceTable& table,
                                               std::vector<int> devices) {
  check_world(static_cast<int>(devices.size()));
  return std::make_shared<NcclThreadGroup>(nccl, table, std::move(devices));
}

}  // namespace gnnmg::comm::nccl
