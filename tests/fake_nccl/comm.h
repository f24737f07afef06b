// One rank's communicator of the fake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/device.h"
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
  int peer = 0;  // or root
};

// What a communicator is at while it is in progress.
enum class Doing { kJoining, kOperation, kFinalizing };

// Used by its own thread alone, but for operations that a stream carries out, and an abort.
class Comm {
 public:
  // Throws base::Error when the device cannot be used.
  Comm(const base::DeviceTable& devices, const comm::nccl::Id& id, int world, int rank, int device);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  // What is to be done by calls of progress(), which goes as far as the others let it.
  void put(const std::vector<Op>& ops);
  void progress();
  // Operations that stand first in their stream, which are taken up by the first call: true when
  // they are done, or called off.
  bool carry_out(std::vector<Op>& ops, bool hang);
  bool broken() const { return clique_ && clique_->broken(); }
  void fail(comm::nccl::Result result);
  void change(comm::nccl::Result result, std::chrono::microseconds in);
  void end(bool aborted);

  std::atomic<int> inside{0};  // calls of its thread; others abort outside of these
  std::mutex mutex;            // held by who changes what is below, once operations are put off
  int put_off = 0;             // operations that are not done
  const int rank;
  const std::thread::id owner = std::this_thread::get_id();
  comm::nccl::Result state = comm::nccl::Result::kSuccess;
  Doing doing = Doing::kJoining;
  bool hangs = false, failed = false, quiet = false, gone = false;
  std::optional<comm::nccl::Result> poll_result;
  Clock::time_point change_at = Clock::time_point::max();
  comm::nccl::Result changed = comm::nccl::Result::kSuccess;
  // Any thread: operations that were called, whether one is under way, and nothing more will be.
  std::atomic<int64_t> called{0};
  std::atomic<bool> at_work{false}, ended{false};
  std::set<std::string> kinds;  // of operations that it has connected for
  bool same_clique(const Comm& other) const {
    return std::memcmp(id_.bytes, other.id_.bytes, sizeof id_.bytes) == 0;
  }

 private:
  // A message, or a broadcast's way to one rank.
  struct Transfer {
    Box* box;
    bool out;
    uint8_t* memory;
    int64_t whole, done = 0;  // bytes
  };
  // Where all ranks take part alike.
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

  const base::DeviceTable& devices_;
  const comm::nccl::Id id_;
  const int world_, device_;
  base::DeviceQueue* queue_ = nullptr;
  std::unique_ptr<Clique> clique_;
  int64_t meetings_ = 0;
  std::vector<Meeting> waiting_;  // in order
  std::vector<Transfer> transfers_;
  std::vector<uint8_t> buffer_;
};

// Notes what NCCL forbids. Any thread.
void violate(const std::string& text);

}  // namespace gnnmg::fake_nccl
