// The one function that libgnnmg_grpc.so exports.
#include <grpc/support/log.h>

#include "base/plugin.h"
#include "grpc/engine.h"

namespace gnnmg::grpc_engine {
namespace {

const dist::Engine kEngine{sizeof(dist::Engine), base::build_version(), &connect, &listen};

// What gRPC has to say comes with the status of the question that failed; standard error is the
// host's.
void say_nothing(gpr_log_func_args*) {}

}  // namespace
}  // namespace gnnmg::grpc_engine

extern "C" __attribute__((visibility("default"))) const gnnmg::dist::Engine* gnnmg_grpc_engine(
    bool first) noexcept {
  if (first) gpr_set_log_function(&gnnmg::grpc_engine::say_nothing);
  return &gnnmg::grpc_engine::kEngine;
}
