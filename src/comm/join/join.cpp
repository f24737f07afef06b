#include "comm/join/join.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "comm/join/acceptor.h"
#include "comm/join/token.h"

namespace gnnmg::comm {

using base::Status;

void Connection::seal(const Proof& own, const Proof& theirs) {
  seal_.emplace(own);
  in.expect_seal(theirs);
}

void Connection::send(std::string_view frame) {
  if (seal_)
    seal_->append(frame, out);
  else
    out += frame;
}

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

std::string board_text(const JoinConfig& config) {
  return base::text("the store at ", config.host, ":", config.port);
}

std::string shown(const std::string& text) {
  constexpr size_t kMost = 280;
  std::string result = text.substr(0, kMost);
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  if (text.size() > kMost) result += base::text("... (", text.size(), " bytes)");
  return result;
}

std::string job_key(const std::string& token, std::string_view number) {
  const Proof key = make_mac(token, base::text("key: job ", number));
  return {key.begin(), key.end()};
}

}  // namespace join

Joined join_processes(const JoinConfig& config, const Wait& wait, const OpenBoard& board) {
  check_join_config(config);
  if (config.agent_store && config.num_processes > 1 && !board)
    base::fail(Status::kUnsupported, "agent_store: there is no store to ask");
  ProcessInfo self;
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
  return config.process == 0 ? join::lead(config, self, token, wait, board)
                             : join::follow(config, self, token, wait, board);
}

}  // namespace gnnmg::comm
