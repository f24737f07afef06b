// Joining on processes other than 0: find process 0, prove to know the token, send the identity,
// and wait until all have come.
#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <thread>

#include "comm/group_state.h"
#include "comm/join/causes.h"
#include "comm/join/handshake.h"
#include "comm/join/join.h"

namespace gnnmg::comm::join {
namespace {

using base::Status;
using base::SteadyClock;
using std::chrono::milliseconds;

constexpr auto kFollowSlice = milliseconds(20);
constexpr auto kAgain = milliseconds(100);  // pause between attempts
constexpr auto kAttempt = std::chrono::seconds(5);
constexpr size_t kLongestAddress = 280;     // bytes of a host name and a port
constexpr double kComesAgain = 3;           // seconds until process 0 should be back
constexpr auto kGrace = milliseconds(500);  // time for process 0 to report the missing processes

class Follower {
 public:
  Follower(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
           const Wait& wait)
      : config_(config), self_(self), token_(token), wait_(wait) {}

  Joined run(const OpenBoard& open_board) {
    std::unique_ptr<Board> board;
    std::vector<Address> addresses;
    if (config_.agent_store) {
      where_ = board_text(config_);
      last_ = "process 0 has not told its address there";
      board = open_board(config_.host, config_.port, wait_);
    } else {
      addresses = resolve(config_.host, config_.port, wait_);
    }
    for (size_t attempt = 0;; ++attempt) {
      if (board) addresses = told_address(*board);
      if (!addresses.empty()) {
        const Address& address = addresses[attempt % addresses.size()];
        check_asked(address, config_.host, token_);
        where_ = address.text();
        if (auto joined = try_once(address)) return std::move(*joined);
      }
      pause(kAgain);
    }
  }

 private:
  void check_wait() const {
    wait_.cancel.check("joining");
    check_parted();
    if (!wait_.deadline.passed()) return;
    if (roster_.empty())
      base::fail(Status::kTimeout, "joining: process 0 cannot be reached at ", where_, " within ",
                 seconds(), " s: ", last_);
    if (wait_.deadline.at() + kGrace < SteadyClock::now())
      base::fail(Status::kTimeout, count_text(roster_, seconds()), "; so said process 0 ",
                 seconds_since(told_), " s ago");
  }

  // A process 0 in a store does not come back at this restart: it has ended, or another party holds
  // back its messages.
  void check_parted() const {
    if (!config_.agent_store || !parted_ || seconds_since(*parted_) < kComesAgain) return;
    base::fail(Status::kPeerLost, "joining: process 0 has proven itself at ", shown(led_to_),
               ", where ", board_text(config_), " (", board_key(config_),
               ") leads, and then the connection ended without a message: process 0 has ended and "
               "reports the reason, or somebody stands between them");
  }

  double seconds() const { return seconds_since(start_); }
  static double seconds_since(SteadyClock::time_point time) {
    return rounded(std::chrono::duration<double>(SteadyClock::now() - time).count());
  }

  void pause(milliseconds time) const {
    const auto until = SteadyClock::now() + time;
    while (SteadyClock::now() < until) {
      check_wait();
      std::this_thread::sleep_for(std::min(kFollowSlice, time));
    }
  }

  // Returns process 0's addresses on the board; empty if there are none yet.
  std::vector<Address> told_address(Board& board) {
    const auto value = board.look(board_key(config_));
    if (!value) return {};
    led_to_ = *value;
    const size_t colon = value->rfind(':');
    int32_t port = 0;
    if (colon != std::string::npos)
      std::from_chars(value->data() + colon + 1, value->data() + value->size(), port);
    if (port < 1 || port > 65535 || value->size() > kLongestAddress)
      base::fail(Status::kProtocol, board_text(config_), " says \"", shown(*value), "\" under ",
                 board_key(config_), ": expected an address and a port");
    std::string host = value->substr(0, colon);
    if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
    return resolve(host, port, wait_);
  }

  // Returns nothing, and sets last_, if another attempt is worthwhile.
  std::optional<Joined> try_once(const Address& address) {
    roster_.clear();
    Connection connection;
    try {
      Address from;
      if (!config_.interface.empty()) from = interface_address(config_.interface, address.family());
      connection.socket = Socket::connect(address, from);
      if (!wait_connected(connection.socket)) return std::nullopt;
    } catch (const base::Error& error) {
      if (error.status() != Status::kUnavailable) throw;
      last_ = error.what();
      return std::nullopt;
    }
    ClientHandshake handshake(token_);
    bool proven = false;
    last_ = "it takes the connection, but says nothing";
    const auto until = SteadyClock::now() + kAttempt;
    while (true) {
      check_wait();
      // May be another program: process 0 comes later, or uses the host's next address.
      if (!proven && SteadyClock::now() > until) return std::nullopt;
      std::vector<PollEntry> entries{
          {connection.socket.fd(), !connection.out.empty(), false, false}};
      poll_sockets(entries, kFollowSlice.count());
      if (entries[0].readable) {
        std::string bytes;
        const bool closed = connection.socket.read(bytes) == Socket::Result::kClosed;
        connection.in.append(bytes);
        if (!proven) {
          try {
            proven = handshake.advance(connection.in, connection.out);
          } catch (const base::Error& error) {
            connection.socket.write(connection.out);
            if (error.status() == Status::kAuth)
              base::fail(Status::kAuth, "joining at ", where_, ": ", error.what());
            last_ = error.what();
            return std::nullopt;
          }
          if (proven) introduce(connection, handshake.keys());
        }
        if (proven)
          while (auto frame = next_frame(connection))
            if (auto joined = take(*frame, connection)) return joined;
        if (closed) {
          last_ = "it closed the connection";
          if (proven && !parted_) parted_ = SteadyClock::now();
          return std::nullopt;
        }
      }
      if (!connection.out.empty()) connection.socket.write(connection.out);
    }
  }

