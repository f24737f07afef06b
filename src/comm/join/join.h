// Joining: where process 0 is, and who comes to it. The sockets that are left when all have come
// are the control connections of the job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/join/config.h"
#include "comm/join/frame.h"
#include "comm/join/socket.h"

namespace gnnmg::comm {

// A control connection, with what has come and what is still to go.
struct Connection {
  // From now on frames are sealed, each way under its key.
  void seal(const Proof& own, const Proof& theirs);
  // Puts a frame at the end of `out`; nothing of it when it throws.
  void send(std::string_view frame);

  Socket socket;
  FrameBuffer in{kFrameLimit};
  std::string out;

 private:
  std::optional<Seal> seal_;
};

class LateAcceptor;

struct Joined {
  Joined();
  Joined(Joined&&) noexcept;
  ~Joined();
  int process = 0;
  std::vector<std::string> hosts;       // by process
  std::vector<Connection> connections;  // by process: process 0 has one to all others, they to it
  std::string address;                  // of this process, numeric
  // Of this job alone, known to those who know the token: for what its processes prove to each
  // other elsewhere. Empty: there is one process.
  std::string key;
  int64_t heartbeat_ms = 0;                // process 0's
  std::unique_ptr<LateAcceptor> acceptor;  // of process 0, for those who are one too many
};

// What processes say of themselves, and what of it must be the same.
struct ProcessInfo {
  std::string version, job;
  int process = 0, num_processes = 0;
  std::string host;
  int64_t pid = 0;
};

Joined join_processes(const JoinConfig& config, const Wait& wait, const OpenBoard& board);

namespace join {  // the two sides

// Of what is said on control connections; process 0 and members must have the same.
inline constexpr std::string_view kProtocolVersion = "6";

// "joining: 3 of 4 processes came within 5 s, missing: 2"
std::string count_text(const std::vector<bool>& came, double seconds);
// Error(kAuth) unless the address is of this machine alone or there is a token.
void check_asked(const Address& address, const std::string& host, const std::string& token);
std::string board_key(const JoinConfig& config);
// "the store at 10.0.0.1:29500"
std::string board_text(const JoinConfig& config);
// A text of somebody else as errors show it: printable, and not too long.
std::string shown(const std::string& text);
// `Joined::key`, from a number that process 0 has made up for the job.
std::string job_key(const std::string& token, std::string_view number);

Joined lead(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
            const Wait& wait, const OpenBoard& board);
Joined follow(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
              const Wait& wait, const OpenBoard& board);

}  // namespace join
}  // namespace gnnmg::comm
