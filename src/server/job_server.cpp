#include "server/job_server.h"

#include <atomic>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/background.h"
#include "base/cancel.h"
#include "base/error.h"
#include "comm/address_board.h"
#include "comm/join/token.h"
#include "device/exit.h"

namespace gnnmg::server {

std::string token_of_job(const comm::Control& job) {
  return std::string(comm::bytes_of(comm::make_mac(job.key(), "servers of parts")));
}

// The state that outlives the JobServer.
struct JobServer::Service {
  const std::shared_ptr<comm::Control> job;
  const std::string opening;
  const std::shared_ptr<base::Log> log;  // the server's
  const std::shared_ptr<comm::AddressBoard> board = comm::make_control_board(job, comm::kJobGroup);
  std::unique_ptr<GraphServer> server = nullptr;  // null where this process has no parts
  std::atomic<bool> program_ends{false};
  std::optional<device::ExitGuard> guard = std::nullopt;  // ends first

  std::string farewell_of(int process) const {
    return base::text("parts ", opening, " are read no more by process ", process);
  }
  void say_farewell() noexcept {
    try {
      board->put(farewell_of(job->process()), "");
    } catch (const std::bad_alloc&) {  // the others have their deadlines
    }
  }
  // True if all have said so, or the job has ended; waits until `over`.
  bool all_gone(const std::function<bool()>& over) const {
    for (int p = 0; p < job->num_processes(); ++p)
      if (!board->get(farewell_of(p), [&] { return over() || job->spent(); })) return job->spent();
    return true;
  }
  void serve_on(int64_t ms) noexcept {
    try {
      const auto deadline = base::Deadline::after_ms(ms);
      all_gone([&] { return program_ends || deadline.passed(); });
    } catch (const std::bad_alloc&) {  // the server ends now
    }
  }
};

JobServer::JobServer(std::shared_ptr<comm::Control> job, std::string opening,
                     std::shared_ptr<base::Log> log, int64_t serve_on_ms)
    : serve_on_ms_(serve_on_ms),
      service_(new Service{std::move(job), std::move(opening), std::move(log)}) {}

JobServer::~JobServer() {
  service_->say_farewell();
  try {
    if (!service_->server || service_->all_gone([] { return true; })) return;
    base::leave_in_background([service = std::shared_ptr<Service>(std::move(service_)),
                               ms = serve_on_ms_] { service->serve_on(ms); });
  } catch (const std::exception&) {  // no thread or no memory: the server ends now
  }
}

std::string JobServer::start(const dist::Engine& engine, const dist::HeldParts& held,
                             ServerConfig config) {
  config.token = token_of_job(*service_->job);
  const std::string host = config.address.substr(0, config.address.rfind(':') + 1);
  service_->server = std::make_unique<GraphServer>(held, config, *service_->log);
  service_->server->start(engine);
  // Before gRPC's own end, which threads at work must not meet.
  device::watch_exit();
  service_->guard.emplace(
      [service = service_.get()] {
        service->program_ends = true;
        service->server->shutdown(base::Deadline::after_ms(0));
      },
      [] { return true; });
  return host + std::to_string(service_->server->info().port);
}

}  // namespace gnnmg::server
