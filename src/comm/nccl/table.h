// What the library needs of NCCL, as a table of functions: the plug-in fills it from libnccl
// (cuda/nccl_table.cpp), tests with a fake. Numbers are those of nccl.h, which the plug-in checks.
#pragma once

#include <cstdint>

namespace gnnmg::comm::nccl {

enum class Result : int32_t {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};

enum class Type : int32_t {
  kU8 = 1,
  kI32 = 2,
  kI64 = 4,
  kF16 = 6,
  kF32 = 7,
  kF64 = 8,
  kBF16 = 9,
};

enum class Reduction : int32_t { kSum = 0, kMax = 2, kMin = 3, kMean = 4 };

struct Id {
  char bytes[128];
};

struct Communicator;  // NCCL's own

// Communicators are non-blocking: a function that would wait for other ranks or for the network
// returns kInProgress instead, and until async_error() says something else the communicator takes
// no other call but abort(). All calls of one communicator come from one thread, the one that made
// it, but for an abort() outside of these, from another thread whose device is the communicator's.
// `stream` is a CUDA stream of the communicator's device; operations are queued there, and what
// they read and write is memory of that device. Counts are elements.
struct Table {
  int64_t size;           // sizeof(Table), by which a plug-in of another build is known
  int32_t built_version;  // of the nccl.h that the table was filled with: 22809 is 2.28.9

  Result (*version)(int* version);  // of the NCCL that is loaded, coded in the same way
  Result (*unique_id)(Id* id);
  // Makes rank `rank` of `world` on `device`; the thread's current device stays what it is. Null in
  // `made` when there is nothing to abort. Throws base::Error when the device cannot be used.
  Result (*init_rank)(Communicator** made, int world, const Id* id, int rank, int device);
  // kSuccess, kInProgress, or what went wrong since, in `state`.
  Result (*async_error)(Communicator* communicator, Result* state);

  Result (*all_reduce)(const void* send, void* receive, int64_t count, Type type, Reduction op,
                       Communicator* communicator, void* stream);
  Result (*broadcast)(const void* send, void* receive, int64_t count, Type type, int root,
                      Communicator* communicator, void* stream);
  // Rank r's elements go to receive + r * count.
  Result (*all_gather)(const void* send, void* receive, int64_t count, Type type,
                       Communicator* communicator, void* stream);
  Result (*send)(const void* from, int64_t count, Type type, int peer, Communicator* communicator,
                 void* stream);
  Result (*receive)(void* to, int64_t count, Type type, int peer, Communicator* communicator,
                    void* stream);
  // Calls of this thread in between are one: nothing starts before the end.
  Result (*group_start)();
  Result (*group_end)();

  // The orderly end, with all ranks; once it is through, destroy() frees what is left.
  Result (*finalize)(Communicator* communicator);
  Result (*destroy)(Communicator* communicator);
  // Ends what runs and frees the communicator, waiting for no other rank.
  Result (*abort)(Communicator* communicator);

  // Words of NCCL's, never null; the second may have many lines, and is the last of the process,
  // which may be another rank's.
  const char* (*error_text)(Result result);
  const char* (*last_error)(Communicator* communicator);

  // DeviceInfo::bus_id alone, by which NCCL tells GPUs from each other: it takes no memory of the
  // device's, so that a process may ask for all that it sees. Throws base::Error.
  void (*bus_id)(int device, char (&id)[16]);

  // A stream of the device's for its communicator, which nothing of the caller's waits for or is
  // waited for by. The device becomes the calling thread's own: whatever would put another one back
  // that this process does not use gives that a context. Throws base::Error as the functions of
  // base/device.h do.
  void* (*open_stream)(int device);
  // Waits for nothing: no queue of base/device.h is on it any more.
  void (*close_stream)(int device, void* stream) noexcept;

  // From here on for the rest of the process, where LibTorch's allocator finds nothing in its cache
  // and takes memory of a device's, or the device table pins the host's or takes the pin away:
  // `before` that and `after`, on the thread that does it. The first call counts.
  void (*watch_growth)(void (*before)() noexcept, void (*after)() noexcept);
};

}  // namespace gnnmg::comm::nccl
