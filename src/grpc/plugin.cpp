// The one function that libgnnmg_grpc.so exports.
#include <grpc/support/log.h>

#include "device/plugin.h"
#include "grpc/certificate.h"
#include "grpc/engine.h"

namespace gnnmg::grpc_engine {
namespace {

const dist::Engine kEngine{sizeof(dist::Engine), device::build_version(), &connect, &listen,
                           &check_certificate};

// Drops gRPC's log messages: a failed request returns its status, and standard error belongs to the
// host.
void say_nothing(gpr_log_func_args*) {}

}  // namespace
}  // namespace gnnmg::grpc_engine

extern "C" __attribute__((visibility("default"))) const gnnmg::dist::Engine* gnnmg_grpc_engine(
    bool first) noexcept {
  if (first) gpr_set_log_function(&gnnmg::grpc_engine::say_nothing);
  return &gnnmg::grpc_engine::kEngine;
}
