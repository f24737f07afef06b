// Joining: finds process 0 and collects the processes. The sockets of joining become the control
// connections of the job.
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

// A control connection with its received and pending bytes.
struct Connection {
  // Seals all later frames, with one key per direction.
  void seal(const Proof& own, const Proof& theirs);
  // Appends a frame to `out`; appends nothing if it throws.
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
  std::vector<std::string> hosts;  // one per process
  // One per process. Process 0 is connected to each process, the others only to process 0.
  std::vector<Connection> connections;
  std::string address;  // numeric address of this process
  // A secret of this job, known to processes with the token: they use it for proofs on other
  // connections. Empty for a single process.
  std::string key;
  int64_t heartbeat_ms = 0;                // set by process 0
  std::unique_ptr<LateAcceptor> acceptor;  // process 0 only: refuses surplus processes
};

// Identity of a process; version, job and num_processes must be the same everywhere.
struct ProcessInfo {
  std::string version, job;
  int process = 0, num_processes = 0;
  std::string host;
  int64_t pid = 0;
};

Joined join_processes(const JoinConfig& config, const Wait& wait, const OpenBoard& board);

namespace join {  // both sides of joining

// Version of the control protocol; process 0 and members must have the same.
inline constexpr std::string_view kProtocolVersion = "6";

// "joining: 3 of 4 processes came within 5 s, missing: 2"
std::string count_text(const std::vector<bool>& came, double seconds);
// Error(kAuth) if other machines can reach the address and there is no token.
void check_asked(const Address& address, const std::string& host, const std::string& token);
std::string board_key(const JoinConfig& config);
// "the store at 10.0.0.1:29500"
std::string board_text(const JoinConfig& config);
// Foreign text made safe for error texts: printable and not too long.
std::string shown(const std::string& text);
// `Joined::key`, derived from a random number that process 0 draws for the job.
std::string job_key(const std::string& token, std::string_view number);

Joined lead(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
            const Wait& wait, const OpenBoard& board);
Joined follow(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
              const Wait& wait, const OpenBoard& board);

}  // namespace join
}  // namespace gnnmg::comm
