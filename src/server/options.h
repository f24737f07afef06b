// The command line of gnnmg-server.
#pragma once

#include <string>

#include "server/graph_server.h"

namespace gnnmg::server {

struct Options {
  ServerConfig server;
  std::string metrics_file;  // empty: none
  int64_t drain_ms = 30'000;
  bool help = false;
};

// Error(kInvalidArgument) naming the option. Changes the order of the arguments.
Options read_options(int argc, char** argv);
const char* usage() noexcept;

}  // namespace gnnmg::server
