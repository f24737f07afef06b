// Communicators among processes: joining a job takes long, so it runs in the background and the
// same call finds it again.
#include <cstdlib>
#include <string>
#include <vector>

#include "capi/arguments.h"
#include "capi/comm.h"
#include "capi/context.h"

namespace gnnmg::capi {
namespace {

struct JoinedGroup {
  std::shared_ptr<comm::Processes> processes;
  std::shared_ptr<comm::ThreadGroup> group;
  std::vector<SeenDevices> devices;  // one entry a process
};

gnnmg_status join(const std::shared_ptr<Context>& c, const comm::JoinConfig& config,
                  const gnnmg_comm_config& in, gnnmg_comm** comm, int64_t timeout_ms) {
  const std::string key = base::text("join ", config.host, " ", config.port, " ", config.process,
                                     " ", config.num_processes, " ", config.interface, " ",
                                     config.job, " ", config.restart, " ", in.deadline_ms, " ",
                                     in.join_ms, " ", in.heartbeat_ms, " ", config.token_file);
  const Outcome outcome = wait_for_job(
      c->pendings, key, *c->queue, timeout_ms,
      [&] {
        comm::Wait wait;
        wait.deadline = base::Deadline::after_ms(in.join_ms);
        wait.cancel = c->work_token();
        return start_job(c, [config, wait, &devices = c->devices]() -> Job::Result {
          auto joined = std::make_shared<JoinedGroup>();
          joined->processes = comm::join_job(config, wait);
          joined->devices = tell_devices(*joined->processes, devices, wait);
          joined->group = comm::make_group(joined->processes, {}, wait);
          return joined;
        });
      },
      [] {});
  if (outcome.pending) return GNNMG_PENDING;
  const auto& joined = outcome.as<JoinedGroup>();
  auto made =
      std::make_shared<Comm>(c, joined.group, joined.group->first_rank(), in, joined.processes);
  made->devices = joined.devices;
  *comm = new_handle<gnnmg_comm>(std::move(made));
  return GNNMG_OK;
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_comm_create(const gnnmg_context* context, const char* host,
                               const char* network_interface, const char* token_file,
                               const gnnmg_comm_config* config, gnnmg_comm** comm,
                               int64_t timeout_ms) {
  return guard(outs(Out{comm, "comm"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const gnnmg_comm_config in = read_comm_config(config);
    gnnmg::comm::JoinConfig join_config;
    join_config.host = optional_name(host, "host", "127.0.0.1");
    join_config.interface = optional_name(network_interface, "network_interface", "");
    join_config.token_file = optional_name(token_file, "token_file", "");
    join_config.port = in.port;
    join_config.process = in.process_rank;
    join_config.num_processes = in.num_processes;
    join_config.heartbeat_ms = in.heartbeat_ms;
    gnnmg::comm::check_join_config(join_config);
    return join(c, join_config, in, comm, timeout_ms);
  });
}

gnnmg_status gnnmg_comm_create_from_env(const gnnmg_context* context,
                                        const gnnmg_comm_config* config, gnnmg_comm** comm,
                                        int64_t timeout_ms) {
  return guard(outs(Out{comm, "comm"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const gnnmg_comm_config in = read_comm_config(config);
    gnnmg::comm::JoinConfig join_config = gnnmg::comm::read_join_environment(
        [](const char* name) -> const char* { return std::getenv(name); });
    join_config.heartbeat_ms = in.heartbeat_ms;
    return join(c, join_config, in, comm, timeout_ms);
  });
}

}  // extern "C"
