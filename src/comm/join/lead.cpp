// Process 0's side of joining: it listens, asks each stranger for the token and then for who it is,
// and tells all of them how joining ended. Whoever fails to prove itself costs a socket for five
// seconds and nothing else.
#include <algorithm>
#include <cerrno>
#include <list>
#include <optional>
#include <thread>

#include "comm/group_state.h"
#include "comm/join/handshake.h"
#include "comm/join/join.h"

namespace gnnmg::comm::join {
namespace {

using base::Status;
using base::SteadyClock;
using std::chrono::milliseconds;

constexpr auto kHandshakeTime = std::chrono::seconds(5);
constexpr size_t kMostGuests = 256;  // beyond, the oldest has to go
constexpr auto kSlice = milliseconds(20);
// How long those who have not come yet can still learn why joining has failed.
constexpr int64_t kLinger = 3000;

// A connection that is not a member's yet, or not any more.
struct Guest {
  explicit Guest(Socket connection, const std::string& token)
      : socket(std::move(connection)), handshake(token, out) {}
  Socket socket;
  FrameBuffer in{kStrangerLimit};
  std::string out;
  ServerHandshake handshake;
  SteadyClock::time_point since = SteadyClock::now();
  bool proven = false;
  bool leaving = false;  // closed when `out` is written
};

struct Member {
  Connection connection;
  std::string host;
  int64_t pid = 0;
};

class Leader {
 public:
  Leader(const JoinConfig& config, const Who& self, const std::string& token, const Wait& wait)
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
    if (config_.agent_store)
      board(config_.host, config_.port, wait_)->publish(board_key(config_), address_.text());
    while (!complete()) {
      if (wait_.cancel.cancelled()) {
        end(Status::kAborted, "joining: process 0 was cancelled");
        linger(milliseconds(0));
        base::fail(Status::kCancelled, "joining was cancelled");
      }
      if (wait_.deadline.passed()) end(Status::kTimeout, timeout_text());
      if (ending_) {
        linger(milliseconds(ending_->status() == Status::kTimeout ? 0 : kLinger));
        throw *ending_;
      }
      serve(kSlice);
    }
    return welcome();
  }

 private:
  void listen() {
    std::vector<Address> candidates;
    if (config_.interface.empty()) {
      candidates = resolve(config_.host, config_.port, wait_);
    } else {
      candidates.push_back(interface_address(config_.interface, AF_UNSPEC));
      candidates[0].set_port(config_.port);
    }
    const SteadyClock::time_point start = SteadyClock::now();
    while (true) {
      std::optional<base::Error> last;
      for (Address address : candidates) {
        const std::string host = address.host();
        if (host == "0.0.0.0" || host == "::")
          base::fail(Status::kInvalidArgument, "host \"", config_.host,
                     "\" is every address of this machine: expected one of them");
        check_asked(address, config_.host, token_);
        if (config_.agent_store) address.set_port(0);
        try {
          listener_ = Socket::listen(address);
          address_ = listener_.local();
          return;
        } catch (const base::Error& error) {
          last = error;
        }
      }
      // A process 0 that is just ending may still hold the port.
      if (last->system_error() != EADDRINUSE || SteadyClock::now() - start > milliseconds(1000) ||
          wait_.deadline.passed())
        throw *last;
      wait_.cancel.check("joining");
      std::this_thread::sleep_for(kSlice);
    }
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

  std::string timeout_text() const {
    std::string text = count_text(came(), seconds());
    if (wrong_tokens_ > 0)
      text += base::text("; ", wrong_tokens_, " connections with a wrong token were refused");
    return text;
  }

  // One round: takes what has come from everyone, writes what is to go.
  void serve(milliseconds slice) {
    std::vector<PollEntry> entries{{listener_.fd(), false, false, false}};
    for (const auto& member : members_)
      if (member)
        entries.push_back(
            {member->connection.socket.fd(), !member->connection.out.empty(), false, false});
    for (const Guest& guest : guests_)
      entries.push_back({guest.socket.fd(), !guest.out.empty(), false, false});
    poll_sockets(entries, slice.count());

    size_t i = 1;
    for (size_t p = 1; p < members_.size(); ++p)
      if (members_[p] && entries[i++].readable) watch(static_cast<int>(p));
    const SteadyClock::time_point now = SteadyClock::now();
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      const bool readable = entries[i++].readable;
      bool keep = now - guest->since < kHandshakeTime;
      try {
        keep = keep && (!readable || advance(*guest));
      } catch (const base::Error&) {  // what a stranger sends is no news to anybody
        keep = false;
      }
      if (keep && !guest->out.empty())
        keep = guest->socket.write(guest->out) != Socket::Result::kClosed;
      if (keep && guest->leaving && guest->out.empty()) keep = false;
      guest = keep ? std::next(guest) : guests_.erase(guest);
    }
    for (auto& member : members_)
      if (member && !member->connection.out.empty())
        member->connection.socket.write(member->connection.out);
    if (entries[0].readable) accept();
  }

  void accept() {
    for (int i = 0; i < 64; ++i) {  // then the others have their turn
      Socket socket;
      try {
        socket = listener_.accept();
      } catch (const base::Error&) {  // out of descriptors: the oldest guest gives way
        if (guests_.empty()) throw;
        guests_.pop_front();
        return;
      }
      if (!socket.open()) return;
      if (guests_.size() >= kMostGuests) guests_.pop_front();
      guests_.emplace_back(std::move(socket), token_);
    }
  }

