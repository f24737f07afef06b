// One rank's communicator of the fake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device/table.h"
#include "fake_nccl/clique.h"

namespace gnnmg::fake_nccl {

using Clock = std::chrono::steady_clock;

enum class Kind : int32_t { kReduce, kGather, kBroadcast, kSend, kReceive };

struct Op {
  Kind kind = Kind::kReduce;
  uint8_t* from = nullptr;
  uint8_t* to = nullptr;
  int64_t count = 0;
  comm::nccl::Type type = comm::nccl::Type::kU8;
  comm::nccl::Reduction op = comm::nccl::Reduction::kSum;
  int peer = 0;  // peer or root
};

// The current activity of a communicator in progress.
enum class Doing { kJoining, kOperation, kFinalizing };

// Used only by its own thread, except for operations that a stream runs, and an abort.
class Comm {
 public:
  // Throws base::Error if the device cannot be used.
  Comm(const device::Table& devices, const comm::nccl::Id& id, int world, int rank, int device);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  // Queues operations for calls of progress(), which advance as far as the other ranks allow.
  void put(const std::vector<Op>& ops);
  void progress();
  // Runs the operations at the front of their stream, which the first call takes: returns true when
  // they are done or canceled.
  bool carry_out(std::vector<Op>& ops, bool hang);
  bool broken() const { return clique_ && clique_->broken(); }
  void fail(comm::nccl::Result result);
  void change(comm::nccl::Result result, std::chrono::microseconds in);
  void end(bool aborted);

  std::atomic<int> inside{0};    // calls of its thread; others abort only outside of these
  std::mutex mutex;              // guards the members below once operations are deferred
  int put_off = 0;               // number of deferred operations
  std::function<void()> launch;  // submits an operation to its stream, from launch_at on
  Clock::time_point launch_at, ended_at;
  const int rank;
  const std::thread::id owner = std::this_thread::get_id();
  comm::nccl::Result state = comm::nccl::Result::kSuccess;
  Doing doing = Doing::kJoining;
  bool hangs = false, failed = false, quiet = false, gone = false;
  std::optional<comm::nccl::Result> poll_result;
  Clock::time_point change_at = Clock::time_point::max();
  comm::nccl::Result changed = comm::nccl::Result::kSuccess;
  // Any thread: operations called, operations running, and whether the communicator is closed.
  std::atomic<int64_t> called{0};
  std::atomic<bool> at_work{false}, ended{false};
  std::set<std::string> kinds;  // kinds of operations with connections
  int device() const { return device_; }
  bool same_clique(const Comm& other) const {
    return std::memcmp(id_.bytes, other.id_.bytes, sizeof id_.bytes) == 0;
  }

 private:
  // A message, or a broadcast's transfer to one rank.
  struct Transfer {
    Box* box;
    bool out;
    uint8_t* memory;
    int64_t whole, done = 0;  // bytes
  };
  // An operation in which all ranks have the same part.
  struct Meeting {
    Op op;
    int64_t done = 0;  // bytes
    bool shown = false;
  };
  bool join();
  bool finalize();
  bool operate();
  bool advance(Meeting& meeting);
  bool advance(Transfer& transfer);
  void copy(void* to, const void* from, int64_t bytes) const;
  void refuse(const std::string& why);

  const device::Table& devices_;
  const comm::nccl::Id id_;
  const int world_, device_;
  device::Queue* queue_ = nullptr;
  std::unique_ptr<Clique> clique_;
  int64_t meetings_ = 0;
  std::vector<Meeting> waiting_;  // oldest first
  std::vector<Transfer> transfers_;
  std::vector<uint8_t> buffer_;
};

// Records a violation of NCCL's rules. Any thread.
void violate(const std::string& text);
std::chrono::milliseconds slow_end() noexcept;  // value of set_slow_ends()

}  // namespace gnnmg::fake_nccl
