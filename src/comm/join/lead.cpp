// Joining on process 0: listens, admits processes, and ends joining for all.
#include <algorithm>
#include <cerrno>
#include <optional>
#include <thread>

#include "comm/group_state.h"
#include "comm/join/acceptor.h"
#include "comm/join/causes.h"

namespace gnnmg::comm::join {
namespace {

using base::Status;
using base::SteadyClock;
using std::chrono::milliseconds;

constexpr auto kServeSlice = milliseconds(20);
// Time in which late processes can still learn why joining has failed.
constexpr int64_t kLinger = 3000;
constexpr int64_t kLookMs = 500;  // time limit for reading the board after a timeout

struct Member {
  Connection connection;
  std::string host;
  int64_t pid = 0;
};

class Leader {
 public:
  Leader(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
         const Wait& wait)
      : config_(config),
        self_(self),
        token_(token),
        wait_(wait),
        members_(config.num_processes),
        told_(config.num_processes, false) {
    told_[0] = true;
  }

  Joined run(const OpenBoard& board) {
    listen();
    if (config_.agent_store) {
      told_address_ = told_address();
      board(config_.host, config_.port, wait_)->publish(board_key(config_), told_address_);
    }
    while (!complete()) {
      if (wait_.cancel.cancelled()) {
        end(Status::kAborted, "joining: process 0 was canceled");
        linger(milliseconds(0));
        base::fail(Status::kCancelled, "joining was canceled");
      }
      if (wait_.deadline.passed()) end(Status::kTimeout, timeout_text(board));
      if (ending_) {
        linger(milliseconds(ending_->status() == Status::kTimeout ? 0 : kLinger));
        throw *ending_;
      }
      serve(kServeSlice);
    }
    return welcome();
  }

 private:
  void listen() {
    std::vector<Address> candidates;
    if (config_.interface.empty()) {
      candidates = resolve(config_.host, config_.port, wait_);
      if (names_this_machine_alone(config_.host, candidates)) consider_others(candidates);
    } else {
      candidates.push_back(interface_address(config_.interface, AF_UNSPEC));
      candidates[0].set_port(config_.port);
    }
    const SteadyClock::time_point start = SteadyClock::now();
    while (true) {
      std::optional<base::Error> last;
      for (Address address : candidates) {
        if (address.everywhere() && !everywhere_)
          base::fail(Status::kInvalidArgument, "host \"", config_.host,
                     "\" is every address of this machine: expected one of them");
        check_asked(address, config_.host, token_);
        if (config_.agent_store) address.set_port(0);
        try {
          Socket listener = Socket::listen(address);
          address_ = listener.local();
          acceptor_ = std::make_unique<Acceptor>(std::move(listener), token_);
          return;
        } catch (const base::Error& error) {
          last = error;
        }
      }
      // An ending process 0, or another job of this process, may still hold the port.
      if (last->system_error() != EADDRINUSE || SteadyClock::now() - start > milliseconds(1000) ||
          wait_.deadline.passed())
        throw *last;
      LateAcceptor::release_port(config_.port);
      wait_.cancel.check("joining");
      std::this_thread::sleep_for(kServeSlice);
    }
  }

  // Debian gives a machine's own name an address that no other machine can reach. With a token the
  // name counts as a request to be reachable; without one the timeout text mentions it.
  void consider_others(std::vector<Address>& candidates) {
    loopback_ = candidates[0];
    if (token_.empty()) return;
    everywhere_ = true;
    for (Address& address : candidates) address.set_everywhere();
  }

  // Address for the other processes; a name, if there is one, because each resolves it for itself.
  std::string told_address() const {
    return everywhere_ ? base::text(config_.host, ":", address_.port()) : address_.text();
  }

  bool complete() const {
    return std::all_of(members_.begin() + 1, members_.end(),
                       [](const auto& member) { return member.has_value(); });
  }

  std::vector<bool> came() const {
    std::vector<bool> result(members_.size(), true);
    for (size_t p = 1; p < members_.size(); ++p) result[p] = members_[p].has_value();
    return result;
  }

  double seconds() const {
    return rounded(std::chrono::duration<double>(SteadyClock::now() - start_).count());
  }

  std::string timeout_text(const OpenBoard& board) const {
    std::string text =
        count_text(came(), seconds()) + acceptor_->turned_away() + changed_board(board);
    if (loopback_ && !everywhere_)
      text += base::text("; ", own_name(self_), " listens at ", address_.text(),
                         ", the address of \"", config_.host,
                         "\" on its machine, which no other machine can reach: "
                         "expected an address of the network, or a token (GNNMG_TOKEN_FILE)");
    return text;
  }