  bool wait_connected(const Socket& socket) {
    const auto until = SteadyClock::now() + kAttempt;
    while (SteadyClock::now() < until) {
      check_wait();
      std::vector<PollEntry> entries{{socket.fd(), true, false, false}};
      poll_sockets(entries, kFollowSlice.count());
      if (!entries[0].writable && !entries[0].readable) continue;
      const int error = socket.pending_error();
      if (error == 0) return true;
      last_ = std::generic_category().message(error);
      return false;
    }
    last_ = "no answer";
    return false;
  }

  // The first frame has the form of all versions, with a proof at its end; later frames are sealed.
  void introduce(Connection& connection, const SessionKeys& keys) const {
    FrameWriter identity(FrameKind::kIdentity);
    identity.text(kProtocolVersion);
    identity.text(self_.version);
    identity.text(self_.host);
    identity.i64(self_.pid);
    identity.i64(self_.process);
    identity.text(self_.job);
    identity.i64(self_.num_processes);
    identity.text(led_to_);
    identity.text(bytes_of(make_mac(bytes_of(keys.identity), identity.fields())));
    connection.send(identity.finish(kStrangerLimit));
    connection.seal(keys.to_leader, keys.to_member);
  }

  // Tells process 0 if its messages are changed on the way. The first messages of an older version
  // have no seal.
  std::optional<Frame> next_frame(Connection& connection) const {
    try {
      return connection.in.next();
    } catch (const base::Error& error) {
      if (error.status() != Status::kAuth) throw;
      if (roster_.empty() && !connection.in.next_has_seal())
        base::fail(Status::kMismatch, "joining at ", where_,
                   ": process 0 speaks a protocol before ", kProtocolVersion,
                   ", which is this process's (library version ", self_.version,
                   "), unless somebody stands between them: expected the same version of the "
                   "library on all processes");
      const std::string text =
          base::text("joining: what came to process ", self_.process, " on host ", self_.host,
                     " from process 0 at ", where_, " is ", error.what());
      connection.send(job_end_frame(0, {Status::kAuth, text, self_.process, kEveryOperation, {}}));
      connection.socket.write(connection.out);
      base::fail(Status::kAuth, text);
    }
  }

  std::optional<Joined> take(const Frame& frame, Connection& connection) {
    FrameReader reader(frame.body);
    switch (frame.kind) {
      case FrameKind::kRoster: {
        const std::vector<int64_t> came = reader.list();
        roster_.assign(came.begin(), came.end());
        told_ = SteadyClock::now();
        return std::nullopt;
      }
      case FrameKind::kRefused: {
        const int64_t status = reader.i64();
        if (status >= 0 || status < static_cast<int32_t>(Status::kInternal))
          base::fail(Status::kProtocol, "process 0 refuses with status ", status);
        throw base::Error(static_cast<Status>(status), reader.text(kTextLimit));
      }
      case FrameKind::kWelcome: {
        Joined joined;
        joined.process = self_.process;
        const std::string reachable = reader.text();
        joined.key = job_key(token_, reader.text());
        joined.heartbeat_ms = reader.i64();
        if (joined.heartbeat_ms < kHeartbeatLeast || joined.heartbeat_ms > kHeartbeatMost)
          base::fail(Status::kProtocol, "process 0 sends a heartbeat every ", joined.heartbeat_ms,
                     " ms, expected ", kHeartbeatLeast, " to ", kHeartbeatMost);
        joined.hosts.resize(reader.count(4));
        for (std::string& host : joined.hosts) host = reader.text();
        if (static_cast<int>(joined.hosts.size()) != self_.num_processes)
          base::fail(Status::kProtocol, "process 0 welcomes to a job of ", joined.hosts.size(),
                     " processes, expected ", self_.num_processes);
        // A process on process 0's own machine has process 0's address for the others.
        const Address local = connection.socket.local();
        joined.address = local.loopback() ? reachable : local.host();
        joined.connections.push_back(std::move(connection));
        return joined;
      }
      default:
        base::fail(Status::kProtocol, "process 0 sends a frame of kind ",
                   static_cast<int>(frame.kind), " to one that joins");
    }
  }

  const JoinConfig& config_;
  const ProcessInfo& self_;
  const std::string& token_;
  const Wait& wait_;
  const SteadyClock::time_point start_ = SteadyClock::now();
  std::string where_, last_;
  std::string led_to_;            // process 0's address on the board; empty: no board
  std::vector<bool> roster_;      // arrived processes in process 0's last roster; empty: none yet
  SteadyClock::time_point told_;  // time of the roster
  std::optional<SteadyClock::time_point>
      parted_;  // first time that a proven process 0 closed the connection
};

}  // namespace

Joined follow(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
              const Wait& wait, const OpenBoard& board) {
  return Follower(config, self, token, wait).run(board);
}

}  // namespace gnnmg::comm::join
