// The server that a process of a job has for the others: of its parts of a graph, for this job
// alone, and as long as one of them may ask.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "comm/join/control.h"
#include "dist/engine.h"
#include "dist/held_parts.h"
#include "server/graph_server.h"

namespace gnnmg::server {

// Bytes that only the processes of the job know: their servers' token.
std::string token_of_job(const comm::Control& job);

class JobServer {
 public:
  // `opening`: the name of this data set, the same on all processes of the job, and of no other.
  // `serve_on_ms`: the time that it serves after its end. It does not keep the process in the job.
  JobServer(std::shared_ptr<comm::Control> job, std::string opening, std::shared_ptr<base::Log> log,
            int64_t serve_on_ms);
  // This process asks no more, and says so. Its server goes on, on a thread of its own, until all
  // others have said the same, the job has ended, `serve_on_ms` have passed, or the program ends.
  ~JobServer();
  JobServer(const JobServer&) = delete;
  JobServer& operator=(const JobServer&) = delete;

  // Begins to serve, and returns the address, in digits. Errors as of GraphServer.
  std::string start(const dist::Engine& engine, const dist::HeldParts& held, ServerConfig config);

 private:
  struct Service;
  const int64_t serve_on_ms_;
  std::shared_ptr<Service> service_;
};

}  // namespace gnnmg::server
