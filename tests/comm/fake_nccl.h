// N GPUs and NCCL among them, in this process and without hardware: memory is the host's, and a
// thread stands for all GPUs: it works through their streams, later than what is queued there. What
// goes wrong is a plan; what NCCL forbids, and a real one would answer by a crash or a hang, is
// noted as a violation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/device.h"
#include "comm/nccl/table.h"

namespace gnnmg::test {

// What happens at the `call`-th call of NCCL (from 1) that `rank` makes; questions for the state
// are not counted, nor are abort and destroy.
struct Fault {
  enum Kind {
    kNone,
    kFails,      // the call itself answers `result`
    kPollFails,  // the next question for the state does
    kLater,      // what was called stays in progress, and `result` is its end
    kStuck,      // what was called stays in progress for ever
    kHangs,      // what was called is queued, and never ends
    kBreaks,     // the same, and `result` is told meanwhile
  };
  Kind kind = kNone;
  int rank = 0;
  int call = 0;
  comm::nccl::Result result = comm::nccl::Result::kSystemError;
};

// One at a time. Settings are made before the ranks begin.
class FakeGpus {
 public:
  static constexpr int kVersion = 22809;
  explicit FakeGpus(int count);
  ~FakeGpus();
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  static const comm::nccl::Table& nccl();
  static const base::DeviceTable& devices();
  // The rank whose calls this thread makes from now on.
  static void act_as(int rank);

  void plan(const Fault& fault);
  // What NCCL refuses as an argument it does not hold against the communicator. Else it does, as
  // NCCL 2.28.
  void forgive_refusals();
  // How long a GPU is still at what an abort has ended, also before this call.
  void set_slow_ends(int64_t ms);
  // What NCCL tells those that are in the middle of something when a peer aborts: kRemoteError.
  void set_peers_see(comm::nccl::Result result);
  void set_version(int rank, int version);
  void set_bus_id(int device, const std::string& bus_id);
  // The device is lost at the n-th use from now, counted from 1: queues, copies, memory, questions.
  void lose_device(int device, int use);
  void refuse_memory(int device, int allocation);  // the n-th from now, counted from 1

  int calls(int rank) const;  // so far
  int uses(int device) const;
  struct Count {
    int made = 0, aborted = 0, destroyed = 0;  // communicators
    int memory = 0, queues = 0, streams = 0;   // that are there now
  };
  Count count() const;
  std::vector<std::string> violations() const;

  struct Machine;

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace gnnmg::test
