// Each rank copies its data to memory that the others read once all have come. A rank has two such
// buffers in turn: when it writes one of them again, all ranks have come to the operation between,
// so they have read it.
#include "comm/local.h"

#include <array>
#include <atomic>
#include <cstring>
#include <new>

#include "base/memory.h"
#include "comm/check.h"
#include "comm/reduce.h"

namespace gnnmg::comm {
namespace {

using base::Status;
using base::TensorView;

constexpr int64_t kPieceBytes = 64 << 10;  // fits into a core's nearest caches

void copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<size_t>(bytes));
}

// Data of one rank for one operation: its tensors, one after another.
class Shown {
 public:
  void write(std::span<const TensorView> tensors) {
    begin_.assign(1, 0);
    for (const TensorView& tensor : tensors) begin_.push_back(begin_.back() + tensor.num_bytes());
    if (begin_.back() > capacity_) {
      memory_ = base::allocate_pages(begin_.back(), "the exchange between ranks");
      capacity_ = begin_.back();
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      copy(tensor(i), tensors[i].data, tensors[i].num_bytes());
  }
  uint8_t* tensor(size_t i) const { return static_cast<uint8_t*>(memory_.get()) + begin_[i]; }

 private:
  std::shared_ptr<void> memory_;
  int64_t capacity_ = 0;
  std::vector<int64_t> begin_;
};

// The pieces of an all-reduce, which ranks take one by one. The last rank to come adds up a single
// piece before the others wake up; of several pieces they take some.
struct Pieces {
  std::atomic<int64_t> next{0}, left{0};
};

// The memory that the ranks of a communicator share. Operations use its two halves in turn.
struct Exchange {
  explicit Exchange(std::shared_ptr<GroupState> shared) : state(std::move(shared)) {
    for (auto& of_ranks : shown) of_ranks.resize(state->world_size());
  }
  const std::shared_ptr<GroupState> state;
  std::array<std::vector<Shown>, 2> shown;  // one per rank
  std::array<Pieces, 2> pieces;
};

class LocalEnd final : public Collectives {
 public:
  LocalEnd(std::shared_ptr<Exchange> exchange, int rank)
      : exchange_(std::move(exchange)), state_(*exchange_->state), rank_(rank) {}
  ~LocalEnd() override { state_.leave(rank_); }

  int rank() const override { return rank_; }
  int world_size() const override { return state_.world_size(); }

  void all_reduce(const TensorView& tensor, ReduceOp op, const Wait& wait) override {
    Call call = check_reduce(tensor, op);
    const int64_t count = tensor.shape.num_elements();
    const int64_t piece = kPieceBytes / base::dtype_size(tensor.dtype);
    const int64_t num_pieces = world_size() == 1 ? 0 : (count + piece - 1) / piece;
    run(std::move(call), {&tensor, 1}, wait, num_pieces, [&](Pieces& pieces) {
      if (world_size() == 1) return;
      std::vector<void*> parts(world_size());
      for (int64_t i = pieces.next++; i < num_pieces; i = pieces.next++) {
        for (int r = 0; r < world_size(); ++r) parts[r] = shown(r).tensor(0) + i * kPieceBytes;
        reduce_in_order(tensor.dtype, op, parts, std::min(piece, count - i * piece));
        if (--pieces.left == 0) state_.notify([] {});
      }
      if (pieces.left > 0)
        state_.wait(rank_, operation_, "all_reduce", wait, [&] { return pieces.left == 0; });
      copy(tensor.data, shown(0).tensor(0), tensor.num_bytes());
    });
  }

  void broadcast(const TensorView& tensor, int root, const Wait& wait) override {
    Call call = check_broadcast(tensor, root, world_size());
    run(std::move(call), {&tensor, rank_ == root ? size_t{1} : 0}, wait, [&] {
      if (rank_ != root) copy(tensor.data, shown(root).tensor(0), tensor.num_bytes());
    });
  }

  void all_gather(const TensorView& input, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    Call call = check_gather(input, outputs, rank_, world_size());
    run(std::move(call), {&input, 1}, wait, [&] { receive(input, outputs, 0); });
  }

  void all_to_all(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    Call call = check_exchange(inputs, outputs, rank_, world_size());
    run(std::move(call), inputs, wait, [&] { receive(inputs[rank_], outputs, rank_); });
  }

  void barrier(const Wait& wait) override {
    run({"barrier", ""}, {}, wait, [] {});
  }
  void shutdown(const Wait& wait) override {
    run({"shutdown", ""}, {}, wait, [] {});
  }