  // Returns an error text if somebody else has changed the address on the board.
  std::string changed_board(const OpenBoard& board) const {
    if (!config_.agent_store) return {};
    try {
      Wait moment = wait_;
      moment.deadline = base::Deadline::after_ms(kLookMs);
      const auto found = board(config_.host, config_.port, moment)->look(board_key(config_));
      if (!found || *found == told_address_) return {};
      return base::text("; ", board_text(config_), " leads the others to \"", shown(*found),
                        "\", and process 0 has written \"", told_address_, "\" there (",
                        board_key(config_), "): somebody else writes to that store");
    } catch (const base::Error&) {  // the store is gone
      return {};
    }
  }

  // One round: reads from all connections and writes pending bytes.
  void serve(milliseconds slice) {
    std::vector<PollEntry> entries;
    for (const auto& member : members_)
      if (member)
        entries.push_back(
            {member->connection.socket.fd(), !member->connection.out.empty(), false, false});
    const size_t candidates = entries.size();
    acceptor_->watch(entries);
    poll_sockets(entries, slice.count());

    size_t i = 0;
    for (size_t p = 1; p < members_.size(); ++p)
      if (members_[p] && entries[i++].readable) watch(static_cast<int>(p));
    acceptor_->serve(std::span(entries).subspan(candidates),
                     [this](Candidate& candidate, const Identity& identity) {
                       return admit(candidate, identity);
                     });
    for (auto& member : members_)
      if (member && !member->connection.out.empty())
        member->connection.socket.write(member->connection.out);
  }

  bool admit(Candidate& candidate, const Identity& identity) {
    const std::string name = identity.name(), own = own_name(self_);
    const int64_t process = identity.process;
    const auto tell_end = [&] {
      Acceptor::refuse(candidate, ending_->status(), ending_->what());
      if (process >= 0 && process < self_.num_processes) told_[process] = true;
      return true;
    };
    if (identity.of_this_protocol() && !identity.genuine && !mind_changed(candidate)) return false;
    if (ending_) return tell_end();
    const auto differ = [&](const char* what, const auto& theirs, const auto& ours) {
      end(Status::kMismatch,
          base::text(name, " has ", what, " ", theirs, ", ", own, " has ", ours));
      return tell_end();
    };
    if (!identity.of_this_protocol())
      return differ("protocol", identity.protocol, kProtocolVersion);
    if (identity.version != self_.version)
      return differ("library version", identity.version, self_.version);
    if (identity.job != self_.job) {  // a process of another job at the wrong port
      acceptor_->note(name, base::text("its job \"", identity.job, "\""));
      Acceptor::refuse(candidate, Status::kMismatch,
                       base::text(name, " is of job \"", identity.job, "\", ", own, " of job \"",
                                  self_.job, "\""));
      return true;
    }
    if (identity.told != told_address_) {
      end(Status::kAuth, misled_text(name, identity.told));
      return tell_end();
    }
    if (identity.num_processes != self_.num_processes)
      return differ("world size (number of processes)", identity.num_processes,
                    self_.num_processes);
    if (process < 0 || process >= self_.num_processes) return false;
    if (process == 0 || members_[process]) {
      const Member* first = process == 0 ? nullptr : &*members_[process];
      end(Status::kMismatch,
          base::text("two processes are number ", process, ": on host ",
                     first ? first->host : self_.host, " (pid ", first ? first->pid : self_.pid,
                     ") and on host ", identity.host, " (pid ", identity.pid, ")"));
      Acceptor::refuse(candidate, ending_->status(), ending_->what());
      return true;
    }
    Member member;
    member.connection = std::move(candidate.connection);
    member.connection.in.set_limit(kFrameLimit);
    member.host = identity.host;
    member.pid = identity.pid;
    members_[process] = std::move(member);
    tell_roster();
    return false;
  }

  // Only an owner of the token gets here, or a party that forwards and changes an owner's bytes.
  // Without a token it may be any program of this machine, and is ignored.
  bool mind_changed(const Candidate& candidate) {
    acceptor_->note(candidate.address, "a message that was changed on its way");
    if (token_.empty()) return false;
    end(Status::kAuth, base::text("joining: a message from ", candidate.address,
                                  " in the name of a process that knows the token was changed on "
                                  "its way: somebody stands between the processes"));
    return true;
  }

  std::string misled_text(const std::string& who, const std::string& told) const {
    return base::text("joining: ", who, " was led to \"", shown(told), "\" by ",
                      board_text(config_), " (", board_key(config_), "), where ", own_name(self_),
                      " has written \"", told_address_, "\": somebody else writes to that store");
  }

