// NCCL among GPUs that are not there: the table of comm/nccl/table.h over any table of devices
// whose work is over when a call returns (fake_gpu/fake_gpu.h, host_gpus.h). Ranks are threads of
// one process or of several on this machine: they meet in memory that the id names. An operation is
// in progress until all ranks that it needs have called it, and goes on in questions for the state
// alone; it never waits, so it hangs as NCCL does where a rank stays away, and a process that dies
// says nothing to the others.
//
// What goes wrong is a plan, set here or by the environment of a process that a test starts:
//   GNNMG_FAKE_NCCL_FAULTS   rank=1,call=7,kind=hangs;rank=0,call=9,kind=breaks,result=6
//   GNNMG_FAKE_NCCL_VERSION  22005
// What NCCL forbids, and a real one would answer by a crash or a hang, is noted as a violation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/device.h"
#include "comm/nccl/table.h"

namespace gnnmg::fake_nccl {

// What happens at the `call`-th call of NCCL (from 1) that `rank` makes in this process; questions
// for the state are not counted, nor are abort, destroy and the version.
struct Fault {
  enum Kind {
    kFails,      // the call itself answers `result`
    kPollFails,  // the next question for the state does
    kHangs,      // what was called stays in progress for ever
    kBreaks,     // the same, and `result` is its end, a moment later
    kKills,      // the process ends by SIGKILL
    kStops,      // the process is stopped by SIGSTOP
  };
  Kind kind = kFails;
  int rank = 0;
  int call = 0;
  comm::nccl::Result result = comm::nccl::Result::kSystemError;
};

inline constexpr int kVersion = 22809;

// Any thread, all of them. The table lives as long as the program, and so must `devices`, whose
// copies read and write what operations are called on; the last one that was named counts.
const comm::nccl::Table& table(const base::DeviceTable& devices);

// Forgets faults, counts and violations; no communicator may be there. What the environment says
// counts until the first call.
void reset();
void plan(const Fault& fault);  // besides those that are planned
void set_version(int version);
// From here on until reset() operations are work of the stream that they are called with, and the
// calls are over at once, as on real GPUs. The function puts that work there: it is called again
// and again, on any thread, until it says that it is done.
using PutOff = void (*)(void* stream, std::function<bool()> work);
void put_off_operations(PutOff put_off);

struct Count {
  int made = 0, aborted = 0, destroyed = 0;  // communicators, by ranks
  int streams = 0;                           // that are there now
};
Count count();
int calls(int rank);  // so far
std::vector<std::string> violations();

// What the library wants to be told of memory that LibTorch's allocator takes: to be called before
// and behind, on its thread.
using GrowthCall = void (*)() noexcept;
void begin_growth() noexcept;
void end_growth() noexcept;

// A violation, where one of this process's ranks is in an operation that another one of them has
// still to call: what is called waits for that rank's device, and the other for the call. Any
// thread. Of what NCCL calls itself, when it starts, connects for operations of a new kind or size
// and ends in an orderly way, the fake looks at operations of other communicators.
void check_memory_call(const char* what);

// The form of the environment's. Throws std::invalid_argument that names what is wrong.
std::vector<Fault> parse_faults(const std::string& text);

}  // namespace gnnmg::fake_nccl