  void abort(const std::string& why) noexcept override {
    state_.end(abort_cause(why, -1, kEveryOperation));
  }
  bool spent() const noexcept override { return state_.ended(); }
  void set_position(const Position& position) noexcept override {
    state_.set_position(rank_, position);
  }
  void set_caller(const std::string& name) override { caller_ = name; }

 private:
  Shown& shown(int rank) const { return exchange_->shown[operation_ % 2][rank]; }

  // Copies every rank's tensor number `number` to the outputs. The own one is first, because the
  // outputs may overlap the caller's inputs.
  void receive(const TensorView& own, std::span<const TensorView> outputs, size_t number) const {
    copy(outputs[rank_].data, own.data, own.num_bytes());
    for (int r = 0; r < world_size(); ++r)
      if (r != rank_) copy(outputs[r].data, shown(r).tensor(number), outputs[r].num_bytes());
  }

  void run(Call call, std::span<const TensorView> inputs, const Wait& wait,
           const std::function<void()>& take) {
    run(std::move(call), inputs, wait, 0, [&](Pieces&) { take(); });
  }

  // Shows `inputs` to the other ranks, waits until all have come and there are pieces to take or
  // all are done, and calls `take`. A rank that is alone has nothing to show.
  void run(Call call, std::span<const TensorView> inputs, const Wait& wait, int64_t num_pieces,
           const std::function<void(Pieces&)>& take) {
    const uint64_t operation = ++operation_;
    const std::string what = call.what;
    call.caller = caller_;
    Pieces& pieces = exchange_->pieces[operation % 2];
    try {
      // After the end another rank may still read the data that this one has shown.
      if (wait.cancel.cancelled() || state_.ended())
        state_.wait(rank_, operation, what, wait, [] { return false; });  // throws
      if (rank_ == 0) {  // the others take pieces only after this rank has come
        pieces.next = 0;
        pieces.left = num_pieces;
      }
      if (world_size() > 1) shown(rank_).write(inputs);
      state_.enter(rank_, operation, std::move(call), num_pieces != 1);
      state_.wait(rank_, operation, what, wait, [&] {
        return state_.all_came(operation) && (pieces.left == 0 || pieces.next < num_pieces);
      });
      take(pieces);
    } catch (const base::Error& error) {
      state_.end(make_cause(error.status(), error.what(), error.rank(), operation));
      // The canceling thread may have ended the communicator before this rank checks its token.
      if (error.status() == Status::kAborted) wait.cancel.check(what);
      throw;
    } catch (const std::bad_alloc&) {
      const base::Error error(Status::kNoMemory, what + ": out of memory", rank_);
      state_.end(make_cause(error.status(), error.what(), rank_, operation));
      throw base::Error(error);
    }
  }

  const std::shared_ptr<Exchange> exchange_;
  GroupState& state_;
  const int rank_;
  uint64_t operation_ = 0;
  std::string caller_;
};

class LocalGroup final : public ThreadGroup {
 public:
  LocalGroup(std::shared_ptr<GroupState> state, std::shared_ptr<Processes> job)
      : exchange_(std::make_shared<Exchange>(std::move(state))),
        state_(*exchange_->state),
        job_(std::move(job)) {}

  int world_size() const override { return state_.world_size(); }

  std::unique_ptr<Collectives> connect(int rank, const Wait& wait) override {
    if (rank < 0 || rank >= world_size())
      base::fail(Status::kInvalidArgument, "rank ", rank, " is none of ranks 0 to ",
                 world_size() - 1, " of this process");
    if (!state_.enter(rank, 0))
      base::fail(Status::kInvalidArgument, "rank ", rank, " is already connected");
    state_.meet(rank, 0, "rendezvous", wait);
    return std::make_unique<LocalEnd>(exchange_, rank);
  }

  void abort(const std::string& why) noexcept override {
    state_.end(abort_cause(why, -1, kEveryOperation));
  }

 private:
  const std::shared_ptr<Exchange> exchange_;
  GroupState& state_;
  const std::shared_ptr<Processes> job_;
};

}  // namespace

std::shared_ptr<ThreadGroup> make_local_group(std::shared_ptr<GroupState> state,
                                              std::shared_ptr<Processes> job) {
  return std::make_shared<LocalGroup>(std::move(state), std::move(job));
}

std::shared_ptr<ThreadGroup> ThreadGroup::create(int world_size) {
  check_world(world_size);
  return make_local_group(std::make_shared<GroupState>(world_size));
}

}  // namespace gnnmg::comm
