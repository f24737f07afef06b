// GPUs and an NCCL among them, in this process and without hardware. Device memory is host memory.
// One thread executes the streams of all GPUs, later than the calls. A plan defines faults. A
// violation records each use that NCCL forbids and that would crash or hang a real one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/nccl/table.h"
#include "device/table.h"

namespace gnnmg::test {

// The fault at the `call`-th call of NCCL (from 1) by `rank`. State queries, abort and destroy do
// not count.
struct Fault {
  enum Kind {
    kNone,
    kFails,      // the call itself returns `result`
    kPollFails,  // the next state query returns `result`
    kLater,      // the call stays in progress and then ends with `result`
    kStuck,      // the call stays in progress for ever
    kHangs,      // the operation is queued and never ends
    kBreaks,     // the operation never ends, and the state becomes `result`
  };
  Kind kind = kNone;
  int rank = 0;
  int call = 0;
  comm::nccl::Result result = comm::nccl::Result::kSystemError;
};

// One at a time. Settings are made before the ranks start.
class FakeGpus {
 public:
  static constexpr int kVersion = 22809;
  explicit FakeGpus(int count);
  ~FakeGpus();
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  static const comm::nccl::Table& nccl();
  static const device::Table& devices();
  // Sets the rank of this thread's later calls.
  static void act_as(int rank);

  void plan(const Fault& fault);
  // Keeps a communicator usable after NCCL refuses an argument. By default the refusal breaks it,
  // as in NCCL 2.28.
  void forgive_refusals();
  // Sets how long a GPU stays busy after an abort, also for earlier aborts.
  void set_slow_ends(int64_t ms);
  // Sets the error of busy peers after an abort; kRemoteError by default.
  void set_peers_see(comm::nccl::Result result);
  void set_version(int rank, int version);
  void set_bus_id(int device, const std::string& bus_id);
  // Loses the device at its n-th use from now, counted from 1: queues, copies, memory, queries.
  void lose_device(int device, int use);
  void refuse_memory(int device, int allocation);  // the n-th one from now, counted from 1

  int calls(int rank) const;  // number so far
  int uses(int device) const;
  struct Count {
    int made = 0, aborted = 0, destroyed = 0;  // communicators
    int memory = 0, queues = 0, streams = 0;   // currently alive
  };
  Count count() const;
  std::vector<std::string> violations() const;

  struct Machine;

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace gnnmg::test
