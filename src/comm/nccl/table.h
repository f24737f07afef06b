// NCCL's functions as a table: the plug-in fills it from libnccl (cuda/nccl_table.cpp), tests with
// a fake. The numbers are those of nccl.h; the plug-in checks them.
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

struct Communicator;  // NCCL's type

// Communicators are non-blocking: a function that would wait for other ranks or for the network
// returns kInProgress; until async_error() says something else, only abort() may be called. The
// thread that created a communicator makes all its calls; only abort() may come from another
// thread, between those calls, with the communicator's device as its current one. `stream` is a
// CUDA stream of that device; operations are queued there on memory of that device. Counts are
// elements.
struct Table {
  static constexpr const char* kTable = "nccl";

  int64_t size;           // sizeof(Table); identifies a plug-in of another build
  int32_t built_version;  // version of the nccl.h at compile time: 22809 is 2.28.9

  Result (*version)(int* version);  // version of the loaded NCCL, in the same form
  Result (*unique_id)(Id* id);
  // Creates rank `rank` of `world` on `device`; the thread's current device stays the same. `made`
  // becomes null if there is nothing to abort. Throws base::Error if the device cannot be used.
  Result (*init_rank)(Communicator** made, int world, const Id* id, int rank, int device);
  // `state` becomes kSuccess, kInProgress, or an error since the last call.
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
  // Joins the calls of this thread in between into one: none starts before the end.
  Result (*group_start)();
  Result (*group_end)();

  // The orderly end, with all ranks; after it has completed, destroy() frees the rest.
  Result (*finalize)(Communicator* communicator);
  Result (*destroy)(Communicator* communicator);
  // Ends running work and frees the communicator without waiting for other ranks.
  Result (*abort)(Communicator* communicator);

  // NCCL's messages, never null. last_error() may have many lines, and may come from another rank
  // of the process.
  const char* (*error_text)(Result result);
  const char* (*last_error)(Communicator* communicator);

  // device::Info::bus_id alone, which identifies a GPU for NCCL. It takes no device memory, so a
  // process may ask for every visible GPU. Throws base::Error.
  void (*bus_id)(int device, char (&id)[16]);

  // A stream of the device for the communicator alone: it has no implicit order with the caller's
  // streams. The device becomes the current one of the calling thread and stays so, because
  // restoring another device that this process does not use would create a context there. Throws
  // base::Error like the functions of device/table.h.
  void* (*open_stream)(int device);
  // Does not wait. No queue of device/table.h may use the stream any more.
  void (*close_stream)(int device, void* stream) noexcept;

  // Installs callbacks for the rest of the process. `before` and `after` run on the thread that
  // allocates, when LibTorch's caching allocator takes device memory, or when the device table pins
  // or unpins host memory. Only the first call counts.
  void (*watch_growth)(void (*before)() noexcept, void (*after)() noexcept);
};

}  // namespace gnnmg::comm::nccl
