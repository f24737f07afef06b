// The only file that includes NCCL's header: thin functions that pass the table's arguments to
// NCCL.
#include "cuda/nccl_table.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstring>

#include "base/error.h"
#include "cuda/grid/runtime.h"
#include "cuda/growth.h"

namespace gnnmg::cuda {
namespace {

using comm::nccl::Communicator;
using comm::nccl::Id;
using comm::nccl::Reduction;
using comm::nccl::Result;
using comm::nccl::Table;
using comm::nccl::Type;

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(same(Result::kSuccess, ncclSuccess) && same(Result::kSystemError, ncclSystemError) &&
              same(Result::kUnhandledCudaError, ncclUnhandledCudaError) &&
              same(Result::kInternalError, ncclInternalError) &&
              same(Result::kInvalidArgument, ncclInvalidArgument) &&
              same(Result::kInvalidUsage, ncclInvalidUsage) &&
              same(Result::kRemoteError, ncclRemoteError) &&
              same(Result::kInProgress, ncclInProgress));
static_assert(same(Type::kU8, ncclUint8) && same(Type::kI32, ncclInt32) &&
              same(Type::kI64, ncclInt64) && same(Type::kF16, ncclFloat16) &&
              same(Type::kF32, ncclFloat32) && same(Type::kF64, ncclFloat64) &&
              same(Type::kBF16, ncclBfloat16));
static_assert(same(Reduction::kSum, ncclSum) && same(Reduction::kMax, ncclMax) &&
              same(Reduction::kMin, ncclMin) && same(Reduction::kMean, ncclAvg));
static_assert(sizeof(Id) == sizeof(ncclUniqueId));

Result ours(ncclResult_t result) { return static_cast<Result>(result); }
ncclComm_t theirs(Communicator* communicator) { return reinterpret_cast<ncclComm_t>(communicator); }
ncclDataType_t theirs(Type type) { return static_cast<ncclDataType_t>(type); }
ncclRedOp_t theirs(Reduction op) { return static_cast<ncclRedOp_t>(op); }
cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }
size_t size_of(int64_t count) { return static_cast<size_t>(count); }

Result version(int* version) { return ours(ncclGetVersion(version)); }

Result unique_id(Id* id) {
  ncclUniqueId made;
  const Result result = ours(ncclGetUniqueId(&made));
  std::memcpy(id, &made, sizeof made);
  return result;
}

Result init_rank(Communicator** made, int world, const Id* id, int rank, int device) {
  *made = nullptr;
  const OnDevice on_device(device);
  ncclUniqueId unique;
  std::memcpy(&unique, id, sizeof unique);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t communicator = nullptr;
  const ncclResult_t result = ncclCommInitRankConfig(&communicator, world, unique, rank, &config);
  *made = reinterpret_cast<Communicator*>(communicator);
  return ours(result);
}

Result async_error(Communicator* communicator, Result* state) {
  ncclResult_t found = ncclSuccess;
  const Result result = ours(ncclCommGetAsyncError(theirs(communicator), &found));
  *state = ours(found);
  return result;
}

Result all_reduce(const void* send, void* receive, int64_t count, Type type, Reduction op,
                  Communicator* communicator, void* stream) {
  return ours(ncclAllReduce(send, receive, size_of(count), theirs(type), theirs(op),
                            theirs(communicator), stream_of(stream)));
}

Result broadcast(const void* send, void* receive, int64_t count, Type type, int root,
                 Communicator* communicator, void* stream) {
  return ours(ncclBroadcast(send, receive, size_of(count), theirs(type), root, theirs(communicator),
                            stream_of(stream)));
}

Result all_gather(const void* send, void* receive, int64_t count, Type type,
                  Communicator* communicator, void* stream) {
  return ours(ncclAllGather(send, receive, size_of(count), theirs(type), theirs(communicator),
                            stream_of(stream)));
}

Result send(const void* from, int64_t count, Type type, int peer, Communicator* communicator,
            void* stream) {
  return ours(
      ncclSend(from, size_of(count), theirs(type), peer, theirs(communicator), stream_of(stream)));
}

Result receive(void* to, int64_t count, Type type, int peer, Communicator* communicator,
               void* stream) {
  return ours(
      ncclRecv(to, size_of(count), theirs(type), peer, theirs(communicator), stream_of(stream)));
}

Result group_start() { return ours(ncclGroupStart()); }
Result group_end() { return ours(ncclGroupEnd()); }
Result finalize(Communicator* communicator) { return ours(ncclCommFinalize(theirs(communicator))); }
Result destroy(Communicator* communicator) { return ours(ncclCommDestroy(theirs(communicator))); }
Result abort(Communicator* communicator) { return ours(ncclCommAbort(theirs(communicator))); }

const char* error_text(Result result) {
  return ncclGetErrorString(static_cast<ncclResult_t>(result));
}
const char* last_error(Communicator* communicator) {
  return ncclGetLastError(theirs(communicator));
}

void bus_id(int device, char (&id)[16]) {
  check(cudaDeviceGetPCIBusId(id, sizeof id, device), "asking for a GPU's bus id");
}

void* open_stream(int device) {
  check(cudaSetDevice(device), "choosing a device");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority_of(Urgency::kFirst)),
        "making a stream for NCCL");
  return stream;
}

void close_stream(int device, void* stream) noexcept {
  try {
    const OnDevice on_device(device);
    ignore(cudaStreamDestroy(stream_of(stream)));
  } catch (const std::exception&) {  // a lost device has lost its streams too
  }
}

}  // namespace

const Table& nccl_table() noexcept {
  static const Table table{
      .size = sizeof(Table),
      .built_version = NCCL_VERSION_CODE,
      .version = version,
      .unique_id = unique_id,
      .init_rank = init_rank,
      .async_error = async_error,
      .all_reduce = all_reduce,
      .broadcast = broadcast,
      .all_gather = all_gather,
      .send = send,
      .receive = receive,
      .group_start = group_start,
      .group_end = group_end,
      .finalize = finalize,
      .destroy = destroy,
      .abort = abort,
      .error_text = error_text,
      .last_error = last_error,
      .bus_id = bus_id,
      .open_stream = open_stream,
      .close_stream = close_stream,
      .watch_growth = watch_growth,
  };
  return table;
}

}  // namespace gnnmg::cuda
