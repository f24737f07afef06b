#include "comm/nccl/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "comm/nccl/settings.h"

namespace gnnmg::comm::nccl {

using base::Status;

RendezvousGroup::RendezvousGroup(const Table& nccl, const device::Table& table,
                                 std::vector<int> devices, std::shared_ptr<GroupState> state,
                                 std::shared_ptr<AddressBoard> board)
    : nccl_(nccl),
      table_(table),
      state_(std::move(state)),
      board_(std::move(board)),
      devices_(std::move(devices)) {
  nccl_.watch_growth(device::begin_growth, device::end_growth);
}

std::unique_ptr<Collectives> RendezvousGroup::connect(int rank, const Wait& wait) {
  if (rank < first_rank() || rank >= first_rank() + num_local())
    base::fail(Status::kInvalidArgument, "rank ", rank, " is none of ranks ", first_rank(), " to ",
               first_rank() + num_local() - 1, " of this process");
  if (!state_->enter(rank, 0))
    base::fail(Status::kInvalidArgument, "rank ", rank, " is already connected");
  std::shared_ptr<Parts> parts;  // aborted only after the other ranks have got the cause
  try {
    // First, so that all later CUDA calls of this thread use its own device.
    parts = std::make_shared<Parts>(nccl_, table_, device_of(rank),
                                    Locals{first_rank(), num_local(), gate_});
    device::LaunchOrder::set_current(gate_);
    // Pinned memory must be allocated before any rank has a kernel that waits for others.
    if (state_->spread()) {
      const int64_t world = world_size();
      parts->comm_stream.word_buffer(2 * world * world * static_cast<int64_t>(sizeof(int64_t)));
      parts->comm_stream.digests(world);
    }
    meet(rank, wait);
    const Id id = agree_on_id(rank, wait);
    if (state_->ended()) state_->throw_cause(rank, 0);
    {
      // NCCL allocates memory until it is ready. Among processes it waits for other ranks there, so
      // the gate stays open.
      std::optional<device::MemoryCall> call;
      if (!state_->spread()) call.emplace();
      parts->handle.init(world_size(), id, rank, device_of(rank));
      state_->watch(rank, 0, kRendezvous, wait, [&] { return parts->handle.ready(); });
    }
    return make_engine(state_, rank, std::move(parts));
  } catch (const Failure& failure) {
    const base::Error error = start_error(rank, failure, table_, device_of(rank));
    const bool called_off = state_->ended();  // earlier than NCCL's error
    // A process lost in the meantime explains NCCL's connection error.
    const bool elsewhere = state_->spread() && (failure.result() == Result::kRemoteError ||
                                                failure.result() == Result::kSystemError);
    if (elsewhere)
      state_->end_unless_explained(rank, 0, {error.status(), error.what(), rank, 0, {}});
    end(rank, error);
    if (called_off) wait.cancel.check(kRendezvous);
    if ((called_off || elsewhere || error.status() == Status::kPeerLost) &&
        state_->cause()->text != error.what())
      state_->throw_cause(rank, 0);
    throw base::Error(error);
  } catch (const base::Error& error) {
    end(rank, error);
    if (error.status() == Status::kAborted) wait.cancel.check(kRendezvous);
    throw;
  }
}

void RendezvousGroup::abort(const std::string& why) noexcept {
  state_->end(abort_cause(why, -1, kEveryOperation));
}

std::optional<base::Error> RendezvousGroup::cause() const {
  const std::optional<Cause> cause = state_->cause();
  if (!cause) return std::nullopt;
  const bool waited_for = std::ranges::any_of(cause->missing, [&](int rank) {
    return rank >= first_rank() && rank < first_rank() + num_local();
  });
  const bool shared = cause->status == Status::kTimeout || cause->status == Status::kPeerLost ||
                      cause->status == Status::kMismatch || cause->status == Status::kAuth;
  return base::Error(shared && !waited_for ? cause->status : Status::kAborted, cause->text,
                     cause->rank);
}

void RendezvousGroup::end(int rank, const base::Error& error) {
  state_->end(make_cause(error.status(), error.what(), error.rank() < 0 ? rank : error.rank(), 0));
  state_->leave(rank);
}

std::string RendezvousGroup::get(int rank, const std::string& key, const Wait& wait) {
  const auto there = [&] { return board_->has(key); };
  try {
    if (!there()) state_->watch(rank, 0, kRendezvous, wait, there);
  } catch (const base::Error&) {
    // Another rank may have ended the communicator because of the value that this rank is about to
    // read, and will find too.
    if (!there()) throw;
  }
  const auto value = board_->get(key, [] { return true; });
  if (!value)
    state_->wait(rank, 0, kRendezvous, wait,
                 [] { return false; });  // the board is gone: throws the cause
  return *value;
}

Id RendezvousGroup::agree_on_id(int rank, const Wait& wait) {
  Id id{};
  if (rank == 0) {
    check(nccl_, nccl_.unique_id(&id), nullptr);
    check_environment(num_local());  // NCCL has read its configuration file by now
    board_->put("id", std::string(id.bytes, sizeof id.bytes));
    return id;
  }
  const std::string bytes = get(rank, "id", wait);
  if (bytes.size() != sizeof id.bytes)
    base::fail(Status::kProtocol, "an id of NCCL with ", bytes.size(), " bytes, expected ",
               sizeof id.bytes);
  std::memcpy(id.bytes, bytes.data(), sizeof id.bytes);
  return id;
}

}  // namespace gnnmg::comm::nccl
