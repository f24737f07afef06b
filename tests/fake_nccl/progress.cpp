// Advances activities by one piece at a time, as far as the other ranks have come.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "fake_nccl/comm.h"
#include "fake_nccl/reduce.h"

namespace gnnmg::fake_nccl {

using comm::nccl::Result;

Comm::Comm(const device::Table& devices, const comm::nccl::Id& id, int world, int rank, int device)
    : rank(rank),
      devices_(devices),
      id_(id),
      world_(world),
      device_(device),
      queue_(devices.open_queue(device, 0, nullptr)),
      buffer_(kPiece) {}

Comm::~Comm() { end(true); }

void Comm::end(bool aborted) {
  if (std::exchange(gone, true)) return;
  ended_at = Clock::now();
  launch = nullptr;
  ended = true;
  at_work = false;
  if (clique_ && aborted) clique_->place(rank).stage.store(Stage::kAborted);
  clique_.reset();
  devices_.close_queue(queue_);
}

void Comm::fail(Result result) {
  state = result;
  failed = true;
}

void Comm::change(Result result, std::chrono::microseconds in) {
  changed = result;
  change_at = Clock::now() + in;
}

// Faults from which a real communicator would not recover.
void Comm::refuse(const std::string& why) {
  violate(why);
  hangs = true;
}

void Comm::copy(void* to, const void* from, int64_t bytes) const {
  devices_.copy(queue_, to, from, bytes);
}

void Comm::put(const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    const int64_t whole = op.count * size_of(op.type);
    const bool root = op.peer == rank;
    switch (op.kind) {
      case Kind::kReduce:
      case Kind::kGather:
        waiting_.push_back({op});
        break;
      case Kind::kSend:
        transfers_.push_back({&clique_->box(false, rank, op.peer), true, op.from, whole});
        break;
      case Kind::kReceive:
        transfers_.push_back({&clique_->box(false, op.peer, rank), false, op.to, whole});
        break;
      case Kind::kBroadcast:
        if (!root) transfers_.push_back({&clique_->box(true, op.peer, rank), false, op.to, whole});
        for (int r = 0; root && r < world_; ++r)
          if (r != rank) transfers_.push_back({&clique_->box(true, rank, r), true, op.from, whole});
        if (root && op.to != op.from) refuse("a broadcast out of place");
        break;
    }
  }
}

void Comm::progress() {
  try {
    const bool done = doing == Doing::kJoining     ? join()
                      : doing == Doing::kOperation ? operate()
                                                   : finalize();
    if (done && state == Result::kInProgress) state = Result::kSuccess;
    if (done) at_work = false;
  } catch (const base::Error&) {  // the device fails
    fail(Result::kUnhandledCudaError);
  }
}

bool Comm::carry_out(std::vector<Op>& ops, bool hang) {
  const std::lock_guard lock(mutex);
  if (gone) return Clock::now() >= ended_at + slow_end();
  hangs = hangs || hang;
  put(std::exchange(ops, {}));
  try {
    if (!operate()) return false;
  } catch (const base::Error&) {  // the device fails
    fail(Result::kUnhandledCudaError);
  }
  if (--put_off == 0) at_work = false;
  return true;
}

bool Comm::join() {
  if (!clique_) {
    const device::Info info = devices_.info(device_);
    clique_ = Clique::join(id_, world_, rank, info.bus_id);
    if (!clique_) {
      fail(Result::kSystemError);
      return false;
    }
  }
  if (!clique_->all_at(Stage::kJoined)) return false;
  for (int r = 0; r < world_; ++r)
    if (r != rank && std::strcmp(clique_->place(r).bus_id, clique_->place(rank).bus_id) == 0) {
      violate("two ranks on one device");
      fail(Result::kInvalidUsage);
    }
  return true;
}

bool Comm::finalize() {
  std::atomic<Stage>& stage = clique_->place(rank).stage;
  if (stage.load() < Stage::kFinalized) stage.store(Stage::kFinalized);
  quiet = clique_->all_at(Stage::kFinalized);
  return quiet;
}

bool Comm::operate() {
  while (!waiting_.empty() && !hangs && advance(waiting_.front())) waiting_.erase(waiting_.begin());
  for (size_t i = 0; i < transfers_.size() && !hangs; ++i) {
    const auto before = transfers_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool in_turn = std::none_of(transfers_.begin(), before, [&](const Transfer& other) {
      return other.box == transfers_[i].box && other.done < other.whole;
    });
    if (in_turn) advance(transfers_[i]);
  }
  std::erase_if(transfers_, [](const Transfer& each) { return each.done == each.whole; });
  return waiting_.empty() && transfers_.empty() && !hangs;
}

bool Comm::advance(Meeting& meeting) {
  const Op& op = meeting.op;
  const int64_t whole = op.count * size_of(op.type);
  do {
    const int64_t bytes = std::min(kPiece, whole - meeting.done);
    const int turn = static_cast<int>(meetings_ % 2);
    if (!std::exchange(meeting.shown, true)) {
      Place& own = clique_->place(rank);
      own.piece[turn] = {static_cast<int32_t>(op.kind), static_cast<int32_t>(op.type),
                         static_cast<int32_t>(op.op), op.count, meeting.done};
      copy(own.bytes[turn], op.from + meeting.done, bytes);
      own.come.store(meetings_ + 1);
    }
    for (int r = 0; r < world_; ++r)
      if (clique_->place(r).come.load() <= meetings_) return false;
    const Piece& own = clique_->place(rank).piece[turn];
    std::vector<const uint8_t*> pieces;
    for (int r = 0; r < world_; ++r) {
      const Place& place = clique_->place(r);
      const Piece& theirs = place.piece[turn];
      if (theirs.kind != own.kind || theirs.type != own.type || theirs.op != own.op ||
          theirs.count != own.count || theirs.offset != own.offset) {
        refuse("operations that differ meet");
        return false;
      }
      pieces.push_back(place.bytes[turn]);
    }
    if (op.kind == Kind::kReduce) {
      reduce(pieces, buffer_.data(), bytes / size_of(op.type), op.type, op.op);
      copy(op.to + meeting.done, buffer_.data(), bytes);
    } else {
      for (int r = 0; r < world_; ++r)
        copy(op.to + r * whole + meeting.done, pieces[static_cast<size_t>(r)], bytes);
    }
    meeting.shown = false;
    meeting.done += bytes;
    ++meetings_;
  } while (meeting.done < whole);
  return true;
}

bool Comm::advance(Transfer& transfer) {
  Box& box = *transfer.box;
  while (transfer.done < transfer.whole) {
    const int64_t bytes = std::min(kParcel, transfer.whole - transfer.done);
    const bool full = box.sent.load() != box.taken.load();
    if (full == transfer.out) return false;
    if (transfer.out) {
      copy(box.bytes, transfer.memory + transfer.done, bytes);
      box.whole = transfer.whole;
      ++box.sent;
    } else {
      if (box.whole != transfer.whole) {
        refuse("a message of another size than expected");
        return false;
      }
      copy(transfer.memory + transfer.done, box.bytes, bytes);
      ++box.taken;
    }
    transfer.done += bytes;
  }
  return true;
}

}  // namespace gnnmg::fake_nccl