  // A member that leaves before all have come may come again. One that sends before its welcome is
  // no member and must leave, because nobody would read its messages; the exception is a report
  // that messages to it are changed on the way.
  void watch(int process) {
    Connection& connection = members_[process]->connection;
    std::string bytes;
    if (connection.socket.read(bytes) == Socket::Result::kAgain) return;
    hear_end(process, bytes);
    members_[process].reset();
    if (!ending_) tell_roster();
  }

  void hear_end(int process, const std::string& bytes) {
    if (bytes.size() > kStrangerLimit) return;
    try {
      Connection& connection = members_[process]->connection;
      connection.in.append(bytes);
      const auto frame = connection.in.next();
      if (!frame || frame->kind != FrameKind::kJobEnded) return;
      const auto [number, cause] = read_job_end(frame->body);
      if (cause.status != Status::kAuth) return;
      end(cause.status, cause.text);
      told_[process] = true;
    } catch (const base::Error&) {  // bytes that another party has changed
    }
  }

  void tell_roster() {
    FrameWriter roster(FrameKind::kRoster);
    std::vector<int64_t> numbers;
    for (const bool here : came()) numbers.push_back(here);
    roster.list(numbers);
    tell_all(roster.finish());
  }

  void tell_all(const std::string& frame) {
    for (auto& member : members_)
      if (member) member->connection.send(frame);
  }

  // Ends joining with a failure; the first reason counts.
  void end(Status status, const std::string& text) {
    if (ending_) return;
    ending_ = base::Error(status, text);
    FrameWriter refused(FrameKind::kRefused);
    refused.i64(static_cast<int32_t>(status));
    refused.text(text);
    tell_all(refused.finish());
    for (size_t p = 1; p < members_.size(); ++p)
      if (members_[p]) told_[p] = true;
  }

  bool written() const {
    return acceptor_->written() && std::ranges::all_of(members_, [](const auto& m) {
             return !m || m->connection.out.empty();
           });
  }

  // Writes pending bytes, at most 100 ms, and serves new candidates until all have the reason.
  void linger(milliseconds most) {
    const SteadyClock::time_point start = SteadyClock::now();
    while (true) {
      const auto passed = SteadyClock::now() - start;
      const bool all_told = std::ranges::all_of(told_, [](bool told) { return told; });
      if (passed >= most || all_told || wait_.cancel.cancelled() || wait_.deadline.passed())
        if (written() || passed >= most + milliseconds(100)) return;
      serve(milliseconds(5));
    }
  }

  Joined welcome() {
    Joined joined;
    joined.address = reachable_address();
    std::vector<LateAcceptor::Member> members{{self_.host, self_.pid}};
    for (size_t p = 1; p < members_.size(); ++p)
      members.push_back({members_[p]->host, members_[p]->pid});
    joined.heartbeat_ms = config_.heartbeat_ms;
    FrameWriter welcome(FrameKind::kWelcome);
    welcome.text(joined.address);
    const Nonce number = make_nonce();
    welcome.text(bytes_of(number));
    joined.key = job_key(token_, bytes_of(number));
    welcome.i64(joined.heartbeat_ms);
    welcome.u32(static_cast<uint32_t>(members.size()));
    for (const LateAcceptor::Member& member : members) {
      joined.hosts.push_back(member.host);
      welcome.text(member.host);
    }
    tell_all(welcome.finish());
    joined.connections.resize(1);
    for (size_t p = 1; p < members_.size(); ++p)
      joined.connections.push_back(std::move(members_[p]->connection));
    joined.acceptor = std::make_unique<LateAcceptor>(std::move(acceptor_), self_, config_.port,
                                                     std::move(members));
    return joined;
  }

  // Address of this machine for data connections: the listening address, or, with the wildcard
  // address, the one by which other machines have reached it.
  std::string reachable_address() const {
    if (!everywhere_) return address_.host();
    for (const auto& member : members_)
      if (member)
        if (const Address local = member->connection.socket.local(); !local.loopback())
          return local.host();
    return loopback_->host();
  }

  const JoinConfig& config_;
  const ProcessInfo& self_;
  const std::string& token_;
  const Wait& wait_;
  const SteadyClock::time_point start_ = SteadyClock::now();
  std::unique_ptr<Acceptor> acceptor_;
  Address address_;                  // listening address
  std::string told_address_;         // address on the board; empty: no board
  std::optional<Address> loopback_;  // the host's only address, if it is a loopback address
  bool everywhere_ = false;          // listens at the wildcard address instead
  std::vector<std::optional<Member>> members_;
  std::vector<bool> told_;  // one per process: it has got `ending_`
  std::optional<base::Error> ending_;
};

}  // namespace

Joined lead(const JoinConfig& config, const ProcessInfo& self, const std::string& token,
            const Wait& wait, const OpenBoard& board) {
  return Leader(config, self, token, wait).run(board);
}

}  // namespace gnnmg::comm::join
