// The servers of a graph in parts, as a client asks them: the owners of each part, their
// replacements, and the time limits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/error.h"
#include "base/log.h"
#include "dist/addresses.h"
#include "dist/channel.h"
#include "dist/engine.h"
#include "dist/files.h"
#include "dist/hello.h"

namespace gnnmg::dist {

struct PeersConfig {
  std::string token;           // bytes of the servers' token; empty: none
  TlsFiles tls;                // none: no TLS
  bool insecure = false;       // allows connections without TLS beyond this machine
  int32_t max_in_flight = 8;   // questions under way to each server
  int64_t patience_ms = 0;     // wait for parts without a server; 0: three tries, about 1 s
  int64_t hedge_ms = 0;        // ask a replica too after that; 0: never
  int64_t connect_ms = 2'000;  // limit of one try
  std::vector<int32_t> own;    // parts that are here, ascending: no server is needed for them
  // Returns the reason of the failure of the job, if the servers are processes of one: a failing
  // call throws it in place of its own error, and waits for it up to a second. Any thread.
  std::function<std::optional<base::Error>()> verdict;
};

// Counts of questions since the first.
struct PeersCounts {
  std::atomic<int64_t> asked_again{0};  // sent to another server, or to the same after a break
  std::atomic<int64_t> hedged{0};       // sent to a replica as well, since the first was slow
  std::atomic<int64_t> busy{0};         // told to come later
};

class Peer;
struct Board;

// Any thread.
class Peers : public std::enable_shared_from_this<Peers> {
 public:
  // Greets the servers at `addresses` until each part that is not here has one, which may start
  // later than this. Error(kMismatch) where one has other data, or is of another library, than
  // another, naming both and the difference; or where all have answered and parts are left that
  // nobody has. kUnavailable or kTimeout naming these parts and why servers were not reached;
  // kAuth, kInvalidArgument, kCancelled. `log` outlives the peers.
  static std::shared_ptr<Peers> meet(const Engine& engine, const std::vector<Address>& addresses,
                                     const PeersConfig& config, base::Log& log,
                                     const base::Deadline& deadline,
                                     const base::CancelToken& cancel);
  static std::shared_ptr<Peers> meet(const Engine& engine, const std::string& addresses,
                                     const PeersConfig& config, base::Log& log,
                                     const base::Deadline& deadline,
                                     const base::CancelToken& cancel) {
    return meet(engine, find_addresses(addresses), config, log, deadline, cancel);
  }
  ~Peers();

  // The description that all servers share; its list of parts is empty.
  const Hello& data() const { return data_; }
  const PeersCounts& counts() const { return counts_; }

  // Asks a server that has the part: one whose connection broke is asked again, and another in its
  // place at once. wait() throws, naming server and request,
  // kUnavailable: no owner of the part can be reached: after three tries each and, if longer,
  //   `patience_ms`; time without any server does not count against the deadline where there is
  //   patience;
  // kTimeout: no answer by the deadline;
  // kMismatch: a server came back with other data; kAuth: with another token.
  std::unique_ptr<Channel> channel();
  // The files of the folder that the servers have.
  std::unique_ptr<Files> files();

 private:
  friend class PeerCall;
  Peers(const PeersConfig& config, base::Log& log);
  void agree(const Peer& peer, const Hello& hello);
  std::optional<std::vector<int32_t>> missing() const;
  void check_meeting(const std::optional<std::vector<int32_t>>& missing,
                     const base::Deadline& deadline) const;

  const PeersConfig config_;
  base::Log& log_;
  const std::shared_ptr<Board> board_;
  Hello data_;             // guarded by the board until all have met
  std::string data_from_;  // the server that gave it
  mutable PeersCounts counts_;
  std::vector<std::shared_ptr<Peer>> peers_;
};

}  // namespace gnnmg::dist
