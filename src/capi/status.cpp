// Version, status names and the thread's last error, as the header exports them.
#include "capi/arguments.h"
#include "capi/guard.h"

using gnnmg::base::Status;
using gnnmg::capi::guard;
using gnnmg::capi::Out;
using gnnmg::capi::outs;

static_assert(static_cast<int32_t>(Status::kPending) == GNNMG_PENDING);
static_assert(static_cast<int32_t>(Status::kEnd) == GNNMG_END);
static_assert(static_cast<int32_t>(Status::kInvalidArgument) == GNNMG_ERR_INVALID_ARGUMENT);
static_assert(static_cast<int32_t>(Status::kHandle) == GNNMG_ERR_HANDLE);
static_assert(static_cast<int32_t>(Status::kBusy) == GNNMG_ERR_BUSY);
static_assert(static_cast<int32_t>(Status::kVersion) == GNNMG_ERR_VERSION);
static_assert(static_cast<int32_t>(Status::kNotFound) == GNNMG_ERR_NOT_FOUND);
static_assert(static_cast<int32_t>(Status::kIo) == GNNMG_ERR_IO);
static_assert(static_cast<int32_t>(Status::kFormat) == GNNMG_ERR_FORMAT);
static_assert(static_cast<int32_t>(Status::kChecksum) == GNNMG_ERR_CHECKSUM);
static_assert(static_cast<int32_t>(Status::kRange) == GNNMG_ERR_RANGE);
static_assert(static_cast<int32_t>(Status::kNan) == GNNMG_ERR_NAN);
static_assert(static_cast<int32_t>(Status::kDiverged) == GNNMG_ERR_DIVERGED);
static_assert(static_cast<int32_t>(Status::kNoMemory) == GNNMG_ERR_NO_MEMORY);
static_assert(static_cast<int32_t>(Status::kDependency) == GNNMG_ERR_DEPENDENCY);
static_assert(static_cast<int32_t>(Status::kUnsupported) == GNNMG_ERR_UNSUPPORTED);
static_assert(static_cast<int32_t>(Status::kDeviceLost) == GNNMG_ERR_DEVICE_LOST);
static_assert(static_cast<int32_t>(Status::kTimeout) == GNNMG_ERR_TIMEOUT);
static_assert(static_cast<int32_t>(Status::kPeerLost) == GNNMG_ERR_PEER_LOST);
static_assert(static_cast<int32_t>(Status::kAborted) == GNNMG_ERR_ABORTED);
static_assert(static_cast<int32_t>(Status::kMismatch) == GNNMG_ERR_MISMATCH);
static_assert(static_cast<int32_t>(Status::kUnavailable) == GNNMG_ERR_UNAVAILABLE);
static_assert(static_cast<int32_t>(Status::kAuth) == GNNMG_ERR_AUTH);
static_assert(static_cast<int32_t>(Status::kProtocol) == GNNMG_ERR_PROTOCOL);
static_assert(static_cast<int32_t>(Status::kCancelled) == GNNMG_ERR_CANCELLED);
static_assert(static_cast<int32_t>(Status::kCallback) == GNNMG_ERR_CALLBACK);
static_assert(static_cast<int32_t>(Status::kForked) == GNNMG_ERR_FORKED);
static_assert(static_cast<int32_t>(Status::kInternal) == GNNMG_ERR_INTERNAL);

extern "C" {

int32_t gnnmg_version(void) { return GNNMG_VERSION; }

const char* gnnmg_status_name(gnnmg_status status) {
  return gnnmg::base::status_name(static_cast<Status>(status));
}

const char* gnnmg_last_error(void) { return gnnmg::capi::last_error().text.data(); }

gnnmg_status gnnmg_last_error_info(gnnmg_error_info* info) {
  const gnnmg::capi::LastError& error = gnnmg::capi::last_error();
  return guard(outs(Out{info, "info"}), [&] {
    gnnmg_error_info facts{};
    facts.status = error.status;
    facts.rank = error.rank;
    facts.system_error = error.system_error;
    gnnmg::capi::copy_text(error.text, facts.text, sizeof facts.text);
    gnnmg::capi::give(info, facts);
  });
}

}  // extern "C"
