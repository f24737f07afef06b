// NCCL among fake GPUs: the table of comm/nccl/table.h over any table of devices whose work is done
// when a call returns (fake_gpu/fake_gpu.h). Ranks are threads of one or several
// processes on this machine: they meet in memory that the id names. An operation is in progress
// until all its ranks have called it, and advances only in queries of the state; it never waits, so
// it hangs as NCCL does if a rank stays away, and a process that dies does not notify the others.
//
// Faults are planned here or by the environment of a process that a test starts:
//   GNNMG_FAKE_NCCL_FAULTS   rank=1,call=7,kind=hangs;rank=0,call=9,kind=breaks,result=6
//   GNNMG_FAKE_NCCL_VERSION  22005
// Use that NCCL forbids, and that would crash or hang a real one, is recorded as a violation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/nccl/table.h"
#include "device/table.h"

namespace gnnmg::fake_nccl {

// The fault at the `call`-th call of NCCL (from 1) by `rank` in this process. Queries of the state,
// abort, destroy and the version are not counted.
struct Fault {
  enum Kind {
    kFails,      // the call itself returns `result`
    kPollFails,  // the next query of the state returns `result`
    kHangs,      // the activity stays in progress forever
    kBreaks,     // the same, but it ends with `result` a moment later
    // With put_off_operations() the two above strike operations alone, in their stream; these two
    // strike any call, which never reaches the stream.
    kStuck,  // the call stays in progress forever
    kLater,  // the same, but it ends with `result` a moment later
    kKills,  // the process ends by SIGKILL
    kStops,  // the process is stopped by SIGSTOP
  };
  Kind kind = kFails;
  int rank = 0;
  int call = 0;
  comm::nccl::Result result = comm::nccl::Result::kSystemError;
};

inline constexpr int kVersion = 22809;

// Any thread, for all functions. The table lives as long as the program, and so must `devices`,
// whose copies move the data of operations; the last one passed counts.
const comm::nccl::Table& table(const device::Table& devices);

// Forgets faults, counts and violations; no communicator may exist. The environment's plan applies
// until the first call.
void reset();
void plan(const Fault& fault);  // adds to the planned faults
void set_version(int version);
// The same for the threads of one rank: act_as() says which rank's calls without a communicator
// this thread makes.
void set_version(int rank, int version);
void act_as(int rank);
// Until reset(): a communicator stays usable after a refused argument; by default the refusal
// breaks it, as in NCCL 2.28.
void forgive_refusals();
// Until reset(): the error of busy peers after an abort, by default kRemoteError, and the time for
// which their stream stays busy.
void set_peers_see(comm::nccl::Result result);
void set_slow_ends(int64_t ms);
// Until reset(): records a violation for an operation on other memory than its device's.
using HoldsMemory = bool (*)(int device, const void* memory);
void check_memory(HoldsMemory holds);
// Until reset(), operations become work of their stream, and calls return at once, as on real GPUs.
// The function submits that work: it must call it repeatedly, on any thread, until it returns true.
// `delayed`: two of three calls are in progress for a moment before they reach the stream.
using PutOff = void (*)(void* stream, std::function<bool()> work);
void put_off_operations(PutOff put_off, bool delayed = false);

struct Count {
  int made = 0, aborted = 0, destroyed = 0;  // numbers of communicators, one per rank
  int streams = 0;                           // open streams
};
Count count();
int calls(int rank);  // number of calls so far
std::vector<std::string> violations();
void note_violation(const std::string& text);  // called by a check of a test

// Callbacks for memory that LibTorch's allocator takes: called before and after, on its thread.
using GrowthCall = void (*)() noexcept;
void begin_growth() noexcept;
void end_growth() noexcept;

// Records a violation if one of this process's ranks is in an operation that another one has not
// called yet: the checked call waits for the first rank's device, and the second rank for the call.
// Any thread. For NCCL's own calls, when it starts, connects for operations of a new kind or size
// and ends regularly, the fake checks only operations of other communicators.
void check_memory_call(const char* what);

// Parses the environment's form. Throws std::invalid_argument with the error.
std::vector<Fault> parse_faults(const std::string& text);

}  // namespace gnnmg::fake_nccl
