// Functions of the plug-in's table (dist/engine.h); certificate.h has the third.
#pragma once

#include <memory>

#include "dist/engine.h"

namespace gnnmg::grpc_engine {

std::unique_ptr<dist::Connection> connect(const dist::ConnectSettings& settings,
                                          const base::Deadline& deadline,
                                          const base::CancelToken& cancel);
std::unique_ptr<dist::Listener> listen(const dist::ListenSettings& settings, dist::Handler handler);

}  // namespace gnnmg::grpc_engine