  // False when the guest is to be dropped, or has become a member.
  bool advance(Guest& guest) {
    std::string bytes;
    if (guest.socket.read(bytes) == Socket::Result::kClosed) return false;
    if (guest.leaving) return true;
    guest.in.append(bytes);
    if (!guest.proven) {
      switch (guest.handshake.advance(guest.in, guest.out)) {
        case ServerHandshake::Result::kMore:
          return true;
        case ServerHandshake::Result::kStranger:
          return false;
        case ServerHandshake::Result::kWrongToken:
          ++wrong_tokens_;
          guest.leaving = true;
          return true;
        case ServerHandshake::Result::kProven:
          guest.proven = true;
      }
    }
    const auto frame = guest.in.next();
    if (!frame) return true;
    if (frame->kind != FrameKind::kWho) return false;
    return admit(guest, frame->body);
  }

  void refuse(Guest& guest, Status status, const std::string& text) {
    FrameWriter refused(FrameKind::kRefused);
    refused.i64(static_cast<int32_t>(status));
    refused.text(text);
    guest.out += refused.finish();
    guest.leaving = true;
  }

  bool admit(Guest& guest, const std::string& body) {
    FrameReader reader(body);
    const std::string protocol = reader.text();
    const std::string version = reader.text();
    const std::string host = reader.text();
    const int64_t pid = reader.i64(), process = reader.i64();
    const std::string name = base::text("process ", process, " on host ", host, " (pid ", pid, ")");
    const std::string own = base::text("process 0 on host ", self_.host, " (pid ", self_.pid, ")");
    if (ending_) {
      refuse(guest, ending_->status(), ending_->what());
      if (process >= 0 && process < self_.num_processes) told_[process] = true;
      return true;
    }
    const auto differ = [&](const char* what, const auto& theirs, const auto& ours) {
      end(Status::kMismatch,
          base::text(name, " has ", what, " ", theirs, ", ", own, " has ", ours));
      refuse(guest, ending_->status(), ending_->what());
      if (process >= 0 && process < self_.num_processes) told_[process] = true;
      return true;
    };
    if (protocol != kProtocol) return differ("protocol", protocol, kProtocol);
    if (version != self_.version) return differ("library version", version, self_.version);
    const std::string job = reader.text();
    const int64_t size = reader.i64();
    reader.finish();
    if (job != self_.job) {  // a neighbour that came to the wrong door
      refuse(guest, Status::kMismatch,
             base::text(name, " is of job \"", job, "\", ", own, " of job \"", self_.job, "\""));
      return true;
    }
    if (size != self_.num_processes)
      return differ("world size (number of processes)", size, self_.num_processes);
    if (process < 0 || process >= size) return false;
    if (process == 0 || members_[process]) {
      const Member* first = process == 0 ? nullptr : &*members_[process];
      end(Status::kMismatch,
          base::text("two processes are number ", process, ": on host ",
                     first ? first->host : self_.host, " (pid ", first ? first->pid : self_.pid,
                     ") and on host ", host, " (pid ", pid, ")"));
      refuse(guest, ending_->status(), ending_->what());
      return true;
    }
    Member member;
    member.connection.socket = std::move(guest.socket);
    member.connection.in = std::move(guest.in);
    member.connection.in.set_limit(kFrameLimit);
    member.connection.out = std::move(guest.out);
    member.host = host;
    member.pid = pid;
    members_[process] = std::move(member);
    tell_roster();
    return false;
  }

  // A member that goes before all have come may come again.
  void watch(int process) {
    std::string bytes;
    if (members_[process]->connection.socket.read(bytes) == Socket::Result::kClosed) {
      members_[process].reset();
      if (!ending_) tell_roster();
      return;
    }
    members_[process]->connection.in.append(bytes);
  }

  void tell_roster() {
    FrameWriter roster(FrameKind::kRoster);
    std::vector<int64_t> numbers;
    for (const bool here : came()) numbers.push_back(here);
    roster.list(numbers);
    tell_all(roster.finish());
  }

  void tell_all(const std::string& bytes) {
    for (auto& member : members_)
      if (member) member->connection.out += bytes;
  }

  // Joining fails; the first reason counts.
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
    return std::ranges::all_of(members_,
                               [](const auto& m) { return !m || m->connection.out.empty(); }) &&
           std::ranges::all_of(guests_, [](const Guest& g) { return g.out.empty(); });
  }

  // Writes what is to go, at most 100 ms, and serves those who come until all have been told.
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
    joined.address = address_.host();
    FrameWriter welcome(FrameKind::kWelcome);
    welcome.u32(static_cast<uint32_t>(members_.size()));
    for (size_t p = 0; p < members_.size(); ++p) {
      joined.hosts.push_back(p == 0 ? self_.host : members_[p]->host);
      welcome.text(joined.hosts.back());
    }
    tell_all(welcome.finish());
    joined.connections.resize(1);
    for (size_t p = 1; p < members_.size(); ++p)
      joined.connections.push_back(std::move(members_[p]->connection));
    return joined;
  }

  static constexpr std::string_view kProtocol = kProtocolVersion;

  const JoinConfig& config_;
  const Who& self_;
  const std::string& token_;
  const Wait& wait_;
  const SteadyClock::time_point start_ = SteadyClock::now();
  Socket listener_;
  Address address_;
  std::list<Guest> guests_;  // oldest first
  std::vector<std::optional<Member>> members_;
  std::vector<bool> told_;  // who knows of `ending_`
  std::optional<base::Error> ending_;
  int wrong_tokens_ = 0;
};

}  // namespace

Joined lead(const JoinConfig& config, const Who& self, const std::string& token, const Wait& wait,
            const OpenBoard& board) {
  return Leader(config, self, token, wait).run(board);
}

}  // namespace gnnmg::comm::join
