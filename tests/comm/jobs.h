// Jobs for tests. The processes of a job are threads of one process, which makes no difference for
// joining and the control connections; tests that kill or stop a process use real ones.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm/processes.h"
#include "comm/ranks.h"

namespace gnnmg::test {

// Returns an unused port of 127.0.0.1.
int free_port();

inline comm::JoinConfig job_config(int port, int process, int num_processes) {
  comm::JoinConfig config;
  config.port = port;
  config.process = process;
  config.num_processes = num_processes;
  config.heartbeat_ms = 100;
  return config;
}

using JobBody = std::function<void(const std::shared_ptr<comm::Processes>&)>;

// Joins `count` processes, runs the body in each, and returns their outcomes. `change` may alter a
// config.
inline std::vector<Outcome> run_job(int count, const JobBody& body,
                                    const std::function<void(comm::JoinConfig&)>& change = {},
                                    int64_t join_ms = 60'000) {
  const int port = free_port();
  std::vector<Outcome> outcomes(count);
  std::vector<std::thread> threads;
  for (int p = 0; p < count; ++p)
    threads.emplace_back([&, p] {
      outcomes[p] = attempt([&] {
        comm::JoinConfig config = job_config(port, p, count);
        if (change) change(config);
        body(comm::Processes::join(config, within_ms(join_ms)));
      });
    });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// A connection without any knowledge of the job.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  bool connected() const { return fd_ >= 0; }
  void send(std::string_view bytes) const;
  // Reads until the other side closes or `ms` have passed; `closed` is true in the first case.
  std::string read_all(int64_t ms, bool* closed) const;
  // Reads into `in` until `done` is true, the other side closes or 20 s have passed; returns
  // done().
  template <typename Buffer>
  bool read_until(Buffer& in, bool* closed, const std::function<bool()>& done) const {
    const base::Deadline until = base::Deadline::after_ms(20'000);
    for (*closed = false; !*closed && !until.passed();) {
      in.append(read_all(1, closed));
      if (done()) return true;
    }
    return false;
  }

 private:
  int fd_ = -1;
};

}  // namespace gnnmg::test
