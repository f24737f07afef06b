#include "comm/join/join.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "comm/join/door.h"
#include "comm/join/token.h"

namespace gnnmg::comm {

using base::Status;

Joined::Joined() = default;
Joined::Joined(Joined&&) noexcept = default;
Joined::~Joined() = default;

namespace join {

std::string count_text(const std::vector<bool>& came, double seconds) {
  int count = 0;
  std::string missing;
  for (size_t p = 0; p < came.size(); ++p) {
    if (came[p])
      ++count;
    else
      missing += base::text(missing.empty() ? "" : ", ", p);
  }
  return base::text("joining: ", count, " of ", came.size(), " processes came within ", seconds,
                    " s, missing: ", missing);
}

void check_asked(const Address& address, const std::string& host, const std::string& token) {
  if (!token.empty() || address.loopback()) return;
  base::fail(
      Status::kAuth, "host \"", host, "\" (", address.host(),
      ") can be reached from other machines: expected a token file (GNNMG_TOKEN_FILE, or the "
      "argument token_file) with the same secret on all of them");
}

std::string board_key(const JoinConfig& config) {
  return base::text("gnnmg/", config.job, "/", config.restart);
}

}  // namespace join

Joined join_processes(const JoinConfig& config, const Wait& wait, const OpenBoard& board) {
  check_join_config(config);
  if (config.agent_store && config.num_processes > 1 && !board)
    base::fail(Status::kUnsupported, "agent_store: there is no store to ask");
  Who self;
  self.version = config.version.empty() ? GNNMG_VERSION_TEXT : config.version;
  self.job = config.job;
  self.process = config.process;
  self.num_processes = config.num_processes;
  utsname name{};
  self.host = uname(&name) == 0 ? name.nodename : "?";
  self.pid = getpid();
  const std::string token = config.token_file.empty() ? "" : read_token(config.token_file);
  if (config.num_processes == 1) {
    Joined alone;
    alone.hosts = {self.host};
    alone.heartbeat_ms = config.heartbeat_ms;
    alone.connections.resize(1);
    alone.address = config.interface.empty()
                        ? "127.0.0.1"
                        : interface_address(config.interface, AF_UNSPEC).host();
    return alone;
  }
  Joined joined = config.process == 0 ? join::lead(config, self, token, wait, board)
                                      : join::follow(config, self, token, wait, board);
  joined.token = token;
  return joined;
}

}  // namespace gnnmg::comm
