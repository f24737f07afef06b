// Starts the threads and opens the descriptors that gRPC keeps, before a test counts leftovers.
// Header only, for programs that link no test framework.
#pragma once

#include "base/error.h"
#include "dist/engine.h"

namespace gnnmg::test {

// The plug-in, after a server and a client of it have met.
inline const dist::Engine& start_grpc(const char* plugin) {
  const dist::Engine& engine = dist::open_engine_at(plugin);
  dist::ListenSettings settings;
  settings.address = "127.0.0.1:0";
  const auto listener = engine.listen(settings, [](auto, dist::Message&) {});
  engine.connect({base::text("127.0.0.1:", listener->port()), "", "", {}},
                 base::Deadline::after_ms(20'000), {});
  return engine;
}

}  // namespace gnnmg::test
