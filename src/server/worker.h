// A data set in parts as a process of a job has it: some of the parts are here, and the other
// processes have the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "comm/processes.h"
#include "data/dataset.h"
#include "dist/engine.h"
#include "dist/part_dataset.h"
#include "server/offers.h"

namespace gnnmg::server {

struct WorkerConfig {
  std::string folder;  // the common files, and the parts that this process has
  Reading reading = Reading::kAuto;
  dist::PartsConfig asking;
  dist::CacheConfig cache;
  // The next fields are used if processes ask each other.
  int32_t port = 0;       // port of the server; 0: a free one
  bool insecure = false;  // no TLS even beyond this machine
  dist::TlsFiles tls;
  int64_t serve_on_ms = 30'000;  // time that it serves after the end of the data set
};

// Surroundings of the call.
struct WorkerContext {
  std::shared_ptr<comm::Processes> processes;
  std::function<comm::Wait()> wait;  // new for each wait for the others
  std::shared_ptr<base::Log> log;
  base::ThreadPool& pool;
  base::CancelToken cancel;
  std::function<const dist::Engine&()> engine = dist::open_engine;
};

// Collective: all processes of the job open their share, or none does; why one cannot is thrown on
// all. Where processes ask each other, the process serves its parts as long as anything reads from
// the data set, and after that as JobServer says. A read of other parts throws as dist::Peers says,
// naming the process, or why the job has failed. Errors as of arrange(), dist::hold_parts(),
// GraphServer, dist::Peers::meet() and dist::open_part_dataset(); of the job's: kTimeout,
// kPeerLost, kAborted.
data::DatasetRef open_worker_dataset(const WorkerConfig& config, const WorkerContext& context);

}  // namespace gnnmg::server
